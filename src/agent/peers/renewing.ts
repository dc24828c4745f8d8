/**
 * Renews a membership beside the calls of whoever uses it, and has the link go over to the new grant before the old one
 * ends.
 *
 * Holds: no call waits for a renewal, and none fails because of one: a membership that could not be renewed is good until
 * it ends.
 *
 * @module
 */
import { type SignedSuccession } from '../../channel/membership/index.ts'
import { toCtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { type Clock, pause } from '../../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { resultOf } from '../../mcp/index.ts'
import { type Caller } from '../calling/caller.ts'
import { MEMBERSHIP_METHOD, parseMembership } from '../members/membership-document.ts'
import { type Membership, renewalDue } from './membership.ts'

/** Between two questions for a renewal, whatever came of the first. */
const LEAST_WAIT_MS = 60_000
/** A clock that was set, or a machine that slept, is noticed so late; and no timer can wait for years. */
const MOST_WAIT_MS = 900_000
/** A link that a grant ends is left so long before, or a quarter of its time where that is less. */
const LEAVE_EARLY_MS = 3_600_000
/** So long the end of a command waits for the answer to a renewal that was asked for beside its call. */
const LAST_WAIT_MS = 500

export interface RenewingDeps {
  readonly clock: Clock
  readonly log: Log
  /** Successions of the operator's key that the peer has shown so far. */
  readonly shown?: () => readonly SignedSuccession[]
}

export interface Renewing {
  /** No more renewals; waits a moment for one that is under way. */
  readonly stop: () => Promise<void>
}

export type RenewingCaller = Pick<Caller, 'call' | 'renewLink'>

/** Renews now if it is time to, and from now on whenever it is. What the caller asked before leaves first. */
export function keepRenewed(caller: RenewingCaller, membership: Membership, deps: RenewingDeps): Renewing {
  const work = new Work(caller, membership, deps)
  work.look()
  return { stop: () => work.stop() }
}

class Work {
  readonly #caller: RenewingCaller
  readonly #membership: Membership
  readonly #deps: RenewingDeps
  #isOver = false
  #cancel = (): void => {}
  #underWay: Promise<void> | undefined
  /** No question before this time of the clock that only grows. */
  #notBefore: number
  /** Since when there is the link, and when its grant ends it. */
  #link: { readonly sinceMs: number; readonly ends: UnixSeconds }

  constructor(caller: RenewingCaller, membership: Membership, deps: RenewingDeps) {
    this.#caller = caller
    this.#membership = membership
    this.#deps = deps
    this.#notBefore = deps.clock.monotonic()
    this.#link = this.#linkNow()
  }

  look(): void {
    this.#takeOthers()
    this.#followKeys()
    if (this.#leftToAskMs() <= 0) {
      this.#notBefore = this.#deps.clock.monotonic() + LEAST_WAIT_MS
      this.#do('membership.not_renewed', () => this.#ask())
    } else if (this.#leftToLeaveMs() <= 0) {
      this.#link = this.#linkNow()
      this.#do('membership.link_not_renewed', async () => this.#caller.renewLink?.())
    } else {
      this.#wait()
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#cancel()
    this.#followKeys()
    if (this.#underWay === undefined) return
    const limit = new AbortController()
    await Promise.race([this.#underWay, pause(this.#deps.clock, LAST_WAIT_MS, limit.signal)])
    limit.abort()
  }

  #wait(): void {
    const ms = Math.min(this.#leftToAskMs(), this.#leftToLeaveMs(), MOST_WAIT_MS)
    this.#cancel = this.#deps.clock.after(Math.max(0, ms), () => this.look())
  }

  #do(failed: string, act: () => Promise<void>): void {
    const { log } = this.#deps
    const { name } = this.#membership
    this.#underWay = act()
      .catch((error: unknown) => {
        const { code, message } = toCtError(error)
        log.info(failed, { name, code, reason: message })
      })
      .then(() => {
        this.#underWay = undefined
        if (!this.#isOver) this.#wait()
      })
  }

  async #ask(): Promise<void> {
    const { clock, log } = this.#deps
    const document = parseMembership(resultOf(await this.#caller.call(MEMBERSHIP_METHOD, {})))
    this.#membership.renew(document, unixSeconds(clock))
    const { name, peer } = this.#membership
    log.info('membership.renewed', { name, expiresAt: peer.grant.body.expiresAt.toString() })
  }

  /** Of several processes one is enough to ask. */
  #takeOthers(): void {
    try {
      this.#membership.refresh()
    } catch (error) {
      this.#deps.log.warn('membership.not_read', { name: this.#membership.name, reason: toCtError(error).message })
    }
  }

  /** What a hello showed is there in time for the next renewal, and for the next command. */
  #followKeys(): void {
    const { clock, log, shown } = this.#deps
    if (shown === undefined) return
    try {
      this.#membership.follow(shown(), unixSeconds(clock))
    } catch (error) {
      log.warn('membership.keys_not_kept', { name: this.#membership.name, reason: toCtError(error).message })
    }
  }

  #leftToAskMs(): number {
    const { clock } = this.#deps
    const dueMs = Number(renewalDue(this.#membership.peer)) * 1_000 - clock.now()
    return Math.max(dueMs, this.#notBefore - clock.monotonic())
  }

  /** For ever, while there is no newer grant to go on with. */
  #leftToLeaveMs(): number {
    const { sinceMs, ends } = this.#link
    if (this.#membership.peer.grant.body.expiresAt <= ends) return Number.POSITIVE_INFINITY
    const endMs = Number(ends) * 1_000
    return endMs - Math.min(LEAVE_EARLY_MS, (endMs - sinceMs) / 4) - this.#deps.clock.now()
  }

  #linkNow() {
    return { sinceMs: this.#deps.clock.now(), ends: this.#membership.peer.grant.body.expiresAt }
  }
}
