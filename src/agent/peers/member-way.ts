/**
 * The way to a peer that made this agent a member.
 *
 * Holds: everything in it comes from the invitation or from the peer itself, so it leads there while the broker is down.
 *
 * @module
 */
import { type SelfDescription } from '../../channel/index.ts'
import { type KnownRevocations } from '../../channel/membership/index.ts'
import { CtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { type PeerWay } from '../calling/peer-way.ts'
import { type Membership } from './membership.ts'
import { isSignedBy, lineOf } from './operator-line.ts'

/**
 * @param revocations what is known of the channel, for whoever wants to see what the peer shows
 * @throws {CtError} `ERR_GRANT_EXPIRED`, `ERR_GRANT_INVALID` when the membership is one of another key
 */
export function memberWay(
  membership: Membership,
  caller: SelfDescription,
  now: UnixSeconds,
  revocations?: KnownRevocations,
): PeerWay {
  const { name, peer } = membership
  const { holder, operator, broker, proven, addresses, successions } = peer
  const { channel, holder: member, expiresAt } = peer.grant.body
  if (member !== caller.holder.id) {
    throw new CtError(
      'ERR_GRANT_INVALID',
      `the membership at ${name} is one of the holder key ${shortId(member)}…, and this agent has ${shortId(caller.holder.id)}…`,
    )
  }
  if (expiresAt <= now) {
    const message = `the membership at ${name} ended at ${shownTime(expiresAt)}: ask there for a new invitation`
    throw new CtError('ERR_GRANT_EXPIRED', message)
  }
  if (!isSignedBy(peer, lineOf(peer, now).standing)) {
    const message = `the operator at ${name} has changed its key, and the membership of before no longer counts: ask there for a new invitation`
    throw new CtError('ERR_GRANT_EXPIRED', message)
  }
  const known = revocations === undefined ? {} : { revocations }
  return {
    holder,
    self: { ...caller, credentials: membership.credentials(caller), successions },
    target: {
      addresses: [...proven, ...addresses],
      trust: { holders: new Set([holder]), channel: { operator, channel } },
    },
    broker:
      broker.length === 0
        ? undefined
        : { broker, relay: [], operator, channel, relayOnly: false, wants: holder, ...known },
  }
}
