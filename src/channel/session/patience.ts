/**
 * How long a peer may be silent because what was sent before the question still holds up the question.
 *
 * Holds: what is written after the question buys no time, and no more than {@link MOST_PATIENCE_MS} is given for what was
 * written before. What a pong, or any word from the peer while the wire takes everything, shows to have come there
 * counts no longer.
 *
 * @module
 */
import { type MeteredWire } from './metered-wire.ts'
import { type Outbox, SLOW_PEER_MS } from './outbox.ts'

/** No slower than this is a way that is still in use. */
export const LEAST_BYTES_PER_MS = 16
/** As long as a peer may take nothing at all. */
const MOST_PATIENCE_MS = SLOW_PEER_MS

export class Patience {
  readonly #wire: Pick<MeteredWire, 'bytesOut'>
  readonly #outbox: Pick<Outbox, 'isBlocked'>
  /** So much of what was written has come to the peer, as far as is known. */
  #arrived = 0
  /** What the first question since the peer was heard waits behind. */
  #ahead: number | undefined

  constructor(wire: Pick<MeteredWire, 'bytesOut'>, outbox: Pick<Outbox, 'isBlocked'>) {
    this.#wire = wire
    this.#outbox = outbox
  }

  /** Anything came from the peer. */
  heard(): void {
    this.#ahead = undefined
    if (!this.#outbox.isBlocked) this.#arrived = this.#wire.bytesOut
  }

  /** The peer is asked for a sign of life, behind everything that is written; returns how much that is. */
  asked(): number {
    const { bytesOut: written } = this.#wire
    this.#ahead ??= written - this.#arrived
    return written
  }

  /** The peer answered what was asked behind so much. */
  answered(written: number): void {
    this.#arrived = Math.max(this.#arrived, written)
  }

  /** Silence that says nothing yet. */
  get ms(): number {
    return Math.min(MOST_PATIENCE_MS, (this.#ahead ?? 0) / LEAST_BYTES_PER_MS)
  }
}
