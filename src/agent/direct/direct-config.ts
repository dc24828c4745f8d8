/**
 * The variables of a channel between two members that know each other's address.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/index.ts'
import { KnownSuccessions } from '../../channel/membership/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type Env, type EnvProblem, missing, readEnv, refuseProblems } from '../../core/env.ts'
import { SecretKey } from '../../core/keys.ts'
import { type Clock, systemClock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { CALL_ENV } from '../calling/call-settings.ts'
import { type ChannelValues, describeSelf, pinsOf, readChannel } from '../member.ts'
import { signs } from '../serving/serving-plan.ts'
import { type ChannelConfig, type LocalSide, modeOf, nameRole, readSide } from './channel-side.ts'
import { followedPins } from './followed-pins.ts'

/** @throws {CtError} `ERR_CONFIG_INVALID` with every problem at once */
export function readDirectConfig(env: Env, clock: Clock = systemClock): ChannelConfig {
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const call = readEnv(CALL_ENV, env, problems)
  const { successions = [] } = readEnv({ successions: BROKERED_ENV.successions }, env, problems)
  const side = readSide(env, values, call, problems)
  const { role, address, noiseKey: noise } = values
  nameRole(env, role, problems)
  requireAll(values, side, problems)
  refuseProblems(problems)
  if (role === undefined || address === undefined || noise === undefined) {
    throw new TypeError('a missing variable is a problem')
  }
  const pins = pinsOf(values) ?? {}
  const keys = { noise, holder: values.holderKey ?? SecretKey.generate() }
  return {
    role,
    path: { via: 'direct', address },
    trust: role === 'initiate' ? followedPins(pins, new KnownSuccessions(), successions, unixSeconds(clock)) : pins,
    self: { ...describeSelf(keys, values, modeOf(side)), successions },
    side,
    reconnect: call.reconnect,
    timeoutMs: call.timeoutSeconds * 1_000,
    notices: side.kind === 'serve' ? side.plan.notices : [],
  }
}

function requireAll(values: ChannelValues, side: LocalSide, problems: EnvProblem[]): void {
  const malformed = new Set(problems.map(({ name }) => name))
  const { address, noiseKey, holderKey, peerNoiseKeys, peerHolders } = CHANNEL_ENV
  if (side.kind === 'serve' && signs(side.plan) && values.holderKey === undefined && !malformed.has(holderKey.name)) {
    problems.push(missing({ ...holderKey, expects: `${holderKey.expects} to sign the card and the offer` }))
  }
  if (values.address === undefined && !malformed.has(address.name)) problems.push(missing(address))
  if (values.noiseKey === undefined && !malformed.has(noiseKey.name)) problems.push(missing(noiseKey))
  if (malformed.has(peerNoiseKeys.name) || malformed.has(peerHolders.name)) return
  if ((values.peerNoiseKeys ?? []).length > 0 || (values.peerHolders ?? []).length > 0) return
  problems.push({
    name: peerNoiseKeys.name,
    message: `${peerNoiseKeys.name} required (${peerNoiseKeys.expects}), or ${peerHolders.name}`,
  })
}
