/**
 * How often each peer asked in vain lately. What it asks costs a verification before it can be refused.
 *
 * Holds: it is kept in memory and bounded; a peer that is forgotten for others may try as often again.
 *
 * @module
 */
import { type HolderId } from '../core/ids.ts'
import { type UnixSeconds } from '../core/u64.ts'

export interface Tries {
  /** True when the peer may not ask again in this window, whatever it asks. */
  readonly areSpent: (peer: HolderId, now: UnixSeconds) => boolean
  /** Counts one of the peer that was in vain. */
  readonly note: (peer: HolderId, now: UnixSeconds) => void
}

/** An honest peer has none in vain. */
export const MAX_VAIN_TRIES = 60
export const TRY_WINDOW_SECONDS = 60
const MAX_TRYING_PEERS = 10_000

export function createTries(): Tries {
  const counts = new Map<HolderId, number>()
  let window = -1n
  const countOf = (peer: HolderId, now: UnixSeconds): number => {
    const current = now / BigInt(TRY_WINDOW_SECONDS)
    if (current !== window) counts.clear()
    window = current
    return counts.get(peer) ?? 0
  }
  return {
    areSpent: (peer, now) => countOf(peer, now) >= MAX_VAIN_TRIES,
    note: (peer, now) => {
      const count = countOf(peer, now) + 1
      // Whoever tried last stays.
      counts.delete(peer)
      counts.set(peer, count)
      const [first] = counts.size > MAX_TRYING_PEERS ? counts.keys() : []
      if (first !== undefined) counts.delete(first)
    },
  }
}
