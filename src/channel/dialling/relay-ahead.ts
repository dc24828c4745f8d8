/**
 * A connection through the relay that is made while the broker is still being asked for the peer.
 *
 * Holds: what is made is either taken or put away; that it could not be made hurts nobody.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { putAway } from './put-away.ts'

export class RelayAhead {
  readonly #stopping = new AbortController()
  #connection: Promise<Connection | undefined> | undefined

  start(dial: (signal: AbortSignal) => Promise<Connection>): void {
    this.#connection ??= dial(this.#stopping.signal).catch(() => undefined)
  }

  /** Whoever takes it puts it away; `undefined` where there is none. The signal ends the dial. */
  take(signal: AbortSignal): Promise<Connection | undefined> {
    const taken = this.#connection ?? Promise.resolve(undefined)
    this.#connection = undefined
    signal.addEventListener('abort', () => this.#stopping.abort(signal.reason), { once: true })
    return taken
  }

  /** Nobody will take it any more. */
  end(): void {
    const left = this.#connection
    this.#connection = undefined
    if (left === undefined) return
    this.#stopping.abort()
    void left.then((connection) => connection && putAway(connection))
  }
}
