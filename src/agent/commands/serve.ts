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
import { type EnvProblem, refuseProblems } from '../../core/env.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { generateInstanceId } from '../../core/keys.ts'
import { writeSecretFile } from '../../core/secret-file.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { describeSelf, keptKeys, pinsOf, readChannel } from '../member.ts'
import { giveTicket, readGiven } from '../serving/given-ticket.ts'
import { serveLoop } from '../serving/serve-loop.ts'
import { createServing, type Serving } from '../serving/serving.ts'
import { planServing } from '../serving/serving-plan.ts'

export async function serve(context: Context): Promise<number> {
  const { io, env, log, clock, stateDir } = context
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const given = readGiven(env, problems)
  const plan = planServing(env, problems)
  refuseProblems(problems)
  const keys = describeSelf(keptKeys(values, stateDir), values, 'serve')
  const { ticketAt, ...how } = giveTicket(context, { values, given, self: keys })
  const serving = await createServing(plan, { io, env, clock, log, stateDir, holder: keys.holder })
  const isPinned = pinsOf(values) !== undefined
  return serveLoop(context, {
    ...how,
    serving,
    once: values.serveOnce,
    concurrency: values.concurrency,
    peerSessions: values.peerSessions,
    announce: (found) => announce(context, serving, { notices: plan.notices, ticket: ticketAt(found), isPinned }),
  })
}

interface Announced {
  readonly ticket: Ticket
  readonly notices: readonly string[]
  /** Named keys only. */
  readonly isPinned: boolean
}

async function announce(
  { io, switches, values }: Context,
  { toolNames }: Serving,
  { ticket, notices, isPinned }: Announced,
): Promise<void> {
  const text = formatTicket(ticket)
  const { rendezvous } = ticket
  const addresses = ticket.addresses.map(formatAddress)
  const file = values.get('ticket-file')
  if (file !== undefined) writeSecretFile(file, `${text}\n`, generateInstanceId())
  const shown = file === undefined ? { ticket: text } : {}
  const meeting = rendezvous === undefined ? {} : meetingJson(rendezvous)
  const json = JSON.stringify({ ...shown, holder: ticket.holder, addresses, ...meeting, tools: toolNames })
  if (switches.has('json')) await printLine(io, json)
  else if (file === undefined) await printLine(io, text)
  else notice(io, `ct-agent: the ticket is in ${file}`)
  for (const line of notices) notice(io, `ct-agent: ${line}`)
  notice(io, `ct-agent: serving ${toolNames.join(', ')}`)
  if (addresses.length > 0) notice(io, `ct-agent: at ${addresses.join(', ')}`)
  if (rendezvous !== undefined) {
    notice(io, `ct-agent: through the broker at ${rendezvous.broker.map(formatBroker).join(', ')}`)
    notice(io, `ct-agent: the ticket is good until ${shownTime(rendezvous.grant.body.expiresAt)}`)
  }
  notice(io, `ct-agent: ${whoMayCall(ticket, isPinned)}`)
}

function meetingJson({ broker, grant }: Rendezvous) {
  return { broker: broker.map(brokerText), expires_at: toJsonValue(grant.body.expiresAt) }
}

function whoMayCall({ secret }: Ticket, isPinned: boolean): string {
  const keys = 'only the keys in CT_CHANNEL_PEER_HOLDER and CT_CHANNEL_PEER_NOISE_KEY may call'
  if (isPinned) return secret === undefined ? keys : `${keys}, and only with the ticket`
  return 'whoever has the ticket may call; on the other machine: CT_TICKET=… ct-agent tools'
}
