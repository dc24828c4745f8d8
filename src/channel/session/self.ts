/**
 * What a member brings to every session: its keys, its run, and what it says of itself.
 *
 * @module
 */
import { type InstanceId } from '../../core/ids.ts'
import { type HolderKey, type NoiseKey } from '../../core/keys.ts'
import { type Credentials } from '../membership/credentials.ts'
import { type Hello, SESSION_VERSION, type SessionLimits, type SessionMode, type TaggedCalls } from './hello.ts'

export interface SelfDescription {
  readonly holder: HolderKey
  readonly noise: NoiseKey
  readonly run: InstanceId
  /** Program and version. */
  readonly agent: string
  readonly mode: SessionMode
  readonly limits: SessionLimits
  /** Asked at every session, by callers whose calls carry tags. */
  readonly calls?: () => TaggedCalls
  /** Shown in every hello to be admitted to a channel; asked each time, for grants are renewed. */
  readonly credentials?: () => Credentials
}

/** The hello of this member; with a proof when it shows a ticket. */
export function describe(self: SelfDescription, proof?: Uint8Array): Hello {
  const { run, agent, mode, limits, calls, credentials } = self
  return {
    version: SESSION_VERSION,
    mode,
    run,
    agent,
    limits,
    ...(calls === undefined ? {} : { calls: calls() }),
    ...(proof === undefined ? {} : { proof }),
    ...(credentials === undefined ? {} : { credentials: credentials() }),
  }
}
