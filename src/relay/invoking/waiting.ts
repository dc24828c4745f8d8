/**
 * Waiting until an invocation is done, or an inbox has something in it.
 *
 * @module
 */

import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type Topic } from '../storage/wakes.ts'

export const MAX_WAIT_SECS = 25
const MAX_WAITERS = 20_000
/** Some time before a long wait is over the database is asked once more in any case. */
const RETRY_SECS = 5

let waiting = 0

export function inboxTopic(agentId: string): Topic {
  return `inbox:${agentId}`
}

export function invocationTopic(invocationId: string): Topic {
  return `invocation:${invocationId}`
}

/**
 * What `look` finds, as soon as it finds something; otherwise what it finds at the end.
 *
 * @param isFound for what needs no more waiting
 * @param lookAgainMs when there may be something without anybody being woken
 * @throws {Refusal} `unavailable` where too many wait; what `look` throws
 */
export async function waitFor<Found>(
  { clock, database }: Pick<RelayContext, 'clock' | 'database'>,
  topic: Topic,
  { waitSecs, signal }: { readonly waitSecs: number; readonly signal: AbortSignal },
  look: () => Promise<Found>,
  isFound: (found: Found) => boolean,
  lookAgainMs: (found: Found) => number = () => Infinity,
): Promise<Found> {
  if (waitSecs === 0) return look()
  if (waiting >= MAX_WAITERS) {
    throw new Refusal('unavailable', `expected at most ${MAX_WAITERS} to wait at once; ask without waiting`, {
      detail: { retry_after_secs: RETRY_SECS },
      headers: { 'retry-after': String(RETRY_SECS) },
    })
  }
  waiting += 1
  const waiter = database.wakes.listen(topic)
  try {
    const ends = clock.monotonic() + waitSecs * 1_000
    for (;;) {
      const found = await look()
      const left = ends - clock.monotonic()
      if (isFound(found) || left <= 0 || signal.aborted || database.wakes.isLettingGo()) return found
      await waiter.next(Math.min(left, lookAgainMs(found)), signal)
    }
  } finally {
    waiter.close()
    waiting -= 1
  }
}
