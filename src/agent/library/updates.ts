/**
 * What is said of a call while it runs, for whoever iterates over it.
 *
 * Holds: what nobody takes is bounded; of more the oldest goes, because the newest says it all.
 *
 * @module
 */
import { type Progress } from './api.ts'

/** More than anybody looks at later. */
export const MAX_WAITING = 256

export class Updates {
  #waiting: Progress[] = []
  #wake = Promise.withResolvers<void>()
  #isOver = false

  push(update: Progress): void {
    this.#waiting.push(update)
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift()
    this.#wake.resolve()
  }

  end(): void {
    this.#isOver = true
    this.#wake.resolve()
  }

  /** All that come until the end, whoever else iterates. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Progress, void, undefined> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) yield next
      if (this.#isOver) return
      await this.#wake.promise
      this.#wake = Promise.withResolvers()
      if (this.#isOver) this.#wake.resolve()
    }
  }
}
