/**
 * Whether somebody who redeems an invitation becomes a member, and as what.
 *
 * Holds: within one transaction, an invitation never has more redemptions than uses; who redeemed it once takes no
 * second use; and a holder that was removed does not come back by itself.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type U64, type UnixSeconds } from '../../core/u64.ts'
import { grantFrom } from './grant-life.ts'
import { nameFrom, nameOfKey, uniqueName } from './member-name.ts'
import { MAX_MEMBERS, type MemberRecord, type OpenedInvitation, type RosterPage, type RosterView } from './roster.ts'

/** Somebody who proved to have the key of an invitation and a holder key. */
export interface Newcomer {
  readonly invitee: HolderId
  readonly holder: HolderId
  /** What it would like to be called. */
  readonly wish: string
  readonly now: UnixSeconds
  /** How long its first grant holds. */
  readonly grantSeconds: U64
}

/** Why the invitation cannot be redeemed by anybody. */
export function whyDead(
  invitation: OpenedInvitation | undefined,
  now: UnixSeconds,
): { readonly problem: CtError } | { readonly invitation: OpenedInvitation } {
  if (invitation === undefined) {
    return { problem: new CtError('ERR_INVITATION_INVALID', 'the invitation is none that this side knows') }
  }
  if (invitation.revokedAt !== undefined) {
    return { problem: new CtError('ERR_INVITATION_REVOKED', 'the invitation was taken back') }
  }
  const { expiresAt } = invitation.sealed.body
  if (now >= expiresAt) {
    return { problem: new CtError('ERR_INVITATION_EXPIRED', `the invitation expired at ${expiresAt}`) }
  }
  return { invitation }
}

/** Why this holder cannot redeem the invitation, which others may. */
export function whyNotBy(page: RosterView, { invitee, uses, used }: OpenedInvitation, holder: HolderId) {
  if (page.isRemoved(holder)) return removed(holder)
  if (used < uses || page.hasRedeemed(invitee, holder)) return undefined
  const times = uses === 1 ? 'once, as often as it may be' : `${uses} times, as often as it may be`
  return new CtError('ERR_INVITATION_USED', `the invitation was redeemed ${times}`)
}

/** The error of a holder that was removed. */
export function removed(holder: HolderId): CtError {
  return new CtError('ERR_MEMBER_REMOVED', `the operator removed ${holder}`, { detail: { category: 'not-member' } })
}

/**
 * The member that the newcomer is from now on. The caller has checked its signature.
 *
 * @throws {CtError} `ERR_INVITATION_INVALID`, `ERR_INVITATION_REVOKED`, `ERR_INVITATION_EXPIRED`,
 * `ERR_INVITATION_USED`, `ERR_MEMBER_REMOVED`; `ERR_PEER_BUSY` when there are too many members
 */
export function redeem(page: RosterPage, newcomer: Newcomer): MemberRecord {
  const { invitee, holder, now } = newcomer
  const found = whyDead(page.invitation(invitee), now)
  if ('problem' in found) throw found.problem
  const { invitation } = found
  const problem = whyNotBy(page, invitation, holder)
  if (problem !== undefined) throw problem
  const known = page.member(holder)
  const isAgain = page.hasRedeemed(invitee, holder)
  if (isAgain && known !== undefined) return known
  if (!isAgain) page.noteRedemption(invitee, holder, now)
  const member = known === undefined ? joined(page, invitation, newcomer) : taken(known, invitation, newcomer)
  page.putMember(member)
  return member
}

function joined(page: RosterPage, invitation: OpenedInvitation, newcomer: Newcomer): MemberRecord {
  if (page.memberCount() >= MAX_MEMBERS) page.makeRoom()
  if (page.memberCount() >= MAX_MEMBERS) {
    throw new CtError('ERR_PEER_BUSY', `there are ${MAX_MEMBERS} members, as many as there may be`)
  }
  const { holder, now, wish, grantSeconds } = newcomer
  const wanted = invitation.name ?? nameFrom(wish) ?? nameOfKey(holder)
  const name = uniqueName(wanted, (candidate) => page.isNameTaken(candidate))
  return { holder, name, since: now, ...termsOf(invitation), ...grantFrom(now, grantSeconds) }
}

/** A member that redeems another invitation keeps its name, and may from now on what that one says. */
function taken(known: MemberRecord, invitation: OpenedInvitation, { now, grantSeconds }: Newcomer): MemberRecord {
  return { ...known, ...termsOf(invitation), ...grantFrom(now, grantSeconds, known) }
}

function termsOf({ invitee, sealed, tools }: OpenedInvitation): Pick<MemberRecord, 'invitee' | 'rights' | 'tools'> {
  return { invitee, rights: sealed.body.rights, tools }
}
