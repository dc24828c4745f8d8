/**
 * Whether a join is good: cheap checks first, signatures last, and none for those who were refused too often.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Address } from '../address.ts'
import { checkCredentials, type Membership } from '../membership/credentials.ts'
import { operatorLine } from '../membership/operator-line.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import { type Join } from '../rendezvous/messages.ts'
import { type MemberPeer } from './member-link.ts'
import { Quota, sourceOf } from './quota.ts'
import { busy, refusal } from './refusals.ts'

/** Refusals of one source that coming again does not help. */
export const REFUSALS = { budget: 30, windowMs: 60_000, maxKeys: 4_096 }
/** Joins of one holder; each costs up to five signatures. */
export const JOINS = { budget: 100, windowMs: 10_000, maxKeys: 16_384 }

/** Of one source that has no seat; each may cost a signature, and room for a list. */
export const PUBLICATIONS = { budget: 60, windowMs: 60_000, maxKeys: 4_096 }

/** What a broker has seen of the channel of a join. */
export interface KnownOfRoom {
  /** Of the operator's key. */
  readonly successions: readonly SignedSuccession[]
  /** The operator removed this holder from the channel. */
  readonly isRemoved: (holder: HolderId) => boolean
}

export class JoinAdmission {
  readonly #clock: Clock
  readonly #operators: ReadonlySet<HolderId> | undefined
  readonly #refusals = new Quota(REFUSALS)
  readonly #joins = new Quota(JOINS)
  readonly #publications = new Quota(PUBLICATIONS)

  /** @param operators the only ones whose members are admitted; any without it */
  constructor(clock: Clock, operators: ReadonlySet<HolderId> | undefined) {
    this.#clock = clock
    this.#operators = operators
  }

  check(join: Join, { holder, noiseKeys, observed }: MemberPeer, room: KnownOfRoom): Membership | CtError {
    const now = this.#clock.monotonic()
    const penalty = this.#penalty(observed, now)
    if (penalty !== undefined) return penalty
    const wait = this.#joins.waitOf(holder, now)
    if (wait > 0) return busy('this holder joins too often', wait)
    this.#joins.note(holder, now)
    const { operator, channel, side, addresses, credentials, successions = [] } = join
    const foreign = this.#foreign(operator)
    if (foreign !== undefined) return foreign
    if (addresses.some(({ port }) => port === 0))
      return refusal('endpoint', 'expected addresses with a port, found port 0')
    const second = unixSeconds(this.#clock)
    // What was learnt before nobody can push aside by what he shows.
    const line = operatorLine({ operator, channel, now: second }, room.successions, successions)
    const rule = {
      operator,
      operators: line.standing,
      retired: line.retired,
      channel,
      side,
      now: second,
      isRevoked: room.isRemoved,
    }
    return checkCredentials(credentials, { holder, noiseKeys }, rule)
  }

  /** Whether somebody may bring a revocation list, which nobody has to be a member for. */
  checkPublish(operator: HolderId, { observed }: MemberPeer): CtError | undefined {
    const now = this.#clock.monotonic()
    const penalty = this.#penalty(observed, now) ?? this.#foreign(operator)
    if (penalty !== undefined) return penalty
    const source = sourceOf(observed.host)
    const wait = this.#publications.waitOf(source, now)
    if (wait > 0) return busy('too many lists are published from this address', wait)
    this.#publications.note(source, now)
    return undefined
  }

  #penalty({ host }: Address, now: number): CtError | undefined {
    const penalty = this.#refusals.waitOf(sourceOf(host), now)
    return penalty > 0 ? busy('too many joins from this address were refused', penalty) : undefined
  }

  #foreign(operator: HolderId): CtError | undefined {
    const isForeign = this.#operators?.has(operator) === false
    return isForeign ? refusal('not-member', 'this broker serves other operators') : undefined
  }

  /** Counts against the member's address what coming again would not mend. */
  noteRefusal({ observed }: MemberPeer, error: CtError): void {
    if (!error.facts.retryable) this.#refusals.note(sourceOf(observed.host), this.#clock.monotonic())
  }
}
