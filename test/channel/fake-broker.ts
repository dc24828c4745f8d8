/**
 * A broker in memory, of which a test says every word.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { encodeRendezvousFrame, RendezvousReader } from '../../src/channel/rendezvous/framing.ts'
import {
  encodeFromBroker,
  type FromBroker,
  type FromMember,
  type Join,
  MAX_LIST_MESSAGE_BYTES,
  parseFromMember,
} from '../../src/channel/rendezvous/messages.ts'

export const JOINED: FromBroker = { kind: 'joined', observed: { host: '127.0.0.1', port: 1 }, waitSeconds: 30 }

/** The broker's end of a stream. */
export class FakeStream extends EventTarget {
  status = 'open'
  writableNeedsDrain = false
  readonly heard: FromMember[] = []
  readonly #reader = new RendezvousReader(MAX_LIST_MESSAGE_BYTES)

  send(bytes: Uint8Array): boolean {
    for (const payload of this.#reader.push(bytes)) {
      const message = parseFromMember(payload)
      if (message !== undefined) this.heard.push(message)
    }
    return true
  }

  say(...messages: readonly FromBroker[]): void {
    const data = Buffer.concat(messages.map((message) => encodeRendezvousFrame(encodeFromBroker(message))))
    this.dispatchEvent(Object.assign(new Event('message'), { data }))
  }

  kinds(): readonly string[] {
    return this.heard.map(({ kind }) => kind)
  }

  async close(): Promise<void> {
    this.status = 'closed'
  }

  abort(): void {
    this.status = 'aborted'
  }
}

export class FakeBroker {
  readonly streams: FakeStream[] = []
  readonly link = {
    connect: async (): Promise<Connection> => {
      const newStream = async (): Promise<FakeStream> => {
        const stream = new FakeStream()
        this.streams.push(stream)
        return stream
      }
      return { newStream, status: 'open', abort: () => {} } as unknown as Connection
    },
    drop: (): void => {},
  }

  /** The newest stream, which must be the one of this number. */
  async stream(count: number): Promise<FakeStream> {
    await settle()
    const newest = this.streams.at(-1)
    if (newest === undefined || this.streams.length !== count) {
      throw new Error(`expected ${count} streams, found ${this.streams.length}`)
    }
    return newest
  }

  /** What was said first on the stream of this number. */
  joinOf(count: number): Join | undefined {
    const first = this.streams[count - 1]?.heard[0]
    return first?.kind === 'join' ? first : undefined
  }
}

/** Everything that is due without a timer has happened. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
