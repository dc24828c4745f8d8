/**
 * Events that are alike, such as the pings of one peer: the first of every second have a line each, the others share one.
 *
 * Holds: nobody can flood the log out of its own history, and the count is right all the same.
 *
 * @module
 */
import { type Clock } from '../../../core/time.ts'
import { type AuditFacts } from './audit-line.ts'

/** Far above what a person or a handler does, far below what a disk minds. */
export const MAX_LIKE_LINES = 100
const WINDOW_MS = 1_000

export interface AuditSeriesOptions {
  readonly clock: Clock
  readonly record: (facts: AuditFacts) => void
  /** Some of this second wait for their common line. */
  readonly onOpen: (series: AuditSeries) => void
  readonly onDone: (series: AuditSeries) => void
}

export class AuditSeries {
  readonly #options: AuditSeriesOptions
  #windowEnds = Number.NEGATIVE_INFINITY
  #lines = 0
  #count = 0
  #ms = 0
  #cancel: () => void = () => {}

  constructor(options: AuditSeriesOptions) {
    this.#options = options
  }

  /**
   * @param now monotonic, in milliseconds
   * @param ms how long it took
   */
  add(now: number, facts: AuditFacts, ms?: number): void {
    if (now >= this.#windowEnds) {
      this.settle()
      this.#windowEnds = now + WINDOW_MS
      this.#lines = 0
    }
    if (this.#lines < MAX_LIKE_LINES) {
      this.#lines += 1
      this.#options.record(ms === undefined ? facts : { ...facts, ms: rounded(ms) })
      return
    }
    this.#count += 1
    this.#ms += ms ?? 0
    if (this.#count > 1) return
    this.#options.onOpen(this)
    this.#cancel = this.#options.clock.after(WINDOW_MS, () => this.settle())
  }

  /** Writes the common line, if there is one to write. */
  settle(): void {
    if (this.#count === 0) return
    this.#cancel()
    this.#options.record({ count: this.#count, ...(this.#ms === 0 ? {} : { ms: rounded(this.#ms) }) })
    this.#count = 0
    this.#ms = 0
    this.#options.onDone(this)
  }
}

/** Microseconds are enough. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
