/**
 * The peer of a ticket, for commands that ask something and go.
 *
 * @module
 */
import { parseTicket, type Ticket } from '../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../core/env.ts'
import { holderKey, SecretKey } from '../core/keys.ts'
import { CALL_ENV } from './call-settings.ts'
import { type Caller } from './caller.ts'
import { type Context } from './command.ts'
import { diallingSource } from './link-source.ts'
import { describeSelf, type Keys, keptKeys, readChannel } from './member.ts'
import { withCaller } from './one-call.ts'

/** Connects to the peer of the ticket, asks, and says goodbye whatever came of it. */
export async function withPeer<Result>(
  context: Context,
  ticketText: string,
  ask: (caller: Caller) => Promise<Result>,
): Promise<Result> {
  const { env, clock, stateDir } = context
  const ticket = parseTicket(ticketText)
  const { addresses, holder, secret } = ticket
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const { timeoutSeconds, reconnect } = readEnv(CALL_ENV, env, problems)
  refuseProblems(problems)
  const target = {
    addresses,
    trust: { holders: new Set([holder]) },
    ...(secret === undefined ? {} : { ticketSecret: secret }),
  }
  const options = {
    self: describeSelf(callerKeys(keptKeys(values, stateDir), ticket), values, 'call'),
    connect: (self: Parameters<typeof diallingSource>[0]) => diallingSource(self, target, clock),
    reconnect,
    timeoutMs: timeoutSeconds * 1_000,
    label: 'ct-agent',
  }
  return withCaller(context, options, ask)
}

/** An agent that calls itself, as people do who try both commands on one machine, needs a second key for it. */
function callerKeys(keys: Keys, { holder, secret }: Ticket): Keys {
  const own = holderKey(keys.holder).id === holder
  return own && secret !== undefined ? { ...keys, holder: SecretKey.generate() } : keys
}
