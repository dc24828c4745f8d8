/**
 * The keys of the operator at a peer: the one that was known when this agent joined, and those that took over from it.
 *
 * @module
 */
import { KnownSuccessions, openGrant, type SignedSuccession } from '../../channel/membership/index.ts'
import { isCtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { type MemberPeer } from './peer.ts'

export interface OperatorLine {
  /** Whose signatures count now, the newest first. */
  readonly standing: readonly HolderId[]
  /** From the key that is known to the newest. */
  readonly successions: readonly SignedSuccession[]
}

/** @param shown in the order of trust: what comes first cannot be pushed aside by what comes later */
export function operatorLine(
  { operator, channel, now }: { readonly operator: HolderId; readonly channel: ChannelId; readonly now: UnixSeconds },
  ...shown: readonly (readonly SignedSuccession[])[]
): OperatorLine {
  const known = new KnownSuccessions(channel)
  for (const some of shown) known.learn(operator, 'operator', some, now)
  return { standing: known.standFor(operator, 'operator', now), successions: known.from(operator, 'operator') }
}

/** The line of a peer that this agent is a member at. */
export function lineOf(
  { operator, grant, successions }: Pick<MemberPeer, 'operator' | 'grant' | 'successions'>,
  now: UnixSeconds,
  shown: readonly SignedSuccession[] = [],
): OperatorLine {
  return operatorLine({ operator, channel: grant.body.channel, now }, successions, shown)
}

/** True when one of the keys signed the grant of the peer. */
export function isSignedBy({ grant }: Pick<MemberPeer, 'grant'>, keys: readonly HolderId[]): boolean {
  return keys.some((operator) => {
    try {
      openGrant(grant, { operator, now: FIRST_SECOND })
      return true
    } catch (error) {
      if (isCtError(error)) return false
      throw error
    }
  })
}

/** Whether it has expired is another question. */
const FIRST_SECOND = 0n as UnixSeconds
