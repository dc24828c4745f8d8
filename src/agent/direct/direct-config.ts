/**
 * What `ct-agent channel` is asked to do, from its variables.
 *
 * @module
 */
import { type Address, CHANNEL_ENV, type SelfDescription, type TrustPolicy } from '../../channel/index.ts'
import { type Env, type EnvProblem, type EnvValues, missing, readEnv, refuseProblems } from '../../core/env.ts'
import { SecretKey } from '../../core/keys.ts'
import { CALL_ENV, type CallParams } from '../calling/call-settings.ts'
import { type ChannelValues, describeSelf, pinsOf, readChannel } from '../member.ts'
import { planServing, type ServingPlan, signs } from '../serving/serving-plan.ts'

/** What this side does once a session is there. */
export type LocalSide =
  | {
      readonly kind: 'serve'
      readonly plan: ServingPlan
      readonly once: boolean
      readonly concurrency: number
      readonly peerSessions: number | undefined
    }
  | { readonly kind: 'call-method'; readonly method: string; readonly params: CallParams }
  | { readonly kind: 'call-once'; readonly slug: string }
  | { readonly kind: 'call-lines'; readonly slug: string }
  | { readonly kind: 'pipe' }

export interface DirectConfig {
  readonly role: 'initiate' | 'accept'
  readonly address: Address
  readonly trust: Pick<TrustPolicy, 'holders' | 'noiseKeys'>
  readonly self: SelfDescription
  readonly side: LocalSide
  /** A caller opens a lost session again. */
  readonly reconnect: boolean
  readonly timeoutMs: number
  /** Sentences for the operator at start-up. */
  readonly notices: readonly string[]
}

/** @throws {CtError} `ERR_CONFIG_INVALID` with every problem at once */
export function readDirectConfig(env: Env): DirectConfig {
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const call = readEnv(CALL_ENV, env, problems)
  const side = readSide(env, values, call, problems)
  const { role, address, noiseKey: noise } = values
  nameRole(env, role, problems)
  requireAll(values, side, problems)
  refuseBrokered(env, problems)
  refuseProblems(problems)
  if (role === undefined || address === undefined || noise === undefined) {
    throw new TypeError('a missing variable is a problem')
  }
  const keys = { noise, holder: values.holderKey ?? SecretKey.generate() }
  return {
    role,
    address,
    trust: pinsOf(values) ?? {},
    self: describeSelf(keys, values, side.kind === 'serve' ? 'serve' : side.kind === 'pipe' ? 'pipe' : 'call'),
    side,
    reconnect: call.reconnect,
    timeoutMs: call.timeoutSeconds * 1_000,
    notices: side.kind === 'serve' ? side.plan.notices : [],
  }
}

function readSide(
  env: Env,
  values: ChannelValues,
  call: EnvValues<typeof CALL_ENV>,
  problems: EnvProblem[],
): LocalSide {
  if (call.service !== undefined) {
    const slug = call.service.trim()
    if (slug === '') problems.push(missing(CALL_ENV.service))
    return call.persistent ? { kind: 'call-lines', slug } : { kind: 'call-once', slug }
  }
  if (call.method !== undefined) return { kind: 'call-method', method: call.method.trim(), params: call.params }
  if (values.serve || values.serveOnce) {
    const { serveOnce: once, concurrency, peerSessions } = values
    return { kind: 'serve', plan: planServing(env, problems), once, concurrency, peerSessions }
  }
  return { kind: 'pipe' }
}

/** The role has a message of its own that scripts match on. */
function nameRole(env: Env, role: string | undefined, problems: EnvProblem[]): void {
  if (role !== undefined) return
  const { name, expects } = CHANNEL_ENV.role
  const given = env[name]
  const found = given === undefined ? 'None' : `Some(${JSON.stringify(given)})`
  const message = `${name} must be ${expects}, got ${found}`
  const earlier = problems.findIndex((problem) => problem.name === name)
  if (earlier >= 0) problems.splice(earlier, 1)
  problems.unshift({ name, message })
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

function refuseBrokered(env: Env, problems: EnvProblem[]): void {
  if ((env['CT_CHANNEL_BROKER'] ?? '').trim() === '') return
  problems.push({
    name: 'CT_CHANNEL_BROKER',
    message: 'CT_CHANNEL_BROKER is set, but this version joins direct channels only: unset it to use CT_CHANNEL_ADDR',
  })
}
