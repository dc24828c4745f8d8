import { encodeUtf8 } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { type CallTag, type IncomingMessage, type LinkEnd, type OutgoingMessage } from '../../src/core/link.ts'
import { type Port } from '../../src/mcp/port.ts'

export const SERVER_HOLDER = 'aa'.repeat(32) as HolderId
export const CALLER_HOLDER = 'bb'.repeat(32) as HolderId

/** Bytes kept of a message that is too large. */
const HEAD_BYTES = 256

/** One end of an in-memory link; messages arrive in the order they were sent, in a later microtask. */
export class TestPort implements Port {
  readonly peer: { readonly holder: HolderId }
  readonly closed: Promise<LinkEnd>
  readonly sendLimitBytes: number
  readonly receiveLimitBytes: number
  /** Everything this end sent. */
  readonly sent: OutgoingMessage[] = []
  /** What is sent goes nowhere while this is set. */
  frozen = false
  other: TestPort | undefined
  #listener: ((message: IncomingMessage) => void) | undefined
  #early: IncomingMessage[] = []
  #end: LinkEnd | undefined
  #close: (end: LinkEnd) => void = () => {}

  constructor(holder: HolderId, sendLimitBytes: number, receiveLimitBytes: number) {
    this.peer = { holder }
    this.sendLimitBytes = sendLimitBytes
    this.receiveLimitBytes = receiveLimitBytes
    this.closed = new Promise((resolve) => {
      this.#close = resolve
    })
  }

  async send(message: OutgoingMessage): Promise<void> {
    if (this.#end !== undefined) throw this.#end.reason
    const bytes = encodeUtf8(message.text)
    if (bytes.length > this.sendLimitBytes) throw new CtError('ERR_MESSAGE_TOO_LARGE', 'larger than the peer accepts')
    this.sent.push(message)
    if (this.frozen) return
    await Promise.resolve()
    this.other?.deliver(bytes, message.call)
  }

  peerInFlight = 1_000

  isReady = true

  watch(): void {}

  receive(listener: (message: IncomingMessage) => void): void {
    this.#listener = listener
    for (const message of this.#early.splice(0)) listener(message)
  }

  /** Hands bytes to this end as if the peer had sent them. */
  deliver(bytes: Uint8Array, call?: CallTag): void {
    if (this.#end !== undefined) return
    const tagged = call === undefined ? {} : { call }
    const message: IncomingMessage =
      bytes.length > this.receiveLimitBytes
        ? { kind: 'oversize', head: bytes.subarray(0, HEAD_BYTES), totalBytes: bytes.length, ...tagged }
        : { kind: 'text', bytes, ...tagged }
    if (this.#listener === undefined) this.#early.push(message)
    else this.#listener(message)
  }

  end(end: LinkEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#close(end)
  }

  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text)
  }
}

export interface PortPair {
  readonly server: TestPort
  readonly caller: TestPort
  /** Ends both sides as a broken wire does. */
  readonly cut: () => void
  /** Ends both sides as a goodbye of the caller does. */
  readonly leave: () => void
}

export function portPair({ toServer = 1_000_000, toCaller = 1_000_000 } = {}): PortPair {
  const server = new TestPort(CALLER_HOLDER, toCaller, toServer)
  const caller = new TestPort(SERVER_HOLDER, toServer, toCaller)
  server.other = caller
  caller.other = server
  const endBoth = (end: LinkEnd): void => {
    server.end(end)
    caller.end(end)
  }
  return {
    server,
    caller,
    cut: () => endBoth({ reason: new CtError('ERR_LINK_LOST', 'cut'), final: false }),
    leave: () => endBoth({ reason: new CtError('ERR_LINK_CLOSED', 'goodbye'), final: true }),
  }
}

/** Lets everything that needs no timer happen. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
