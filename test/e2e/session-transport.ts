/**
 * A session as the transport that the official SDKs of both generations expect.
 *
 * @module
 */
import { type Session } from '../../src/channel/index.ts'
import { decodeUtf8 } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'

export class SessionTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  // biome-ignore lint/suspicious/noExplicitAny: the two SDKs have two types for one message
  onmessage?: (message: any) => void
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async start(): Promise<void> {
    this.#session.receive((message) => {
      if (message.kind === 'text') this.onmessage?.(JSON.parse(decodeUtf8(message.bytes) ?? ''))
      else this.onerror?.(new Error(`a message of ${message.kind} kind`))
    })
    void this.#session.closed.then(() => this.onclose?.())
  }

  async send(message: object): Promise<void> {
    await this.#session.send({ text: JSON.stringify(message) })
  }

  async close(): Promise<void> {
    this.#session.end(new CtError('ERR_LINK_CLOSED', 'the client is done'))
    await this.#session.finished
  }
}
