/**
 * Whether what leads to the peer is still good. Pure.
 *
 * @module
 */
import { type Ticket } from '../../channel/index.ts'
import { openGrant, signedByOneOf } from '../../channel/membership/index.ts'
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { verifyExactly } from '../../core/keys.ts'
import { SECONDS_PER_DAY } from '../../core/time.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { signersOf } from '../calling/ticket-membership.ts'
import { type MemberPeer } from '../peers/peer.ts'
import { type Finding, found } from './catalogue.ts'
import { type NamedSubject } from './subject.ts'

export interface OwnFacts {
  readonly now: UnixSeconds
  /** The holder key of this agent; undefined while it has none. */
  readonly holder: HolderId | undefined
}

export function checkTicket(named: NamedSubject | CtError | undefined, own: OwnFacts): Finding {
  if (named === undefined) return found('ticket.skipped', 'no peer was named')
  if (named instanceof CtError) {
    const code = named.code === 'ERR_PEER_UNKNOWN' ? 'ticket.unknown_peer' : 'ticket.invalid'
    return found(code, named.message, named.code)
  }
  const { ticket, peer } = named
  if (peer?.kind === 'member') return checkMembership(peer, own)
  return ticket === undefined ? found('ticket.skipped', 'no ticket is needed') : checkGiven(ticket, own)
}

function checkMembership({ grant, holder }: MemberPeer, own: OwnFacts): Finding {
  const { holder: member, expiresAt } = grant.body
  if (own.holder !== undefined && member !== own.holder) {
    const keys = `${shortId(member)}…, and this agent has ${shortId(own.holder)}…`
    return found('ticket.not_ours', `the membership is one of the holder key ${keys}`, 'ERR_GRANT_INVALID')
  }
  return expiresAt <= own.now
    ? found('ticket.expired', `the membership ended at ${shownTime(expiresAt)}`, 'ERR_GRANT_EXPIRED')
    : found('ticket.ok', `a member of ${shortId(holder)}… until ${shownTime(expiresAt)}, and renewed before`)
}

function checkGiven({ holder, rendezvous }: Ticket, { now }: OwnFacts): Finding {
  const to = `leads to ${shortId(holder)}…`
  if (rendezvous === undefined) return found('ticket.ok', `${to} directly, with no end`)
  const { grant, isInvitation } = rendezvous
  const { expiresAt } = grant.body
  const until = shownTime(expiresAt)
  try {
    signedByOneOf(signersOf(rendezvous, now), (operator) =>
      openGrant(grant, { operator, now }, { verifier: verifyExactly }),
    )
  } catch (error) {
    const { message, code } = toCtError(error)
    if (!isCtError(error, 'ERR_ARTEFACT_EXPIRED')) return found('ticket.invalid', message, code)
    const what = isInvitation === true ? 'the invitation' : 'the ticket'
    return found(
      'ticket.expired',
      `${what} ended at ${until}`,
      isInvitation ? 'ERR_INVITATION_EXPIRED' : 'ERR_GRANT_EXPIRED',
    )
  }
  if (isInvitation === true) {
    return found(
      'ticket.invitation',
      `${to} until ${until}; it is an invitation, and stays unused: ct-agent join redeems it`,
    )
  }
  return expiresAt <= now + BigInt(SECONDS_PER_DAY)
    ? found('ticket.ends_soon', `${to}, and ends at ${until}`)
    : found('ticket.ok', `${to} until ${until}`)
}
