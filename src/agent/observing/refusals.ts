/**
 * Who was not admitted, and why.
 *
 * Holds: codes and categories are this side's own, so their counts are few; of those refused only the latest are known
 * by name, for strangers can come under any number of names.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'

/** Enough to see who keeps coming. */
export const MAX_REFUSED_PEERS = 64

export interface RefusedPeer {
  readonly holder: HolderId
  readonly code: string
  readonly category: string | undefined
  readonly count: number
  /** Unix time in milliseconds. */
  readonly at: number
}

export interface RefusalCount {
  readonly code: string
  readonly category: string | undefined
  readonly count: number
}

export class Refusals {
  readonly #counts = new Map<string, RefusalCount>()
  /** The latest last. */
  readonly #peers = new Map<HolderId, RefusedPeer>()

  get counts(): readonly RefusalCount[] {
    return [...this.#counts.values()]
  }

  /** The latest first. */
  get peers(): readonly RefusedPeer[] {
    return [...this.#peers.values()].reverse()
  }

  of(holder: HolderId): RefusedPeer | undefined {
    return this.#peers.get(holder)
  }

  add(holder: HolderId, reason: CtError, at: number): void {
    const { code } = reason
    const category = categoryOf(reason)
    const key = `${code} ${category ?? ''}`
    this.#counts.set(key, { code, category, count: (this.#counts.get(key)?.count ?? 0) + 1 })
    const count = (this.#peers.get(holder)?.count ?? 0) + 1
    this.#peers.delete(holder)
    this.#peers.set(holder, { holder, code, category, count, at })
    const [oldest] = this.#peers.size > MAX_REFUSED_PEERS ? this.#peers.keys() : []
    if (oldest !== undefined) this.#peers.delete(oldest)
  }
}

/** The original program's word for the reason, where it has one. */
export function categoryOf({ detail }: CtError): string | undefined {
  const { category } = detail
  return typeof category === 'string' ? category : undefined
}

/** This side turned the peer away, rather than that the peer left or was cut off. */
export function isRefusal({ code, detail }: CtError): boolean {
  return detail['byPeer'] !== true && code !== 'ERR_LINK_LOST' && code !== 'ERR_LINK_CLOSED'
}
