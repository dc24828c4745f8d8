/**
 * Which keys stand for one that is known: itself, and those that took over from it one after the other.
 *
 * Holds: only what connects to a known key is learnt, so strangers fill no memory. Of two successions of one key the
 * first that was learnt counts: whoever stole an old key cannot turn those who know better. At most
 * {@link MAX_SUCCESSIONS} keys take over from one.
 *
 * @module
 */
import { isCtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import {
  checkSuccession,
  EVERY_CHANNEL,
  MAX_SHOWN_SUCCESSIONS,
  MAX_SUCCESSIONS,
  type SignedSuccession,
  type SuccessionKind,
} from './succession.ts'

/** Of all keys together. */
const MAX_KNOWN = 1_024

export class KnownSuccessions {
  readonly #channel: ChannelId | undefined
  readonly #known = new Map<string, SignedSuccession>()

  /** @param channel the only one that it is about; only what holds on every channel without it */
  constructor(channel?: ChannelId) {
    this.#channel = channel
  }

  /**
   * Learns what somebody shows, in order, as far as it connects to the key; what does not, or is not signed, is read
   * past.
   */
  learn(root: HolderId, kind: SuccessionKind, shown: readonly SignedSuccession[], now: UnixSeconds): void {
    for (const succession of shown.slice(0, MAX_SHOWN_SUCCESSIONS)) {
      const { body } = succession
      const last = this.#lineOf(root, kind)
      if (body.kind !== kind || !this.#isAbout(body.channel, kind)) continue
      if (last.length > MAX_SUCCESSIONS || last.at(-1) !== body.from || last.includes(body.to)) continue
      if (this.#known.size >= MAX_KNOWN || !isGood(succession, now)) continue
      this.#known.set(nameOf(kind, body.from), succession)
    }
  }

  /** The keys that stand for this one now, the newest first. */
  standFor(root: HolderId, kind: SuccessionKind, now: UnixSeconds): readonly HolderId[] {
    return this.#lineOf(root, kind)
      .filter((key) => {
        const next = this.#known.get(nameOf(kind, key))
        return next === undefined || now < next.body.overlapUntil
      })
      .reverse()
  }

  /** The keys that stood for this one, and no longer do. */
  retired(root: HolderId, kind: SuccessionKind, now: UnixSeconds): readonly HolderId[] {
    const standing = this.standFor(root, kind, now)
    return this.#lineOf(root, kind).filter((key) => !standing.includes(key))
  }

  /** The successions from this key to the newest, for somebody who does not know them. */
  from(root: HolderId, kind: SuccessionKind): readonly SignedSuccession[] {
    return this.#lineOf(root, kind).flatMap((key) => this.#known.get(nameOf(kind, key)) ?? [])
  }

  /** From the key itself to the newest. */
  #lineOf(root: HolderId, kind: SuccessionKind): readonly HolderId[] {
    const line = [root]
    for (;;) {
      const next = this.#known.get(nameOf(kind, line.at(-1) ?? root))
      if (next === undefined || line.length > MAX_SUCCESSIONS) return line
      line.push(next.body.to)
    }
  }

  #isAbout(channel: ChannelId, kind: SuccessionKind): boolean {
    return channel === this.#channel || (kind === 'holder' && channel === EVERY_CHANNEL)
  }
}

function isGood(succession: SignedSuccession, now: UnixSeconds): boolean {
  try {
    checkSuccession(succession, { now })
    return true
  } catch (error) {
    if (isCtError(error)) return false
    throw error
  }
}

function nameOf(kind: SuccessionKind, key: HolderId): string {
  return `${kind}/${key}`
}
