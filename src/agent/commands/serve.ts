/**
 * `ct-agent serve`: serves tools to whoever has the ticket it prints.
 *
 * @module
 */
import {
  type Address,
  formatAddress,
  formatTicket,
  listen,
  type Ticket,
  type TrustPolicy,
} from '../../channel/index.ts'
import { type EnvProblem, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type SecretKey } from '../../core/keys.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { type ChannelValues, describeSelf, keptKeys, readChannel } from '../member.ts'
import { createServing, planServing, type Serving } from '../serving.ts'
import { aborted, watchShutdown } from '../shutdown.ts'
import { loadSecret } from '../state.ts'

export async function serve(context: Context): Promise<number> {
  const { io, env, log, clock, stateDir } = context
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const plan = planServing(env, problems)
  refuseProblems(problems)
  const self = describeSelf(keptKeys(values, stateDir), values, 'serve')
  const trust = trustOf(values, () => loadSecret(stateDir, 'ticket.secret'))
  const serving = createServing(plan, { env, clock, log })
  const shutdown = watchShutdown(io)
  const firstEnded = Promise.withResolvers<void>()
  const listener = await listen({
    self,
    listen: values.listen,
    trust,
    maxSessions: values.serveOnce ? 1 : values.concurrency,
    onSession: (session) => {
      serving.attach(session)
      void session.closed.then(() => firstEnded.resolve())
    },
    clock,
    log,
  })
  const reason = new CtError('ERR_PEER_SHUTDOWN', 'the serving agent is shutting down')
  try {
    await announce(
      context,
      serving,
      plan.notices,
      ticketOf(self.holder.id, values, listener.addresses, trust.ticketSecret),
    )
    await Promise.race([aborted(shutdown.signal), ...(values.serveOnce ? [firstEnded.promise] : [])])
    listener.stopAccepting(reason)
    await serving.drain(context.drainSeconds * 1_000)
    return 0
  } finally {
    await listener.close(reason)
    await serving.close()
    shutdown.dispose()
  }
}

/** Named keys if there are any; without them whoever shows the ticket. */
function trustOf({ peerHolders, peerNoiseKeys }: ChannelValues, secret: () => SecretKey): TrustPolicy {
  if (peerHolders === undefined && peerNoiseKeys === undefined) return { ticketSecret: secret() }
  return {
    ...(peerHolders === undefined ? {} : { holders: new Set(peerHolders) }),
    ...(peerNoiseKeys === undefined ? {} : { noiseKeys: new Set(peerNoiseKeys) }),
  }
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
  { io, switches }: Context,
  { toolNames }: Serving,
  notices: readonly string[],
  ticket: Ticket,
): Promise<void> {
  const text = formatTicket(ticket)
  const addresses = ticket.addresses.map(formatAddress)
  const json = JSON.stringify({ ticket: text, holder: ticket.holder, addresses, tools: toolNames })
  await printLine(io, switches.has('json') ? json : text)
  for (const line of notices) notice(io, `ct-agent: ${line}`)
  notice(io, `ct-agent: serving ${toolNames.join(', ')}`)
  notice(io, `ct-agent: at ${addresses.join(', ')}`)
  notice(
    io,
    ticket.secret === undefined
      ? 'ct-agent: only the keys in CT_CHANNEL_PEER_HOLDER and CT_CHANNEL_PEER_NOISE_KEY may call'
      : 'ct-agent: whoever has the ticket may call; on the other machine: ct-agent tools <ticket>',
  )
}
