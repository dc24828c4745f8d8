/**
 * Lets ways to one peer say hello one after the other, although they were made side by side.
 *
 * Holds: a peer that answers is not greeted on a second way; one whose first way fails to answer is greeted on the next
 * at once, and one whose first way says nothing after {@link PATIENCE_MS}.
 *
 * @module
 */
import { type Clock, pause } from '../../core/time.ts'

/** More than an answer takes on most ways. */
const PATIENCE_MS = 500

export class Turn {
  readonly #clock: Clock
  /** Resolves when whoever came last has failed. */
  #before: Promise<void> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Does the work when it is its turn. Rejects with the signal's reason when that aborts before. */
  async take<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const failed = Promise.withResolvers<void>()
    const before = this.#before
    this.#before = failed.promise
    try {
      if (before !== undefined) await Promise.race([before, pause(this.#clock, PATIENCE_MS, signal)])
      signal.throwIfAborted()
      return await work()
    } catch (error) {
      failed.resolve()
      throw error
    }
  }
}
