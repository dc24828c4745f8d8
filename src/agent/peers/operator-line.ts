/**
 * The keys of the operator at a peer that this agent is a member at.
 *
 * @module
 */
import { isGrantOf, type OperatorLine, operatorLine, type SignedSuccession } from '../../channel/membership/index.ts'
import { type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { type MemberPeer } from './peer.ts'

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
  return isGrantOf(keys, grant, FIRST_SECOND)
}

/** Whether it has expired is another question. */
const FIRST_SECOND = 0n as UnixSeconds
