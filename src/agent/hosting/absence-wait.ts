/**
 * How long calls that were under way wait for a peer that went away.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'

const PATIENCE_MS = 10_000

export class AbsenceWait {
  readonly #clock: Clock
  #gone = new AbortController()
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Aborts when the peer has been away for too long; another one takes its place when the peer is back. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  is(away: boolean): void {
    if (away) {
      this.#cancel ??= this.#clock.after(PATIENCE_MS, () => this.#gone.abort())
      return
    }
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#gone.signal.aborted) this.#gone = new AbortController()
  }
}
