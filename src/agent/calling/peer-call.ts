/**
 * The peer of a ticket, for commands that ask something and go.
 *
 * @module
 */
import { parseTicket, type SelfDescription, type Target, type Ticket } from '../../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { type HolderId } from '../../core/ids.ts'
import { type HolderKey, holderKey } from '../../core/keys.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { describeSelf, type Keys, keptKeys, readChannel } from '../member.ts'
import { loadSecret } from '../state.ts'
import { tellOfWait } from './broker-wait.ts'
import { CALL_ENV } from './call-settings.ts'
import { type Caller } from './caller.ts'
import { diallingSource } from './link-source.ts'
import { withCaller } from './one-call.ts'
import { membershipOf } from './ticket-membership.ts'

/** Who talks to whom. */
export interface Ends {
  /** The peer whom the ticket names, and no other, is at the far end. */
  readonly peer: HolderId
  readonly self: HolderKey
  /** Aborts when SIGINT or SIGTERM comes, which also ends all calls. */
  readonly signal: AbortSignal
}

/** Begins every line for people. */
const LABEL = 'ct-agent'

/** Connects to the peer of the ticket, asks, and says goodbye whatever came of it. */
export async function withPeer<Result>(
  context: Context,
  ticketText: string,
  ask: (caller: Caller, ends: Ends) => Promise<Result>,
): Promise<Result> {
  const { io, env, clock, random, stateDir } = context
  const ticket = parseTicket(ticketText)
  const { addresses, holder, secret } = ticket
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const { timeoutSeconds, reconnect } = readEnv(CALL_ENV, env, problems)
  refuseProblems(problems)
  const caller = describeSelf(callerKeys(keptKeys(values, stateDir), ticket, stateDir), values, 'call')
  const membership = membershipOf(ticket, caller, unixSeconds(clock))
  const holders = new Set([holder])
  const target: Target =
    membership === undefined
      ? { addresses, trust: { holders }, ...(secret === undefined ? {} : { ticketSecret: secret }) }
      : { addresses, trust: { holders, channel: membership.trust } }
  const broker = membership && { ...membership.broker, random, onState: tellOfWait(io, clock, LABEL) }
  const self = membership?.self ?? caller
  const options = {
    self,
    connect: (whoever: SelfDescription) => diallingSource(whoever, target, clock, broker),
    reconnect,
    timeoutMs: timeoutSeconds * 1_000,
    label: LABEL,
  }
  return withCaller(context, options, (asking, signal) => ask(asking, { peer: holder, self: self.holder, signal }))
}

/**
 * An agent that calls itself, as people do who try both sides on one machine, needs a second key for it. It is kept like
 * the first: what was bought with it must be the same buyer's in the next run.
 */
function callerKeys(keys: Keys, { holder, secret }: Ticket, stateDir: string): Keys {
  const own = holderKey(keys.holder).id === holder
  return own && secret !== undefined ? { ...keys, holder: loadSecret(stateDir, 'caller.key') } : keys
}
