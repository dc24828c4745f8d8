import { type Clock } from '../../src/core/time.ts'

/** A clock that moves only when told to. */
export class FakeClock implements Clock {
  #now = 0
  #timers: { readonly at: number; readonly run: () => void }[] = []

  monotonic(): number {
    return this.#now
  }

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  get timers(): number {
    return this.#timers.length
  }

  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((left, right) => left.at - right.at)[0]
      if (due === undefined) break
      this.#now = Math.max(this.#now, due.at)
      this.#timers = this.#timers.filter((other) => other !== due)
      due.run()
    }
    this.#now = end
  }
}
