/**
 * The newest revocation list of each channel that a broker has seen one of.
 *
 * Pure. Holds: a list gives way only to one with a higher sequence; one whose channel has members present is kept, of
 * the others the longest unused go first, and all after {@link KEEP_MS}. Lists and holders in them are bounded.
 *
 * @module
 */
import { type Verified } from '../../core/artefact.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type U64, u64 } from '../../core/u64.ts'
import { type RevocationList } from '../membership/revocations.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import { keyOf } from './rooms.ts'

export interface RoomName {
  readonly operator: HolderId
  readonly channel: ChannelId
}

/** How long a list outlives the last member that was present: they come back, and so may those it removed. */
export const KEEP_MS = 86_400_000

export interface KeptLimits {
  readonly lists: number
  /** In all lists together. */
  readonly holders: number
}

export const KEPT_LIMITS: KeptLimits = { lists: 8_192, holders: 262_144 }

/** A list, and what shows that whoever signed it stands for the operator. */
export interface KeptList {
  readonly list: Verified<RevocationList>
  readonly successions: readonly SignedSuccession[]
}

interface Kept {
  readonly room: RoomName
  readonly newest: KeptList
  readonly removed: ReadonlySet<HolderId>
  usedAt: number
}

export class KeptLists {
  readonly #limits: KeptLimits
  /** True while members are present. */
  readonly #isLive: (room: RoomName) => boolean
  /** The one that was used longest ago first. */
  readonly #kept = new Map<string, Kept>()
  #holders = 0

  constructor(isLive: (room: RoomName) => boolean, limits: KeptLimits = KEPT_LIMITS) {
    this.#isLive = isLive
    this.#limits = limits
  }

  get size(): number {
    return this.#kept.size
  }

  newest(room: RoomName): KeptList | undefined {
    return this.#kept.get(keyOf(room))?.newest
  }

  /** 0 while there is none. */
  sequence(room: RoomName): U64 {
    return this.newest(room)?.list.body.sequence ?? NONE
  }

  /** Whom the operator removed from the channel. */
  isRemoved(room: RoomName): (holder: HolderId) => boolean {
    const removed = this.#kept.get(keyOf(room))?.removed
    return (holder) => removed?.has(holder) === true
  }

  keep(operator: HolderId, newest: KeptList, now: number): void {
    const { list } = newest
    const room = { operator, channel: list.body.channel }
    if (list.body.sequence <= this.sequence(room)) return
    this.#drop(keyOf(room))
    this.#kept.set(keyOf(room), { room, newest, removed: new Set(list.body.removed), usedAt: now })
    this.#holders += list.body.removed.length
    while (this.#kept.size > this.#limits.lists || this.#holders > this.#limits.holders) this.#evict()
  }

  /** Forgets those whose time is over. */
  sweep(now: number): void {
    // A copy: a list that is used goes to the end.
    for (const [key, kept] of [...this.#kept]) {
      if (this.#isLive(kept.room)) {
        kept.usedAt = now
        this.#kept.delete(key)
        this.#kept.set(key, kept)
      } else if (now - kept.usedAt >= KEEP_MS) {
        this.#drop(key)
      }
    }
  }

  #evict(): void {
    const [oldest] = this.#kept.keys()
    const unused = [...this.#kept].find(([, { room }]) => !this.#isLive(room))?.[0]
    const key = unused ?? oldest
    if (key !== undefined) this.#drop(key)
  }

  #drop(key: string): void {
    this.#holders -= this.#kept.get(key)?.newest.list.body.removed.length ?? 0
    this.#kept.delete(key)
  }
}

const NONE: U64 = u64(0)
