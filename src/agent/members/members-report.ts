/**
 * Members and invitations, for people and for programs.
 *
 * @module
 */
import { type ExactObject } from '../../core/exact-json.ts'
import { type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { whyDead } from './redemption.ts'
import { type MemberRecord, type OpenedInvitation, type RemovalRecord } from './roster.ts'

/** Enough of a key to say which invitation is meant. */
export function invitationId(invitee: HolderId): string {
  return invitee.slice(0, ID_DIGITS)
}

const ID_DIGITS = 12

/** A member, and whether it was removed. */
export interface ListedMember {
  readonly member: MemberRecord
  readonly removal: RemovalRecord | undefined
}

export function memberJson({ member, removal }: ListedMember): ExactObject {
  const { holder, name, rights, tools, invitee, since, grantEnds } = member
  return {
    name,
    holder,
    rights,
    ...(tools === undefined ? {} : { tools: [...tools] }),
    invitation: invitationId(invitee),
    since,
    grant_expires_at: grantEnds,
    ...(removal === undefined ? {} : { removed_at: removal.removedAt }),
  }
}

export function removalJson({ holder, removedAt }: RemovalRecord): ExactObject {
  return { holder, removed_at: removedAt }
}

export function memberRow({ member, removal }: ListedMember): readonly string[] {
  const { name, rights, tools, holder, grantEnds } = member
  const state = removal === undefined ? `until ${dayOf(grantEnds)}` : `removed ${dayOf(removal.removedAt)}`
  return [name, rights, toolsText(tools), state, holder]
}

export function invitationJson(invitation: OpenedInvitation, now: UnixSeconds): ExactObject {
  const { invitee, sealed, name, tools, uses, used, madeAt } = invitation
  return {
    id: invitationId(invitee),
    ...(name === undefined ? {} : { name }),
    rights: sealed.body.rights,
    ...(tools === undefined ? {} : { tools: [...tools] }),
    uses: BigInt(uses),
    used: BigInt(used),
    made_at: madeAt,
    expires_at: sealed.body.expiresAt,
    state: stateOf(invitation, now),
  }
}

export function invitationRow(invitation: OpenedInvitation, now: UnixSeconds): readonly string[] {
  const { invitee, sealed, name, tools, uses, used } = invitation
  const state = stateOf(invitation, now)
  const until = `until ${shownTime(sealed.body.expiresAt)}`
  return [invitationId(invitee), name ?? '–', `${used}/${uses}`, sealed.body.rights, toolsText(tools), state, until]
}

type InvitationState = 'open' | 'used' | 'revoked' | 'expired'

function stateOf(invitation: OpenedInvitation, now: UnixSeconds): InvitationState {
  const found = whyDead(invitation, now)
  if ('problem' in found) return found.problem.code === 'ERR_INVITATION_REVOKED' ? 'revoked' : 'expired'
  return invitation.used < invitation.uses ? 'open' : 'used'
}

function toolsText(tools: readonly string[] | undefined): string {
  return tools === undefined ? 'all tools' : tools.join(',')
}

function dayOf(seconds: UnixSeconds): string {
  return shownTime(seconds).slice(0, 'YYYY-MM-DD'.length)
}
