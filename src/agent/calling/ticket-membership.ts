/**
 * Membership by ticket: the secret in it is the seed of the key that was invited, which grants the caller's own key all
 * that it may do itself.
 *
 * @module
 */
import {
  type BrokerOptions,
  type ChannelTrust,
  type Rendezvous,
  type SelfDescription,
  type Ticket,
} from '../../channel/index.ts'
import {
  attestNoiseKey,
  checkCredentials,
  type Grant,
  openGrant,
  operatorLine,
  passOn,
  signedByOneOf,
} from '../../channel/membership/index.ts'
import { type Verified } from '../../core/artefact.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { verifyExactly } from '../../core/keys.ts'
import { type UnixSeconds } from '../../core/u64.ts'

export interface TicketMembership {
  /** The caller, with what it shows. */
  readonly self: SelfDescription
  /** The serving side shows that it belongs to the same channel. */
  readonly trust: ChannelTrust
  readonly broker: Omit<BrokerOptions, 'random' | 'onState'>
}

/**
 * Nothing for a ticket without a broker.
 *
 * @throws {CtError} `ERR_GRANT_EXPIRED`, `ERR_INVITATION_EXPIRED`, `ERR_TICKET_INVALID` when what is in the ticket does not belong together
 */
export function membershipOf(
  { holder: wants, secret, rendezvous }: Ticket,
  self: SelfDescription,
  now: UnixSeconds,
): TicketMembership | undefined {
  if (rendezvous === undefined || secret === undefined) return undefined
  const { broker, operator, successions = [] } = rendezvous
  const grant = openTicketGrant(rendezvous, now)
  const { channel } = grant.body
  const credentials = {
    grants: [grant, passOn(grant, secret, self.holder.id)],
    attestation: attestNoiseKey(channel, self),
  }
  const member = { holder: self.holder.id, noiseKeys: new Set([self.noise.id]) }
  const verdict = checkCredentials(credentials, member, {
    operator,
    operators: signersOf(rendezvous, now),
    channel,
    side: 'initiate',
    now,
  })
  if (verdict instanceof CtError) throw useless(verdict)
  return {
    self: { ...self, credentials: () => credentials, successions },
    trust: { operator, channel },
    broker: { broker, relay: [], operator, channel, relayOnly: false, wants },
  }
}

/** The keys that may have signed the grant of a ticket. */
export function signersOf({ operator, successions = [], grant }: Rendezvous, now: UnixSeconds): readonly HolderId[] {
  return operatorLine({ operator, channel: grant.body.channel, now }, successions).standing
}

function openTicketGrant(rendezvous: Rendezvous, now: UnixSeconds): Verified<Grant> {
  const { grant, isInvitation } = rendezvous
  const open = (operator: HolderId) => openGrant(grant, { operator, now }, { verifier: verifyExactly })
  try {
    return signedByOneOf(signersOf(rendezvous, now), open)
  } catch (error) {
    if (isCtError(error, 'ERR_ARTEFACT_EXPIRED')) {
      if (isInvitation === true)
        throw new CtError('ERR_INVITATION_EXPIRED', 'the invitation has expired', { cause: error })
      const message = 'the ticket is no longer good: ask the serving side for the one it prints now'
      throw new CtError('ERR_GRANT_EXPIRED', message, { cause: error })
    }
    throw isCtError(error) ? useless(error) : error
  }
}

function useless(cause: CtError): CtError {
  return new CtError('ERR_TICKET_INVALID', `not a usable ticket: ${cause.message}`, { cause })
}
