/**
 * What can be seen of a session from outside: how much goes over it, which way, and how far the peer is.
 *
 * @module
 */
import { type MeteredWire } from './metered-wire.ts'
import { type Pings } from './pings.ts'
import { type Way } from './way.ts'

export class Vitals {
  readonly #wire: MeteredWire
  readonly #pings: Pings

  constructor(wire: MeteredWire, pings: Pings) {
    this.#wire = wire
    this.#pings = pings
  }

  /** Of the session's own frames, before they are encrypted. */
  get bytesIn(): number {
    return this.#wire.bytesIn
  }

  get bytesOut(): number {
    return this.#wire.bytesOut
  }

  /** `undefined` for a wire that has no address. */
  get way(): Way | undefined {
    return this.#wire.way
  }

  /** To the peer and back, as last measured. */
  get roundTripMs(): number | undefined {
    return this.#pings.roundTripMs
  }

  /** Measures the way to an admitted peer; resolves when that is done, or the session is over. */
  measure(): Promise<void> {
    return this.#pings.measure()
  }
}
