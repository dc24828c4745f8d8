/**
 * `ct-agent member rotate-operator`.
 *
 * @module
 */
import { writeExactJson } from '../../core/exact-json.ts'
import { shortId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { changeOperator } from '../members/operator-keys.ts'
import { whyDead } from '../members/redemption.ts'
import { type RosterView } from '../members/roster.ts'
import { readOverlap } from '../members/wishes.ts'
import { noteInAudit } from '../observing/audit/note.ts'
import { loadChannel } from '../state.ts'
import { withRoster } from './with-roster.ts'

export function memberRotateOperator(context: Context): Promise<number> {
  const { io, stateDir, switches, values } = context
  const overlapSeconds = readOverlap(values)
  return withRoster(context, async (roster, now) => {
    // Within the transaction, so that two changes at once are one after the other; whoever serves looks when it is over.
    const { succession, wasBegun, ...affected } = roster.update((page) => {
      const changed = changeOperator(stateDir, { channel: loadChannel(stateDir), now, overlapSeconds })
      page.noteSigner(changed.succession.body.to, now)
      return { ...changed, ...affectedBy(page, now) }
    })
    const { from, to, overlapUntil } = succession.body
    await noteInAudit(context, 'operator_rotated', { peer: to })
    if (switches.has('json')) {
      await printLine(io, writeExactJson({ from, to, overlap_until: overlapUntil, was_begun: wasBegun }))
    } else {
      const done = wasBegun ? 'finished the change of the key' : 'changed the key'
      await printLine(io, `${done}  ${shortId(from)}… → ${shortId(to)}…  overlap until ${shownTime(overlapUntil)}`)
    }
    for (const line of linesOf(affected)) notice(io, `ct-agent: ${line}`)
  })
}

interface Affected {
  readonly members: number
  readonly openInvitations: number
  readonly hasTicket: boolean
}

function affectedBy(page: RosterView, now: UnixSeconds): Affected {
  const members = page.members().filter(({ holder }) => !page.isRemoved(holder))
  const open = page.invitations().filter((one) => !('problem' in whyDead(one, now)) && one.used < one.uses)
  const ticketEnds = page.place()?.ticketEnds
  return {
    members: members.length,
    openInvitations: open.length,
    hasTicket: ticketEnds !== undefined && now < ticketEnds,
  }
}

function linesOf({ members, openInvitations, hasTicket }: Affected): readonly string[] {
  return [
    ...(members === 0
      ? []
      : [`${members} members: each gets a new grant when it comes before then, or has to be invited again`]),
    ...(openInvitations === 0 ? [] : [`${openInvitations} open invitations can be redeemed until then`]),
    ...(hasTicket ? ['the ticket of ct-agent serve is good until then: restart it for one of the new key'] : []),
  ]
}
