/**
 * `ct-agent serve`: serves tools to whoever has the ticket it prints.
 *
 * @module
 */
import { type Address, formatAddress, formatTicket, type Ticket, type TrustPolicy } from '../../channel/index.ts'
import { type EnvProblem, refuseProblems } from '../../core/env.ts'
import { type HolderId } from '../../core/ids.ts'
import { generateInstanceId, type SecretKey } from '../../core/keys.ts'
import { writeSecretFile } from '../../core/secret-file.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { type ChannelValues, describeSelf, keptKeys, pinsOf, readChannel } from '../member.ts'
import { serveLoop } from '../serving/serve-loop.ts'
import { createServing, type Serving } from '../serving/serving.ts'
import { planServing } from '../serving/serving-plan.ts'
import { loadSecret, renewSecret } from '../state.ts'

export async function serve(context: Context): Promise<number> {
  const { io, env, log, clock, stateDir, switches } = context
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const plan = planServing(env, problems)
  refuseProblems(problems)
  const self = describeSelf(keptKeys(values, stateDir), values, 'serve')
  const trust: TrustPolicy = pinsOf(values) ?? { ticketSecret: ticketSecret(stateDir, switches.has('new-ticket')) }
  const serving = await createServing(plan, { io, env, clock, log, stateDir, holder: self.holder })
  return serveLoop(context, {
    self,
    listen: values.listen,
    trust,
    serving,
    once: values.serveOnce,
    concurrency: values.concurrency,
    peerSessions: values.peerSessions,
    announce: (found) =>
      announce(context, serving, plan.notices, ticketOf(self.holder.id, values, found, trust.ticketSecret)),
  })
}

function ticketSecret(stateDir: string, renew: boolean): SecretKey {
  return renew ? renewSecret(stateDir, 'ticket.secret') : loadSecret(stateDir, 'ticket.secret')
}

function ticketOf(
  holder: HolderId,
  { advertise }: ChannelValues,
  found: readonly Address[],
  secret: SecretKey | undefined,
): Ticket {
  const addresses = advertise ?? found
  return { holder, addresses, ...(secret === undefined ? {} : { secret }) }
}

async function announce(
  { io, switches, values }: Context,
  { toolNames }: Serving,
  notices: readonly string[],
  ticket: Ticket,
): Promise<void> {
  const text = formatTicket(ticket)
  const addresses = ticket.addresses.map(formatAddress)
  const file = values.get('ticket-file')
  if (file !== undefined) writeSecretFile(file, `${text}\n`, generateInstanceId())
  const shown = file === undefined ? { ticket: text } : {}
  const json = JSON.stringify({ ...shown, holder: ticket.holder, addresses, tools: toolNames })
  if (switches.has('json')) await printLine(io, json)
  else if (file === undefined) await printLine(io, text)
  else notice(io, `ct-agent: the ticket is in ${file}`)
  for (const line of notices) notice(io, `ct-agent: ${line}`)
  notice(io, `ct-agent: serving ${toolNames.join(', ')}`)
  notice(io, `ct-agent: at ${addresses.join(', ')}`)
  notice(
    io,
    ticket.secret === undefined
      ? 'ct-agent: only the keys in CT_CHANNEL_PEER_HOLDER and CT_CHANNEL_PEER_NOISE_KEY may call'
      : 'ct-agent: whoever has the ticket may call; on the other machine: CT_TICKET=… ct-agent tools',
  )
}
