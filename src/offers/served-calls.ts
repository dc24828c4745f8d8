/**
 * Calls that were served lately and have no receipt yet, by the hashes of what went in and out.
 *
 * @module
 */
import { type Hash, type HolderId } from '../core/ids.ts'

export interface ServedCalls {
  readonly note: (peer: HolderId, request: Hash, response: Hash) => void
  /** True while such a call is noted. */
  readonly has: (peer: HolderId, request: Hash, response: Hash) => boolean
  /** Forgets one such call; true once for each that was noted. */
  readonly take: (peer: HolderId, request: Hash, response: Hash) => boolean
}

/** Calls remembered of one peer, so that none can push out the others. */
export const MAX_CALLS_PER_PEER = 1_024
const MAX_PEERS = 1_024

export function createServedCalls(): ServedCalls {
  const byPeer = new Map<HolderId, string[]>()
  return {
    note: (peer, request, response) => {
      const calls = byPeer.get(peer) ?? []
      byPeer.delete(peer)
      byPeer.set(peer, calls)
      calls.push(nameOf(request, response))
      if (calls.length > MAX_CALLS_PER_PEER) calls.shift()
      if (byPeer.size > MAX_PEERS) forgetFirst(byPeer)
    },
    has: (peer, request, response) => byPeer.get(peer)?.includes(nameOf(request, response)) ?? false,
    take: (peer, request, response) => {
      const calls = byPeer.get(peer) ?? []
      const at = calls.indexOf(nameOf(request, response))
      if (at < 0) return false
      calls.splice(at, 1)
      // A peer without calls must not take the place of one that has some.
      if (calls.length === 0) byPeer.delete(peer)
      return true
    },
  }
}

function nameOf(request: Hash, response: Hash): string {
  return request + response
}

function forgetFirst(map: Map<HolderId, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
