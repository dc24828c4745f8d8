/**
 * Whether a join is good: cheap checks first, signatures last, and none for those who were refused too often.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { checkCredentials, type Membership } from '../membership/credentials.ts'
import { type Join } from '../rendezvous/messages.ts'
import { type MemberPeer } from './member-link.ts'
import { Quota, sourceOf } from './quota.ts'
import { busy, refusal } from './refusals.ts'

/** Refusals of one source that coming again does not help. */
export const REFUSALS = { budget: 30, windowMs: 60_000, maxKeys: 4_096 }
/** Joins of one holder; each costs up to five signatures. */
export const JOINS = { budget: 100, windowMs: 10_000, maxKeys: 16_384 }

export class JoinAdmission {
  readonly #clock: Clock
  readonly #operators: ReadonlySet<HolderId> | undefined
  readonly #refusals = new Quota(REFUSALS)
  readonly #joins = new Quota(JOINS)

  /** @param operators the only ones whose members are admitted; any without it */
  constructor(clock: Clock, operators: ReadonlySet<HolderId> | undefined) {
    this.#clock = clock
    this.#operators = operators
  }

  check(join: Join, { holder, noiseKeys, observed }: MemberPeer): Membership | CtError {
    const now = this.#clock.monotonic()
    const penalty = this.#refusals.waitOf(sourceOf(observed.host), now)
    if (penalty > 0) return busy('too many joins from this address were refused', penalty)
    const wait = this.#joins.waitOf(holder, now)
    if (wait > 0) return busy('this holder joins too often', wait)
    this.#joins.note(holder, now)
    const { operator, channel, side, addresses, credentials } = join
    if (this.#operators?.has(operator) === false) return refusal('not-member', 'this broker serves other operators')
    if (addresses.some(({ port }) => port === 0))
      return refusal('endpoint', 'expected addresses with a port, found port 0')
    const rule = { operator, channel, side, now: unixSeconds(this.#clock) }
    return checkCredentials(credentials, { holder, noiseKeys }, rule)
  }

  /** Counts against the member's address what coming again would not mend. */
  noteRefusal({ observed }: MemberPeer, error: CtError): void {
    if (!error.facts.retryable) this.#refusals.note(sourceOf(observed.host), this.#clock.monotonic())
  }
}
