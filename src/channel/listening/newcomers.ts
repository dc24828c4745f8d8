/**
 * Connections that are not admitted yet.
 *
 * Holds: one that is not admitted in time is let go, or as soon as too many others came after it.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type Clock } from '../../core/time.ts'
import { MAX_NEWCOMERS } from '../node/node.ts'
import { HELLO_TIMEOUT_MS } from '../session/session.ts'

export class Newcomers {
  readonly #clock: Clock
  /** Oldest first, and what cancels their time limit. */
  readonly #waiting = new Map<Connection, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  expect(connection: Connection): void {
    const cancel = this.#clock.after(HELLO_TIMEOUT_MS, () => this.#turnAway(connection, 'no session was opened'))
    this.#waiting.set(connection, cancel)
    connection.addEventListener('close', () => this.settle(connection))
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > MAX_NEWCOMERS && oldest !== undefined) this.#turnAway(oldest, 'too many newcomers')
  }

  /** It is admitted, or gone. */
  settle(connection: Connection): void {
    this.#waiting.get(connection)?.()
    this.#waiting.delete(connection)
  }

  #turnAway(connection: Connection, why: string): void {
    this.settle(connection)
    connection.abort(new Error(why))
  }
}
