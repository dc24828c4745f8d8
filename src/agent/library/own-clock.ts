/**
 * The clock of an object that a program makes and closes.
 *
 * Holds: once it is let go, none of its timers keeps the process alive, and all that are due still fire.
 *
 * @module
 */
import { type Clock, systemClock } from '../../core/time.ts'

export interface OwnClock extends Clock {
  readonly letGo: () => void
}

export function ownClock(): OwnClock {
  const timers = new Set<NodeJS.Timeout>()
  let isLetGo = false
  return {
    ...systemClock,
    after: (ms, run) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        run()
      }, ms)
      if (isLetGo) timer.unref()
      else timers.add(timer)
      return () => {
        timers.delete(timer)
        clearTimeout(timer)
      }
    },
    letGo: () => {
      isLetGo = true
      for (const timer of timers) timer.unref()
      timers.clear()
    },
  }
}
