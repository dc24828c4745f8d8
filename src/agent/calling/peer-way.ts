/**
 * Who calls whom, and what is needed to get there.
 *
 * @module
 */
import {
  type Address,
  type BrokerOptions,
  parseAddress,
  type SelfDescription,
  type Target,
  type Ticket,
} from '../../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { type CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { holderKey } from '../../core/keys.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { type FrontDoor, readFrontDoor, waysTo } from '../front-door.ts'
import { type ChannelValues, describeSelf, keptKeys, readChannel } from '../member.ts'
import { loadSecret } from '../state.ts'
import { tellOfWait } from './broker-wait.ts'
import { CALL_ENV } from './call-settings.ts'
import { type CallerOptions } from './caller.ts'
import { diallingSource } from './link-source.ts'
import { membershipOf } from './ticket-membership.ts'

export interface PeerWay {
  /** Who is at the far end, and nobody else. */
  readonly holder: HolderId
  /** The caller, with what it shows there. */
  readonly self: SelfDescription
  readonly target: Target
  /** Where it can be met at a broker. */
  readonly broker: Omit<BrokerOptions, 'random' | 'onState'> | undefined
  /** What this side shows there is newer than what was refused. */
  readonly mayRetry?: (reason: CtError) => boolean
}

export interface CallSettings {
  readonly values: ChannelValues
  readonly door: FrontDoor
  readonly reconnect: boolean
  readonly timeoutMs: number
}

/** Begins every line for people. */
const LABEL = 'ct-agent'

/** @throws {CtError} `ERR_CONFIG_INVALID` */
export function readCallSettings({ env }: Pick<Context, 'env'>): CallSettings {
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const { timeoutSeconds, reconnect } = readEnv(CALL_ENV, env, problems)
  const door = readFrontDoor(env, problems)
  refuseProblems(problems)
  return { values, door, reconnect, timeoutMs: timeoutSeconds * 1_000 }
}

/**
 * This agent as it calls that peer.
 *
 * An agent that calls itself, as people do who try both sides on one machine, needs a second key for it. It is kept like
 * the first: what was bought with it must be the same buyer's in the next run.
 *
 * @param isSecret the way there is one of those who were asked: nobody had to be told this agent's key
 */
export function describeCaller(
  { stateDir }: Pick<Context, 'stateDir'>,
  { values }: CallSettings,
  peer: HolderId,
  isSecret: boolean,
): SelfDescription {
  const keys = keptKeys(values, stateDir)
  const isItself = holderKey(keys.holder).id === peer && isSecret
  return describeSelf(isItself ? { ...keys, holder: loadSecret(stateDir, 'caller.key') } : keys, values, 'call')
}

/** @param known addresses at which it was before @throws {CtError} as `membershipOf` */
export function ticketWay(
  { addresses, holder, secret, ...ticket }: Ticket,
  caller: SelfDescription,
  now: UnixSeconds,
  known: readonly Address[] = [],
): PeerWay {
  const membership = membershipOf(
    { addresses, holder, ...(secret === undefined ? {} : { secret }), ...ticket },
    caller,
    now,
  )
  const holders = new Set([holder])
  const all = [...known, ...addresses]
  if (membership === undefined) {
    const shown = secret === undefined ? {} : { ticketSecret: secret }
    return { holder, self: caller, target: { addresses: all, trust: { holders }, ...shown }, broker: undefined }
  }
  const { self, trust, broker } = membership
  return { holder, self, target: { addresses: all, trust: { holders, channel: trust } }, broker }
}

/** @param onDirect told where the peer was reached without a relay */
export function callerOptions(
  { io, clock, random }: Pick<Context, 'io' | 'clock' | 'random'>,
  { self, target, broker, mayRetry }: PeerWay,
  { door, reconnect, timeoutMs }: Pick<CallSettings, 'door' | 'reconnect' | 'timeoutMs'>,
  onDirect: (address: Address) => void = () => {},
): CallerOptions {
  const tell = tellOfWait(io, clock, LABEL)
  const onState: BrokerOptions['onState'] = (state) => {
    tell(state)
    const where = state.kind === 'way' && state.way === 'direct' ? addressIn(state.where) : undefined
    if (where !== undefined) onDirect(where)
  }
  return {
    self,
    connect: (whoever) =>
      diallingSource(
        whoever,
        target,
        clock,
        broker && { ...broker, broker: waysTo(broker.broker, door), random, onState },
      ),
    reconnect,
    ...(mayRetry === undefined ? {} : { mayRetry }),
    timeoutMs,
    label: LABEL,
  }
}

/** Of the form `/ip4/203.0.113.5/tcp/4433`. */
function addressIn(multiaddr: string): Address | undefined {
  const [, kind, host = '', port = ''] = /^\/ip([46])\/([^/]+)\/tcp\/(\d+)$/.exec(multiaddr) ?? []
  const parsed = parseAddress(kind === '6' ? `[${host}]:${port}` : `${host}:${port}`)
  return 'value' in parsed ? parsed.value : undefined
}
