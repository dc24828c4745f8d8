/**
 * The key that a command signs with: the holder's, from its variable or the one that this agent keeps.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/config.ts'
import { type Env, type EnvProblem, readEnv } from '../../core/env.ts'
import { type HolderKey, holderKey, type SecretKey } from '../../core/keys.ts'
import { loadSecret } from '../state.ts'

export function readSigner(env: Env, problems: EnvProblem[]): SecretKey | undefined {
  return readEnv({ holderKey: CHANNEL_ENV.holderKey }, env, problems).holderKey
}

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function signerOf(given: SecretKey | undefined, stateDir: string): HolderKey {
  return holderKey(given ?? loadSecret(stateDir, 'holder.key'))
}
