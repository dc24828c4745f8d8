/**
 * What a member brings to every session: its keys, its run, and what it says of itself.
 *
 * @module
 */
import { type HolderId, type InstanceId } from '../../core/ids.ts'
import { type HolderKey, type NoiseKey } from '../../core/keys.ts'
import { type Credentials } from '../membership/credentials.ts'
import { MAX_SUCCESSIONS, type SignedSuccession } from '../membership/succession.ts'
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
  /** What is known of keys that took over from others; this member's own are shown in every hello. */
  readonly successions?: readonly SignedSuccession[]
}

/**
 * The hello of this member.
 *
 * @param proof when it shows a ticket
 * @param operatorKeys successions of the operator's key, as far as they are known
 */
export function describe(
  self: SelfDescription,
  proof?: Uint8Array,
  operatorKeys: readonly SignedSuccession[] = [],
): Hello {
  const { run, agent, mode, limits, calls, credentials, successions: given = [] } = self
  const successions = [...operatorKeys, ...lineTo(self.holder.id, given)]
  return {
    version: SESSION_VERSION,
    mode,
    run,
    agent,
    limits,
    ...(calls === undefined ? {} : { calls: calls() }),
    ...(proof === undefined ? {} : { proof }),
    ...(credentials === undefined ? {} : { credentials: credentials() }),
    ...(successions.length === 0 ? {} : { successions }),
  }
}

/** The successions that lead to this key, the oldest first. */
function lineTo(newest: HolderId, successions: readonly SignedSuccession[]): readonly SignedSuccession[] {
  const line: SignedSuccession[] = []
  for (let key = newest; line.length < MAX_SUCCESSIONS; ) {
    const last = successions.find(({ body }) => body.kind === 'holder' && body.to === key)
    if (last === undefined) break
    line.unshift(last)
    key = last.body.from
  }
  return line
}
