/**
 * `ct-agent member list`, `member remove` and `member renew`.
 *
 * @module
 */
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { writeExactJson } from '../../core/exact-json.ts'
import { type HolderId } from '../../core/ids.ts'
import { SECONDS_PER_DAY } from '../../core/time.ts'
import { type UnixSeconds, u64 } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { ROSTER_ENV } from '../members/member-settings.ts'
import { type ListedMember, memberJson, memberRow, removalJson } from '../members/members-report.ts'
import { whyDead } from '../members/redemption.ts'
import { type Found, findMember, removeHolder, renewMember } from '../members/removing.ts'
import { type RosterView } from '../members/roster.ts'
import { readChange } from '../members/wishes.ts'
import { noteInAudit } from '../observing/audit/note.ts'
import { printResult } from '../result.ts'
import { tableLines } from '../table.ts'
import { withRoster } from './with-roster.ts'

export function memberList(context: Context): Promise<number> {
  return withRoster(context, async (roster) => {
    const { io, switches } = context
    const { members, strangers } = roster.read(listing)
    if (switches.has('json')) {
      await printLine(
        io,
        writeExactJson({ members: members.map(memberJson), removed_keys: strangers.map(removalJson) }),
      )
      return
    }
    if (members.length === 0) notice(io, 'ct-agent: there are no members; ct-agent invite invites one')
    else await printResult(io, tableLines(members.map(memberRow)).join('\n'))
    for (const { holder } of strangers) notice(io, `ct-agent: removed, and no member before: ${holder}`)
  })
}

function listing(page: RosterView) {
  const removals = page.removals()
  const members = page
    .members()
    .map((member): ListedMember => ({ member, removal: removals.find(({ holder }) => holder === member.holder) }))
  return { members, strangers: removals.filter(({ holder }) => page.member(holder) === undefined) }
}

export function memberRemove(context: Context): Promise<number> {
  return withRoster(context, async (roster, now) => {
    const { io, operands, switches } = context
    const { found, isNew, ...ways } = roster.update((page) => {
      const found = findMember(page, operands[0] ?? '')
      return { found, isNew: removeHolder(page, found, now), ...waysBack(page, now) }
    })
    const name = found.member?.name
    await noteInAudit(context, 'member_removed', { peer: found.holder, name })
    const json = { ...(name === undefined ? {} : { name }), holder: found.holder, was_removed: !isNew }
    if (switches.has('json')) await printLine(io, writeExactJson(json))
    else await printLine(io, `${isNew ? 'removed' : 'was removed before:'} ${shownName(found)}`)
    for (const line of warnings(ways)) notice(io, `ct-agent: ${line}`)
  })
}

interface WaysBack {
  /** An agent of this state folder has members at all. */
  readonly hasServed: boolean
  readonly hasTicket: boolean
  readonly openInvitations: number
}

/** How somebody with another key could come in. */
function waysBack(page: RosterView, now: UnixSeconds): WaysBack {
  const open = page.invitations().filter((one) => !('problem' in whyDead(one, now)) && one.used < one.uses)
  const place = page.place()
  const ticketEnds = place?.ticketEnds
  const hasTicket = ticketEnds !== undefined && now < ticketEnds
  return { hasServed: place !== undefined, hasTicket, openInvitations: open.length }
}

function warnings({ hasServed, hasTicket, openInvitations }: WaysBack): readonly string[] {
  const unserved = 'ct-agent serve --broker has not run with this state folder: removals count there alone'
  const ticket =
    'whoever has the ticket of ct-agent serve can come again with another key: restart it with --new-ticket, or with --members-only'
  const invitations = `whoever has one of the ${openInvitations} open invitations can redeem it with another key: ct-agent invite list`
  return [
    ...(hasServed ? [] : [unserved]),
    ...(hasTicket ? [ticket] : []),
    ...(openInvitations > 0 ? [invitations] : []),
  ]
}

export function memberRenew(context: Context): Promise<number> {
  const { io, env, operands, switches, values } = context
  const problems: EnvProblem[] = []
  const { grantDays } = readEnv({ grantDays: ROSTER_ENV.grantDays }, env, problems)
  refuseProblems(problems)
  return withRoster(context, async (roster, now) => {
    const { found, member, wasRemoved } = roster.update((page) => {
      const found = findMember(page, operands[0] ?? '')
      const change = readChange(values, page.place()?.tools ?? [])
      if (found.member === undefined && Object.keys(change).length > 0) {
        throw new CtError('ERR_USAGE', 'expected a member, found a key that only the ticket let in')
      }
      const wasRemoved = page.isRemoved(found.holder)
      return {
        found,
        wasRemoved,
        member: renewMember(page, found, change, { now, grantSeconds: u64(grantDays * SECONDS_PER_DAY) }),
      }
    })
    await noteInAudit(context, wasRemoved ? 'member_let_in_again' : 'member_renewed', {
      peer: found.holder,
      name: member?.name,
    })
    if (switches.has('json')) {
      const whole = member === undefined ? { holder: found.holder } : memberJson({ member, removal: undefined })
      await printLine(io, writeExactJson(whole))
    } else {
      const listed =
        member === undefined ? shownName(found) : tableLines([memberRow({ member, removal: undefined })])[0]
      await printLine(io, `${wasRemoved ? 'let in again' : 'renewed'}  ${listed ?? ''}`)
    }
  })
}

function shownName({ holder, member }: { readonly holder: HolderId; readonly member: Found['member'] }): string {
  return member === undefined ? holder : `${member.name} (${holder})`
}
