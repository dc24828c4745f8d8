/**
 * What the serving side of a link sends.
 *
 * Holds: nothing is sent once the link is closed; of what nobody waits for, a peer that does not read gets no more.
 *
 * @module
 */
import { shortId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { type Port } from '../port.ts'
import { fits } from './faces.ts'

export interface OutgoingOptions {
  readonly port: Port
  readonly log: Log
  /** Notifications are dropped while so much is unsent. */
  readonly maxUnsent: number
  /** The port took something over. */
  readonly onSent: () => void
}

export class Outgoing {
  readonly #options: OutgoingOptions
  /** What the port has not taken over yet. */
  #unsent = 0
  #isClosed = false

  constructor(options: OutgoingOptions) {
    this.#options = options
  }

  get unsent(): number {
    return this.#unsent
  }

  close(): void {
    this.#isClosed = true
  }

  send(text: string | undefined): void {
    if (text === undefined || this.#isClosed) return
    const { port, log, onSent } = this.#options
    this.#unsent += 1
    const sent = (): void => {
      this.#unsent -= 1
      onSent()
    }
    port.send({ text }).then(sent, (error: unknown) => {
      log.debug('mcp.answer_lost', { peer: shortId(port.peer.holder), reason: String(error) })
      sent()
    })
  }

  notify(text: string): void {
    const { port, maxUnsent } = this.#options
    if (this.#unsent < maxUnsent && fits(text, port.sendLimitBytes)) this.send(text)
  }
}
