/**
 * Calls that were served lately and have no receipt yet, by the hashes of what went in and out.
 *
 * Holds: calls of one peer never push out those of another that has fewer.
 *
 * @module
 */
import { type Hash, type HolderId } from '../core/ids.ts'
import { sha256 } from '../core/keys.ts'

export interface ServedCall {
  readonly request: Hash
  readonly response: Hash
}

export interface ServedCalls {
  /** @param service that was called, as JSON */
  readonly note: (peer: HolderId, call: ServedCall, service: string) => void
  /** The services of all such calls that are noted. */
  readonly servicesOf: (peer: HolderId, call: ServedCall) => readonly string[]
  /** Forgets one such call of the service; true once for each that was noted. */
  readonly take: (peer: HolderId, call: ServedCall, service: string) => boolean
  /** True while a call of the peer is noted. */
  readonly knows: (peer: HolderId) => boolean
}

/** Calls remembered of one peer. */
export const MAX_CALLS_PER_PEER = 1_024
/** Calls remembered of all together. */
export const MAX_CALLS = 65_536

/** @param maxCalls of all peers together */
export function createServedCalls(maxCalls: number = MAX_CALLS): ServedCalls {
  const byPeer = new Map<HolderId, PeerCalls>()
  let size = 0

  const drop = (peer: HolderId, calls: PeerCalls): void => {
    size -= 1
    if (calls.size === 0) byPeer.delete(peer)
  }

  /** Whoever has most loses its oldest; of several with as many, the one that called just now. */
  const makeRoom = (caller: HolderId): void => {
    let most = caller
    for (const [peer, { size: count }] of byPeer) if (count > sizeOf(most)) most = peer
    const calls = byPeer.get(most)
    if (calls?.forgetOldest()) drop(most, calls)
  }
  const sizeOf = (peer: HolderId): number => byPeer.get(peer)?.size ?? 0

  return {
    note: (peer, call, service) => {
      const calls = byPeer.get(peer) ?? new PeerCalls()
      byPeer.set(peer, calls)
      calls.add(nameOf(call), service)
      size += 1
      if (calls.size > MAX_CALLS_PER_PEER && calls.forgetOldest()) drop(peer, calls)
      else if (size > maxCalls) makeRoom(peer)
    },
    servicesOf: (peer, call) => byPeer.get(peer)?.servicesOf(nameOf(call)) ?? [],
    take: (peer, call, service) => {
      const calls = byPeer.get(peer)
      if (calls === undefined || !calls.take(nameOf(call), service)) return false
      drop(peer, calls)
      return true
    },
    knows: (peer) => byPeer.has(peer),
  }
}

/** The calls of one peer, the oldest first. */
class PeerCalls {
  readonly #services = new Map<string, readonly string[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  servicesOf(name: string): readonly string[] {
    return this.#services.get(name) ?? []
  }

  add(name: string, service: string): void {
    const services = [...this.servicesOf(name), service]
    this.#services.delete(name)
    this.#services.set(name, services)
    this.#size += 1
  }

  take(name: string, service: string): boolean {
    const services = this.servicesOf(name)
    const at = services.indexOf(service)
    if (at < 0) return false
    if (services.length === 1) this.#services.delete(name)
    else this.#services.set(name, services.toSpliced(at, 1))
    this.#size -= 1
    return true
  }

  forgetOldest(): boolean {
    const [name, [service]] = this.#services.entries().next().value ?? ['', []]
    return service !== undefined && this.take(name, service)
  }
}

/** 32 bytes as a text of as many characters, which takes least room. */
function nameOf({ request, response }: ServedCall): string {
  return Buffer.from(sha256(Buffer.from(request + response, 'hex'))).toString('latin1')
}
