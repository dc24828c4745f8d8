/** The part of the package that is used; it comes without types. */
declare module 'ws' {
  import { EventEmitter } from 'node:events'
  import { type Duplex } from 'node:stream'

  interface Options {
    readonly perMessageDeflate: boolean
    readonly maxPayload: number
    /** Milliseconds. */
    readonly closeTimeout: number
    readonly createConnection?: () => Duplex
  }

  export class WebSocket extends EventEmitter {
    constructor(url: string, options: Options)
    binaryType: 'arraybuffer' | 'nodebuffer'
    close(code?: number, reason?: string): void
    terminate(): void
  }
}
