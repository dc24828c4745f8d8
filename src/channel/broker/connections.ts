/**
 * Connections to a broker, and which of them may stay.
 *
 * Holds: one that nobody joins over is let go after {@link NEWCOMER_MS}, and of many such the oldest goes at once; one
 * over which nothing happens any more is let go after {@link UNUSED_MS}; one source never has all that there are.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type Clock } from '../../core/time.ts'
import { addressOf } from '../node/transport-address.ts'
import { plainHost } from './passed-addresses.ts'
import { sourceOf } from './quota.ts'

export const NEWCOMER_MS = 15_000
export const UNUSED_MS = 60_000
/** Of all connections, those from one source: many members may sit behind one, but not all. */
const SOURCE_SHARE = 0.5
/** Connections that have not been joined over. */
const MAX_NEWCOMERS = 1_024
const SWEEP_MS = 5_000

interface Tracked {
  usedAt: number
  isNew: boolean
}

export class Connections {
  readonly #tracked = new Map<Connection, Tracked>()
  readonly #newcomers = new Set<Connection>()
  readonly #sources = new Map<string, number>()
  readonly #clock: Clock
  readonly #maxOfSource: number
  /** True while a member is present, or relayed, by it. */
  readonly #isUsed: (connection: Connection) => boolean
  #stopSweeping: () => void = () => {}

  /** @param max connections in all */
  constructor(clock: Clock, max: number, isUsed: (connection: Connection) => boolean) {
    this.#clock = clock
    this.#maxOfSource = Math.ceil(max * SOURCE_SHARE)
    this.#isUsed = isUsed
  }

  get size(): number {
    return this.#tracked.size
  }

  /** True for a connection that is open. */
  has(connection: object | undefined): connection is Connection {
    return this.#tracked.has(connection as Connection)
  }

  start(): void {
    this.#stopSweeping = this.#clock.after(SWEEP_MS, () => {
      this.#sweep()
      this.start()
    })
  }

  opened(connection: Connection): void {
    this.#tracked.set(connection, { usedAt: this.#clock.monotonic(), isNew: true })
    this.#newcomers.add(connection)
    if (this.#countSource(connection, 1) > this.#maxOfSource) {
      this.#turnAway(connection, 'too many connections from this address')
      return
    }
    if (this.#newcomers.size <= MAX_NEWCOMERS) return
    const idle = [...this.#newcomers].find((newcomer) => !this.#isUsed(newcomer))
    if (idle !== undefined) this.#turnAway(idle, 'too many newcomers')
  }

  closed(connection: Connection): void {
    if (!this.#tracked.delete(connection)) return
    this.#newcomers.delete(connection)
    this.#countSource(connection, -1)
  }

  stop(): void {
    this.#stopSweeping()
  }

  #sweep(): void {
    const now = this.#clock.monotonic()
    for (const [connection, tracked] of this.#tracked) {
      // Open streams say nothing: a stranger can leave as many open as it likes.
      if (this.#isUsed(connection)) {
        tracked.usedAt = now
        tracked.isNew = false
        this.#newcomers.delete(connection)
      } else if (now - tracked.usedAt >= (tracked.isNew ? NEWCOMER_MS : UNUSED_MS)) {
        this.#turnAway(connection, 'nothing happened on the connection')
      }
    }
  }

  #countSource({ remoteAddr }: Connection, by: 1 | -1): number {
    const source = sourceOf(plainHost(addressOf(remoteAddr)?.host ?? ''))
    const count = (this.#sources.get(source) ?? 0) + by
    if (count > 0) this.#sources.set(source, count)
    else this.#sources.delete(source)
    return count
  }

  #turnAway(connection: Connection, why: string): void {
    this.closed(connection)
    connection.abort(new Error(why))
  }
}
