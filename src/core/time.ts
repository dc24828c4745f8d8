/**
 * Clock, timers and randomness as parameters, and the one back-off engine of every retry loop.
 *
 * @module
 */
export const SECONDS_PER_DAY = 86_400

export interface Clock {
  /** Milliseconds that never go backwards; the origin is arbitrary. */
  readonly monotonic: () => number
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** Calls back once after `ms`; the returned function cancels. */
  readonly after: (ms: number, run: () => void) => () => void
}

/** Uniform in [0, 1). */
export type Random = () => number

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const finish = (): void => {
      cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = clock.after(ms, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

/** The work's outcome, or the signal's reason when that comes first; the work itself goes on. */
export async function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const stop = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

export interface BackoffPolicy {
  /** Delay before the first retry, in milliseconds. */
  readonly baseMs: number
  /** No delay is longer than this, jitter included. */
  readonly capMs: number
  /** An attempt that lasted at least this long counts as a success and starts the series anew. */
  readonly stableMs: number
}

/** Delays of a retry loop: doubling up to the cap, each drawn from the upper half so that many callers spread out. */
export class Backoff {
  readonly #policy: BackoffPolicy
  readonly #random: Random
  #failures = 0

  constructor(policy: BackoffPolicy, random: Random) {
    this.#policy = policy
    this.#random = random
  }

  /** Failures in a row since the last stable attempt. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Delay before the next attempt, in milliseconds.
   *
   * @param lastedMs how long the attempt that just failed had been up
   */
  next(lastedMs: number): number {
    if (lastedMs >= this.#policy.stableMs) this.#failures = 0
    const ceiling = Math.min(this.#policy.capMs, this.#policy.baseMs * 2 ** Math.min(this.#failures, MAX_DOUBLINGS))
    this.#failures += 1
    return Math.round(ceiling * (0.5 + this.#random() / 2))
  }
}

/** Enough doublings for any cap; keeps the power finite. */
const MAX_DOUBLINGS = 30
