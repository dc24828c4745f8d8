/**
 * `ct-agent serve`: serves tools to whoever has the ticket it prints.
 *
 * @module
 */
import {
  brokerText,
  formatAddress,
  formatBroker,
  formatTicket,
  type Rendezvous,
  type Ticket,
} from '../../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { writeSecretFile } from '../../core/secret-file.ts'
import { type Tool } from '../../mcp/index.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { describeSelf, keptKeys, pinsOf, readChannel } from '../member.ts'
import { openRoster } from '../members/roster-file.ts'
import { nameIn } from '../observing/member-names.ts'
import { observe } from '../observing/observe.ts'
import { REGISTRY_ENV } from '../registry/registry-settings.ts'
import { type GivenTicket, giveTicket, readGiven, refuseTicketOfMembers } from '../serving/given-ticket.ts'
import { listCard } from '../serving/listed-card.ts'
import { refuseSecond } from '../serving/only-one.ts'
import { serveLoop } from '../serving/serve-loop.ts'
import { createServing, type Serving } from '../serving/serving.ts'
import { planServing } from '../serving/serving-plan.ts'

/** @param ownTools of the program that serves, beside those that the settings name */
export async function serve(context: Context, ownTools: readonly Tool[] = []): Promise<number> {
  const { io, env, log, clock, stateDir } = context
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const given = readGiven(env, problems)
  const plan = planServing(env, problems)
  const { isListed } = readEnv(REGISTRY_ENV, env, problems)
  refuseProblems(problems)
  refuseTicketOfMembers(given, context)
  const self = describeSelf(keptKeys(values, stateDir), values, 'serve')
  if (given.broker !== undefined) await refuseSecond(stateDir, self.holder.id)
  const roster = given.broker === undefined ? undefined : await openRoster(stateDir)
  let unlist = (): Promise<void> => Promise.resolve()
  try {
    const observation = observe(context, { command: 'serve', holder: self.holder.id, nameOf: nameIn(roster) })
    const { observing } = observation
    const audit: typeof observing.record = (event, facts) => observing.record(event, facts)
    const { ticketAt, reception, ...how } = giveTicket(context, { values, given, self, audit }, roster)
    const deps = { io, env, clock, log, stateDir, holder: self.holder, reception, observing, ownTools }
    const serving = await createServing(plan, deps)
    const { notices } = plan
    const announced = { notices, reception, isPinned: pinsOf(values) !== undefined, membersOnly: given.membersOnly }
    return await serveLoop(context, {
      ...how,
      serving,
      reception,
      observation,
      once: values.serveOnce,
      concurrency: values.concurrency,
      peerSessions: values.peerSessions,
      announce: async (found) => {
        await announce(context, serving, { ...announced, ticket: ticketAt(found) })
        if (plan.card === undefined || how.broker === undefined || !isListed) return
        unlist = listCard(context, { card: plan.card, holder: self.holder, broker: how.broker.broker })
      },
    })
  } finally {
    await unlist()
    roster?.close()
  }
}

interface Announced {
  readonly reception: GivenTicket['reception'] | undefined
  readonly ticket: Ticket
  readonly notices: readonly string[]
  /** Named keys only. */
  readonly isPinned: boolean
  /** The ticket admits nobody, and is not shown. */
  readonly membersOnly: boolean
}

async function announce({ io, switches, values }: Context, { toolNames }: Serving, what: Announced): Promise<void> {
  const { ticket, notices, membersOnly } = what
  const text = membersOnly ? undefined : formatTicket(ticket)
  const { rendezvous } = ticket
  const addresses = ticket.addresses.map(formatAddress)
  const file = values.get('ticket-file')
  if (file !== undefined && text !== undefined) writeSecretFile(file, `${text}\n`, generateInstanceId())
  rememberPlace(what, toolNames)
  const shown = file === undefined ? { ticket: text } : {}
  const meeting = rendezvous === undefined ? {} : meetingJson(rendezvous, membersOnly)
  const json = JSON.stringify({ ...shown, holder: ticket.holder, addresses, ...meeting, tools: toolNames })
  if (switches.has('json')) await printLine(io, json)
  else if (file !== undefined) notice(io, `ct-agent: the ticket is in ${file}`)
  else if (text !== undefined) await printLine(io, text)
  for (const line of notices) notice(io, `ct-agent: ${line}`)
  notice(io, `ct-agent: serving ${shownNames(toolNames)}`)
  if (addresses.length > 0) notice(io, `ct-agent: at ${addresses.join(', ')}`)
  if (rendezvous !== undefined) {
    notice(io, `ct-agent: through the broker at ${rendezvous.broker.map(formatBroker).join(', ')}`)
    if (!membersOnly) notice(io, `ct-agent: the ticket is good until ${shownTime(rendezvous.grant.body.expiresAt)}`)
  }
  notice(io, `ct-agent: ${whoMayCall(what)}`)
}

/** A wrapped server may have thousands. */
function shownNames(names: readonly string[]): string {
  const more = names.length > MAX_SHOWN_TOOLS ? ` and ${names.length - MAX_SHOWN_TOOLS} more` : ''
  return `${names.slice(0, MAX_SHOWN_TOOLS).join(', ')}${more}`
}

const MAX_SHOWN_TOOLS = 50

/** For invitations that are made beside it. */
function rememberPlace({ ticket, reception, membersOnly }: Announced, tools: readonly string[]): void {
  const { holder, addresses, rendezvous } = ticket
  if (reception === undefined || rendezvous === undefined) return
  reception.remember({
    holder,
    broker: rendezvous.broker.map(brokerText),
    addresses: addresses.map(formatAddress),
    tools,
    ticketEnds: membersOnly ? undefined : rendezvous.grant.body.expiresAt,
  })
}

function meetingJson({ broker, grant }: Rendezvous, membersOnly: boolean) {
  const until = membersOnly ? {} : { expires_at: toJsonValue(grant.body.expiresAt) }
  return { broker: broker.map(brokerText), ...until }
}

function whoMayCall({ ticket: { secret }, isPinned, membersOnly }: Announced): string {
  if (membersOnly) return 'only members may call; to invite one, run beside this: ct-agent invite'
  const keys = 'only the keys in CT_CHANNEL_PEER_HOLDER and CT_CHANNEL_PEER_NOISE_KEY may call'
  if (isPinned) return secret === undefined ? keys : `${keys}, and only with the ticket`
  return 'whoever has the ticket may call; on the other machine: CT_TICKET=… ct-agent tools'
}
