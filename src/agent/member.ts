/**
 * Who this process is on a channel.
 *
 * @module
 */
import { CHANNEL_ENV, type SelfDescription, type SessionMode, type TrustPolicy } from '../channel/index.ts'
import { type Env, type EnvProblem, type EnvValues, readEnv } from '../core/env.ts'
import { generateInstanceId, holderKey, noiseKey, type SecretKey } from '../core/keys.ts'
import { VERSION } from '../core/version.ts'
import { MAX_IN_FLIGHT } from '../mcp/index.ts'
import { loadSecret } from './state.ts'

export type ChannelValues = EnvValues<typeof CHANNEL_ENV>

export function readChannel(env: Env, problems: EnvProblem[]): ChannelValues {
  return readEnv(CHANNEL_ENV, env, problems)
}

export interface Keys {
  readonly holder: SecretKey
  readonly noise: SecretKey
}

/** Keys from the variables, or the ones this agent keeps. */
export function keptKeys({ holderKey: holder, noiseKey: noise }: ChannelValues, stateDir: string): Keys {
  return {
    holder: holder ?? loadSecret(stateDir, 'holder.key'),
    noise: noise ?? loadSecret(stateDir, 'noise.key'),
  }
}

/** The keys of the peers to trust, where there are any: of every kind that is given, one must fit. */
export function pinsOf({ peerHolders, peerNoiseKeys }: ChannelValues): Pins | undefined {
  if (peerHolders === undefined && peerNoiseKeys === undefined) return undefined
  return {
    ...(peerHolders === undefined ? {} : { holders: new Set(peerHolders) }),
    ...(peerNoiseKeys === undefined ? {} : { noiseKeys: new Set(peerNoiseKeys) }),
  }
}

type Pins = Pick<TrustPolicy, 'holders' | 'noiseKeys'>

export function describeSelf(keys: Keys, values: ChannelValues, mode: SessionMode): SelfDescription {
  const serves = mode === 'serve'
  return {
    holder: holderKey(keys.holder),
    noise: noiseKey(keys.noise),
    run: generateInstanceId(),
    agent: `ct-agent/${VERSION}`,
    mode,
    limits: {
      messageBytes: values.messageBytes,
      inFlight: serves ? MAX_IN_FLIGHT : 0,
      idleSeconds: serves ? values.idleSeconds : 0,
    },
  }
}
