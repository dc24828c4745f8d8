/**
 * Waiting for something to change without asking the database again and again.
 *
 * Holds: who begins to listen, then looks, then waits misses nothing that was committed before it was told. A waiter may
 * be woken for nothing and has to look again.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'

/** Such as `inbox:` and the id of an agent. */
export type Topic = `${string}:${string}`

export interface Waiter {
  /** Resolves when the topic was woken since the last time, after so long, or when the signal aborts. */
  readonly next: (ms: number, signal: AbortSignal) => Promise<void>
  readonly close: () => void
}

export interface Wakes {
  /** After the change was committed. It never fails: who waits also looks when its time is over. */
  readonly wake: (topic: Topic) => void
  readonly listen: (topic: Topic) => Waiter
  /** Nobody waits any more, now and later. */
  readonly letGo: () => void
  readonly isLettingGo: () => boolean
  readonly close: () => Promise<void>
}

/** How relays that share a database tell each other. */
export interface Bell {
  readonly ring: (topic: string) => Promise<void>
  /** `heard` without a topic: something may have been missed. @returns what ends it */
  readonly hear: (heard: (topic: string | undefined) => void) => () => Promise<void>
}

export function wakesOf(clock: Clock, bell?: Bell): Wakes {
  const listening = new Map<string, Set<() => void>>()
  const wakeHere = (topic: string | undefined): void => {
    if (topic === undefined) for (const waiters of listening.values()) for (const ring of waiters) ring()
    else for (const ring of listening.get(topic) ?? []) ring()
  }
  const deafen = bell?.hear(wakeHere)
  let isLettingGo = false
  const letGo = (): void => {
    isLettingGo = true
    wakeHere(undefined)
  }
  return {
    wake: (topic) => {
      wakeHere(topic)
      bell?.ring(topic).catch(() => {})
    },
    listen: (topic) => {
      let isWoken = false
      let resume: (() => void) | undefined
      const ring = (): void => {
        isWoken = true
        resume?.()
      }
      const waiters = listening.get(topic) ?? new Set()
      listening.set(topic, waiters.add(ring))
      return {
        next: async (ms, signal) => {
          if (!(isWoken || isLettingGo || signal.aborted || ms <= 0)) {
            const rung = Promise.withResolvers<void>()
            resume = rung.resolve
            signal.addEventListener('abort', rung.resolve as () => void, { once: true })
            const cancel = clock.after(ms, rung.resolve)
            await rung.promise
            cancel()
            signal.removeEventListener('abort', rung.resolve as () => void)
            resume = undefined
          }
          isWoken = false
        },
        close: () => {
          waiters.delete(ring)
          if (waiters.size === 0 && listening.get(topic) === waiters) listening.delete(topic)
        },
      }
    },
    letGo,
    isLettingGo: () => isLettingGo,
    close: async () => {
      letGo()
      await deafen?.()
    },
  }
}
