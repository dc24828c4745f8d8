/**
 * `ct-agent invite list` and `invite revoke`: what became of invitations, and taking them back.
 *
 * @module
 */
import { writeExactJson } from '../../core/exact-json.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { invitationId, invitationJson, invitationRow } from '../members/members-report.ts'
import { findInvitation } from '../members/removing.ts'
import { noteInAudit } from '../observing/audit/note.ts'
import { printResult } from '../result.ts'
import { tableLines } from '../table.ts'
import { withRoster } from './with-roster.ts'

export function inviteList(context: Context): Promise<number> {
  const { io, switches } = context
  return withRoster(context, async (roster, now) => {
    const invitations = roster.read((page) => page.invitations())
    if (switches.has('json')) {
      await printLine(io, writeExactJson({ invitations: invitations.map((one) => invitationJson(one, now)) }))
    } else if (invitations.length === 0) {
      notice(io, 'ct-agent: there are no invitations; ct-agent invite makes one')
    } else {
      await printResult(io, tableLines(invitations.map((one) => invitationRow(one, now))).join('\n'))
    }
  })
}

export function inviteRevoke(context: Context): Promise<number> {
  const { io, switches, operands } = context
  const [word = ''] = operands
  return withRoster(context, async (roster, now) => {
    const invitation = roster.update((page) => {
      const found = findInvitation(page, word)
      if (found.revokedAt === undefined) page.revokeInvitation(found.invitee, now)
      return { ...found, revokedAt: found.revokedAt ?? now }
    })
    const { invitee, used } = invitation
    await noteInAudit(context, 'invitation_revoked', { invitation: invitationId(invitee) })
    if (switches.has('json')) await printLine(io, writeExactJson(invitationJson(invitation, now)))
    else await printLine(io, `revoked ${invitationId(invitee)}`)
    if (used > 0) {
      const who = used === 1 ? 'the member who came by it stays' : `the ${used} members who came by it stay`
      notice(io, `ct-agent: ${who}; to remove somebody: ct-agent member remove <name>`)
    }
  })
}
