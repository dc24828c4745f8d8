/**
 * What a member knows of those that the operator of its channel removed.
 *
 * Holds: the list only ever gives way to one of the same operator and channel with a higher sequence; so whoever hands
 * one over, a broker or a file, cannot take a removal back. Whoever listens is told before the call returns.
 *
 * @module
 */
import { type Sealed, type Verified } from '../../core/artefact.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type U64, u64, unixSeconds } from '../../core/u64.ts'
import { KnownSuccessions } from './known-successions.ts'
import { openRevocations, type RevocationList } from './revocations.ts'
import { STAPLE_TTL_SECONDS } from './staple.ts'
import { type SignedSuccession } from './succession.ts'

export interface RevocationScope {
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly clock: Pick<Clock, 'monotonic' | 'now'>
}

export type RevocationListener = (list: Verified<RevocationList>) => void

/** So long what is known counts as the newest when nobody can be asked. */
export const CONFIRMED_FOR_MS: number = Number(STAPLE_TTL_SECONDS) * 1_000

const NONE: U64 = u64(0)

export class KnownRevocations {
  /** Which keys the operator, and members, have changed to. */
  readonly successions: KnownSuccessions
  readonly #scope: RevocationScope
  readonly #listeners = new Set<RevocationListener>()
  #newest: Verified<RevocationList> | undefined
  #removed: ReadonlySet<HolderId> = new Set()
  #confirmedAt: number

  constructor(scope: RevocationScope) {
    this.#scope = scope
    this.successions = new KnownSuccessions(scope.channel)
    this.#confirmedAt = scope.clock.monotonic()
  }

  get newest(): Verified<RevocationList> | undefined {
    return this.#newest
  }

  /** 0 while there is none. */
  get sequence(): U64 {
    return this.#newest?.body.sequence ?? NONE
  }

  readonly isRevoked = (holder: HolderId): boolean => this.#removed.has(holder)

  /**
   * True when the list is newer than the known one, and is known from now on.
   *
   * @throws {CtError} `ERR_SIGNATURE_INVALID` for a newer one that the operator did not sign
   */
  readonly learn = (sealed: Sealed<RevocationList>): boolean => {
    const { operator, channel, clock } = this.#scope
    if (sealed.body.channel !== channel || sealed.body.sequence <= this.sequence) return false
    const list = openRevocations(sealed, ...this.successions.standFor(operator, 'operator', unixSeconds(clock)))
    this.#newest = list
    this.#removed = new Set(list.body.removed)
    for (const tell of [...this.#listeners]) tell(list)
    return true
  }

  /** What has to be shown with the list to those that know the operator's first key alone. */
  get shown(): readonly SignedSuccession[] {
    return this.successions.from(this.#scope.operator, 'operator')
  }

  /** Keys that have taken over from the operator's. */
  readonly follow = (shown: readonly SignedSuccession[]): void => {
    const { operator, clock } = this.#scope
    this.successions.learn(operator, 'operator', shown, unixSeconds(clock))
  }

  /** Somebody who would know of a newer list was just heard: the broker, or whoever keeps the operator’s list. */
  readonly confirm = (): void => {
    this.#confirmedAt = Math.max(this.#confirmedAt, this.#scope.clock.monotonic())
  }

  /** This side keeps the operator’s list itself: there is nobody to ask. */
  readonly confirmForGood = (): void => {
    this.#confirmedAt = Number.POSITIVE_INFINITY
  }

  /**
   * True when members have to show a staple: the operator removes members, and for so long nobody was heard who would
   * know of the next.
   */
  readonly isStale = (): boolean =>
    this.#newest !== undefined && this.#scope.clock.monotonic() - this.#confirmedAt >= CONFIRMED_FOR_MS

  /** Called with every newer list from now on; the returned function ends it. */
  onNewer(listener: RevocationListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
