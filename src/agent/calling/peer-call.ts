/**
 * The peer of a ticket, for commands that ask something and go.
 *
 * @module
 */
import { parseTicket, type SelfDescription, type Ticket } from '../../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { type HolderId } from '../../core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../core/keys.ts'
import { type Context } from '../command.ts'
import { describeSelf, type Keys, keptKeys, readChannel } from '../member.ts'
import { CALL_ENV } from './call-settings.ts'
import { type Caller } from './caller.ts'
import { diallingSource } from './link-source.ts'
import { withCaller } from './one-call.ts'

/** Who talks to whom. */
export interface Ends {
  /** The peer whom the ticket names, and no other, is at the far end. */
  readonly peer: HolderId
  readonly self: HolderKey
}

/** Connects to the peer of the ticket, asks, and says goodbye whatever came of it. */
export async function withPeer<Result>(
  context: Context,
  ticketText: string,
  ask: (caller: Caller, ends: Ends) => Promise<Result>,
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
  const self = describeSelf(callerKeys(keptKeys(values, stateDir), ticket), values, 'call')
  const options = {
    self,
    connect: (whoever: SelfDescription) => diallingSource(whoever, target, clock),
    reconnect,
    timeoutMs: timeoutSeconds * 1_000,
    label: 'ct-agent',
  }
  return withCaller(context, options, (caller) => ask(caller, { peer: holder, self: self.holder }))
}

/** An agent that calls itself, as people do who try both commands on one machine, needs a second key for it. */
function callerKeys(keys: Keys, { holder, secret }: Ticket): Keys {
  const own = holderKey(keys.holder).id === holder
  return own && secret !== undefined ? { ...keys, holder: SecretKey.generate() } : keys
}
