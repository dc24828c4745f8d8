/**
 * The newest revocation list of each channel that a broker has seen one of.
 *
 * Pure. Holds: a list gives way only to one with a higher sequence, or for want of room. One whose channel has members
 * present is kept; of the others those go first, the longest unused before the rest, that were brought by the source that
 * holds most, and none for a source that holds more; all go after {@link KEEP_MS}. Lists and holders in them are bounded,
 * in all and of one source. Whoever finds no room is refused, and has pushed out nothing.
 *
 * @module
 */
import { type Verified } from '../../core/artefact.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type U64, u64 } from '../../core/u64.ts'
import { type RevocationList } from '../membership/revocations.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import { type Held, type KeptLimits, makeRoom } from './making-room.ts'
import { keyOf } from './rooms.ts'

export interface RoomName {
  readonly operator: HolderId
  readonly channel: ChannelId
}

/** How long a list outlives the last member that was present: they come back, and so may those it removed. */
export const KEEP_MS = 86_400_000

export const KEPT_LIMITS: KeptLimits = { lists: 8_192, holders: 262_144 }

/** A list, and what shows that whoever signed it stands for the operator. */
export interface KeptList {
  readonly list: Verified<RevocationList>
  readonly successions: readonly SignedSuccession[]
}

interface Kept extends Held {
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

  /** False when there is no room for it, or a later one is there. */
  keep(
    operator: HolderId,
    newest: KeptList,
    { source, now }: { readonly source: string; readonly now: number },
  ): boolean {
    const { channel, sequence, removed } = newest.list.body
    const room = { operator, channel }
    if (sequence <= this.sequence(room)) return false
    const kept = { room, source, newest, removed: new Set(removed), usedAt: now }
    const others = [...this.#kept.values()].filter(
      (other) => other.room.channel !== channel || other.room.operator !== operator,
    )
    const victims = makeRoom(others, kept, this.#limits, (other) => !this.#isLive(other.room))
    if (victims === undefined) return false
    for (const victim of victims) this.#kept.delete(keyOf(victim.room))
    // At the end, as the one that was used last.
    this.#kept.delete(keyOf(room))
    this.#kept.set(keyOf(room), kept)
    return true
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
        this.#kept.delete(key)
      }
    }
  }
}

const NONE: U64 = u64(0)
