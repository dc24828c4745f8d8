/**
 * The variables of a channel whose members meet at a broker.
 *
 * Holds: what the broker or the peer would refuse for sure is found here, before anybody is asked.
 *
 * @module
 */

import { MEMBER_ENV } from '../../channel/config.ts'
import { type BrokerPlace, CHANNEL_ENV } from '../../channel/index.ts'
import {
  allows,
  attestNoiseKey,
  checkCredentials,
  type Grant,
  KnownSuccessions,
} from '../../channel/membership/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type Sealed } from '../../core/artefact.ts'
import { type Env, type EnvProblem, type EnvValues, missing, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId, shortId } from '../../core/ids.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { CALL_ENV } from '../calling/call-settings.ts'
import { allowed, type FrontDoor, frontDoorOf, waysTo } from '../front-door.ts'
import { type ChannelValues, describeSelf, keptKeys, pinsOf, readChannel } from '../member.ts'
import { type BrokerPart, type ChannelConfig, modeOf, nameRole, readSide } from './channel-side.ts'
import { followedPins } from './followed-pins.ts'

type BrokeredValues = EnvValues<typeof BROKERED_ENV>

export interface BrokeredDeps {
  readonly clock: Clock
  readonly stateDir: string
}

/** @throws {CtError} `ERR_CONFIG_INVALID` with every problem at once, `ERR_GRANT_INVALID`, `ERR_GRANT_EXPIRED` */
export function readBrokeredConfig(env: Env, { clock, stateDir }: BrokeredDeps): ChannelConfig {
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const brokered = readEnv(BROKERED_ENV, env, problems)
  const { operator } = readEnv({ operator: MEMBER_ENV.operator }, env, problems)
  const call = readEnv(CALL_ENV, env, problems)
  const side = readSide(env, values, call, problems)
  const { role } = values
  const { grant } = brokered
  const door = frontDoorOf(brokered, problems)
  nameRole(env, role, problems)
  requireAll({ [BROKERED_ENV.grant.name]: grant, [MEMBER_ENV.operator.name]: operator }, problems)
  const listen = listenOf(env, values, brokered, problems)
  refuseProblems(problems)
  const own = grant?.at(-1)
  const broker = waysTo(brokered.broker ?? [], door)
  if (role === undefined || grant === undefined || own === undefined || operator === undefined) {
    throw new TypeError('a missing variable is a problem')
  }
  const keys = keptKeys(values, stateDir)
  const self = describeSelf(keys, values, modeOf(side))
  const { channel } = own.body
  checkGrant(own, { role, holder: self.holder, isGiven: values.holderKey !== undefined })
  const credentials = { grants: grant, attestation: attestNoiseKey(channel, self) }
  const member = { holder: self.holder.id, noiseKeys: new Set([self.noise.id]) }
  const now = unixSeconds(clock)
  const { successions = [] } = brokered
  const pins = pinsOf(values)
  const known = new KnownSuccessions(channel)
  known.learn(operator, 'operator', successions, now)
  const operators = known.standFor(operator, 'operator', now)
  const rule = { operator, operators, channel, side: role, now }
  const verdict = checkCredentials(credentials, member, rule)
  if (verdict instanceof CtError) throw aboutGrant(verdict)
  return {
    role,
    path: {
      via: 'broker',
      listen,
      broker: brokerPart(values, brokered, { operator, channel, broker, door, listen }),
      revocationFile: brokered.revocations,
      successions,
    },
    trust: {
      ...(role === 'initiate' ? followedPins(pins, known, successions, now) : pins),
      channel: { operator, channel },
    },
    self: { ...self, credentials: () => credentials, successions },
    side,
    reconnect: call.reconnect,
    timeoutMs: call.timeoutSeconds * 1_000,
    notices: side.kind === 'serve' ? side.plan.notices : [],
  }
}

interface Meeting {
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly broker: readonly BrokerPlace[]
  readonly door: FrontDoor
  readonly listen: readonly unknown[]
}

function brokerPart(
  { advertise, peerHolders }: ChannelValues,
  { relay: given = [], relayOnly }: BrokeredValues,
  { operator, channel, broker, door, listen }: Meeting,
): BrokerPart {
  const [wants, ...more] = peerHolders ?? []
  const relay = allowed(given, door)
  return {
    broker,
    // A relay that is the broker needs no connection of its own.
    relay: relay.every((place) => broker.some((other) => isSamePlace(place, other))) ? [] : relay,
    operator,
    channel,
    advertise,
    relayOnly: relayOnly || listen.length === 0,
    punches: !relayOnly,
    wants: more.length === 0 ? wants : undefined,
  }
}

function isSamePlace(one: BrokerPlace, other: BrokerPlace): boolean {
  return one.host === other.host && one.port === other.port && one.transport === other.transport
}

/** Where to listen: nowhere unless it was said where, for the relay is always a way. */
function listenOf(
  env: Env,
  { role, listen, advertise }: ChannelValues,
  { relayOnly }: BrokeredValues,
  problems: EnvProblem[],
) {
  if (role !== 'accept' || relayOnly) return []
  if ((env[CHANNEL_ENV.listen.name] ?? '').trim() !== '') return listen
  if (advertise !== undefined) {
    problems.push({
      name: CHANNEL_ENV.listen.name,
      message: `${CHANNEL_ENV.listen.name} required (advertised host:port) — or set ${BROKERED_ENV.relayOnly.name}=1 for a relay-only member with no dialable address`,
    })
  }
  return []
}

function requireAll(values: Readonly<Record<string, unknown>>, problems: EnvProblem[]): void {
  const malformed = new Set(problems.map(({ name }) => name))
  for (const row of [BROKERED_ENV.grant, MEMBER_ENV.operator]) {
    if (values[row.name] === undefined && !malformed.has(row.name)) problems.push(missing(row))
  }
}

interface Owner {
  readonly role: ChannelConfig['role']
  readonly holder: HolderKey
  /** The holder key comes from its variable. */
  readonly isGiven: boolean
}

function checkGrant({ body }: Sealed<Grant>, { role, holder, isGiven }: Owner): void {
  const { grant } = BROKERED_ENV
  if (body.holder !== holder.id) {
    const { name, expects } = CHANNEL_ENV.holderKey
    const [wanted, found] = [shortId(body.holder), shortId(holder.id)]
    throw new CtError(
      'ERR_GRANT_INVALID',
      isGiven
        ? `${grant.name} is for the holder key ${wanted}…, and ${name} is the key of ${found}…`
        : `${name} required (${expects}): ${grant.name} is for the holder key ${wanted}…, and the kept key is that of ${found}…`,
      { detail: { category: 'possession' } },
    )
  }
  if (!allows(body.direction, role)) {
    throw new CtError(
      'ERR_GRANT_INVALID',
      `${grant.name} allows to ${body.direction}, and ${CHANNEL_ENV.role.name} is ${role}`,
      { detail: { category: 'pairing' } },
    )
  }
}

function aboutGrant({ code, message, detail }: CtError): CtError {
  const hint =
    detail['category'] === 'grant-verify' && /signature/.test(message)
      ? `, or ${MEMBER_ENV.operator.name} is not the operator that signed it`
      : ''
  return new CtError(code, `${BROKERED_ENV.grant.name}: ${message}${hint}`, { detail })
}
