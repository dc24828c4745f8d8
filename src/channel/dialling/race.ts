/**
 * Several ways to one goal, tried side by side.
 *
 * Holds: one attempt wins; every other is told to stop, and what it yields all the same is discarded; when `race`
 * settles, no timer is left.
 *
 * @module
 */
import { type CtError, toCtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'

export interface Attempt<Value> {
  /** Starts this long after the race began, or as soon as all before it have failed. */
  readonly afterMs: number
  readonly run: (signal: AbortSignal) => Promise<Value>
}

export interface RaceOptions<Value> {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Puts away what a loser yields. */
  readonly discard: (value: Value) => void
}

/** The first value, or every attempt's failure in the order of the attempts. Rejects with the signal's reason when it aborts. */
export function race<Value>(
  attempts: readonly Attempt<Value>[],
  { clock, signal, discard }: RaceOptions<Value>,
): Promise<{ readonly value: Value } | { readonly failures: readonly CtError[] }> {
  return new Promise((resolve, reject) => {
    const losing = new AbortController()
    const failures = new Map<number, CtError>()
    const timers = new Map<number, () => void>()
    let started = 0
    let over = false

    const settle = (act: () => void): void => {
      if (over) return
      over = true
      for (const cancel of timers.values()) cancel()
      signal.removeEventListener('abort', stop)
      act()
      losing.abort()
    }
    const stop = (): void => settle(() => reject(toCtError(signal.reason, 'ERR_CALL_CANCELLED')))

    const start = (index: number): void => {
      const attempt = attempts[index]
      if (over || attempt === undefined || index < started) return
      started = index + 1
      timers.get(index)?.()
      timers.delete(index)
      attempt.run(losing.signal).then(
        (value) => {
          if (over) discard(value)
          else settle(() => resolve({ value }))
        },
        (error: unknown) => {
          failures.set(index, toCtError(error, 'ERR_PEER_UNREACHABLE'))
          if (failures.size === attempts.length) settle(() => resolve({ failures: inOrder(failures) }))
          else if (failures.size === started) start(started)
        },
      )
    }

    if (signal.aborted) {
      stop()
      return
    }
    signal.addEventListener('abort', stop, { once: true })
    if (attempts.length === 0) settle(() => resolve({ failures: [] }))
    for (const [index, { afterMs }] of attempts.entries()) {
      if (index === 0 || afterMs === 0) start(index)
      else
        timers.set(
          index,
          clock.after(afterMs, () => start(index)),
        )
    }
  })
}

function inOrder(failures: ReadonlyMap<number, CtError>): readonly CtError[] {
  return [...failures].sort(([one], [other]) => one - other).map(([, error]) => error)
}
