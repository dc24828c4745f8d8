/**
 * As what somebody comes who belongs to the channel of a serving agent. Pure: a chain of grants and the roster go in.
 *
 * Holds: only the ticket that is given out now, invitations that are known, and members that are known count. Whoever
 * was removed is nothing, nor is anybody whose membership rests on one that was.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { removed, whyDead, whyNotBy } from './redemption.ts'
import { type MemberRecord, type RosterView } from './roster.ts'

export type Standing =
  /** Has the ticket that everybody has. */
  | { readonly kind: 'bearer' }
  /** May redeem an invitation, and nothing else. */
  | { readonly kind: 'guest'; readonly invitee: HolderId }
  | { readonly kind: 'member'; readonly member: MemberRecord }

export interface StandingRule {
  /** The invited key of the ticket that is given out; without it none is. */
  readonly bearer: HolderId | undefined
  readonly now: UnixSeconds
}

/** @param chain whose grants the membership rests on, its own last */
export function standingOf(
  page: RosterView,
  chain: readonly HolderId[],
  { bearer, now }: StandingRule,
): Standing | CtError {
  const gone = chain.find((holder) => page.isRemoved(holder))
  if (gone !== undefined) return removed(gone)
  const [root, ...rest] = chain
  const holder = chain.at(-1)
  if (root === undefined || holder === undefined) return new CtError('ERR_PEER_REFUSED', STRANGER)
  if (root === bearer) return { kind: 'bearer' }
  if (rest.length === 0) {
    const member = page.member(root)
    return member === undefined ? new CtError('ERR_PEER_REFUSED', STRANGER) : { kind: 'member', member }
  }
  const invitation = page.invitation(root)
  // Most likely of a ticket that was given out before.
  if (invitation === undefined) return new CtError('ERR_PEER_REFUSED', OLD_TICKET)
  const found = whyDead(invitation, now)
  return 'problem' in found ? found.problem : (whyNotBy(page, invitation, holder) ?? { kind: 'guest', invitee: root })
}

const STRANGER = 'the serving side has no member with this key'
const OLD_TICKET = 'the ticket is not, or no longer, the one this side gave out'
