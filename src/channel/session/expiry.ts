/**
 * Waits for a second of the wall clock.
 *
 * Holds: it is noticed at most {@link CHECK_MS} late, also when the clock is set or the machine slept: a timer alone
 * counts neither, and none can be set for the far end of what a `u64` counts.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'

/** How late it may be noticed. */
const CHECK_MS = 1_000

/** Calls back once when it is that second or a later one, never before it returns; the returned function cancels. */
export function whenItIs(second: UnixSeconds, clock: Clock, run: () => void): () => void {
  let cancel: () => void
  const arm = (): void => {
    const leftMs = Number(second) * 1_000 - clock.now()
    cancel = clock.after(Math.min(CHECK_MS, Math.max(0, leftMs)), check)
  }
  const check = (): void => {
    if (unixSeconds(clock) >= second) run()
    else arm()
  }
  arm()
  return () => cancel()
}
