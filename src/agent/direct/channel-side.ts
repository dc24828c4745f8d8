/**
 * What `ct-agent channel` is asked to do once it has a session, and over which channel, from its variables.
 *
 * @module
 */
import {
  type Address,
  type BrokerOptions,
  CHANNEL_ENV,
  type SelfDescription,
  type SessionMode,
  type TrustPolicy,
} from '../../channel/index.ts'
import { type SignedSuccession } from '../../channel/membership/index.ts'
import { type Env, type EnvProblem, type EnvValues, missing } from '../../core/env.ts'
import { CALL_ENV, type CallParams } from '../calling/call-settings.ts'
import { type ChannelValues } from '../member.ts'
import { planServing, type ServingPlan } from '../serving/serving-plan.ts'

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

/** What is known of the broker before there is anybody to tell what goes on there. */
export type BrokerPart = Omit<BrokerOptions, 'random' | 'onState' | 'revocations'>

/** How the two members meet. */
export type ChannelPath =
  | { readonly via: 'direct'; readonly address: Address }
  | {
      readonly via: 'broker'
      readonly broker: BrokerPart
      readonly listen: readonly Address[]
      readonly revocationFile: string | undefined
      /** Of the operator’s key, as far as the variables say. */
      readonly successions: readonly SignedSuccession[]
    }

export interface ChannelConfig {
  readonly role: 'initiate' | 'accept'
  readonly path: ChannelPath
  readonly trust: Pick<TrustPolicy, 'holders' | 'noiseKeys' | 'channel'>
  readonly self: SelfDescription
  readonly side: LocalSide
  /** A caller opens a lost session again. */
  readonly reconnect: boolean
  readonly timeoutMs: number
  /** Sentences for the operator at start-up. */
  readonly notices: readonly string[]
}

export function readSide(
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

export function modeOf({ kind }: LocalSide): SessionMode {
  return kind === 'serve' || kind === 'pipe' ? kind : 'call'
}

/** The role has a message of its own that scripts match on. */
export function nameRole(env: Env, role: string | undefined, problems: EnvProblem[]): void {
  if (role !== undefined) return
  const { name, expects } = CHANNEL_ENV.role
  const given = env[name]
  const found = given === undefined ? 'None' : `Some(${JSON.stringify(given)})`
  const message = `${name} must be ${expects}, got ${found}`
  const earlier = problems.findIndex((problem) => problem.name === name)
  if (earlier >= 0) problems.splice(earlier, 1)
  problems.unshift({ name, message })
}
