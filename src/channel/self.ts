/**
 * What a member brings to every session: its keys, its run, and what it says of itself.
 *
 * @module
 */
import { type InstanceId } from '../core/ids.ts'
import { type HolderKey, type NoiseKey } from '../core/keys.ts'
import { type Hello, SESSION_VERSION, type SessionLimits, type SessionMode } from './hello.ts'

export interface SelfDescription {
  readonly holder: HolderKey
  readonly noise: NoiseKey
  readonly run: InstanceId
  /** Program and version. */
  readonly agent: string
  readonly mode: SessionMode
  readonly limits: SessionLimits
}

/** The hello of this member; with a proof when it shows a ticket. */
export function describe({ run, agent, mode, limits }: SelfDescription, proof?: Uint8Array): Hello {
  return { version: SESSION_VERSION, mode, run, agent, limits, ...(proof === undefined ? {} : { proof }) }
}
