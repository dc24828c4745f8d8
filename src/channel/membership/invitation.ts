/**
 * Invitations: an operator asks an identity into a channel, which redeems that for membership of a holder key.
 *
 * Holds: a redemption is checked against an invitation that was checked, so it cannot be one for another channel or
 * identity; and one that had to answer a challenge is not accepted without it.
 *
 * @module
 */
import { type ArtefactKind, open, type Sealed, type Verified } from '../../core/artefact.ts'
import { type ChannelId, type HolderId, type Signature } from '../../core/ids.ts'
import { Preimage } from '../../core/preimage.ts'
import { U64_MAX } from '../../core/u64.ts'
import { type OperatorCheck } from './grant.ts'
import { decodePermission, encodePermission, type Permission, permissionText } from './permission.ts'

export interface Invitation extends Permission {
  /** Identity key of the invited; the holder key of the member is another one. */
  readonly invitee: HolderId
}

/** Signed by the operator of the channel. */
export const INVITATION: ArtefactKind<Invitation> = {
  name: 'channel invitation',
  domain: 'bare',
  preimage: (invitation) => permissionText('ct-chan-invite:v1', invitation, invitation.invitee),
  validity: ({ expiresAt }) => ({ expiresAt }),
}

export function encodeInvitation({ body, signature }: Sealed<Invitation>): Uint8Array {
  return encodePermission(body, body.invitee, signature)
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function decodeInvitation(bytes: Uint8Array): Sealed<Invitation> {
  const { permission, key, signature } = decodePermission(bytes, INVITATION.name)
  return { body: { ...permission, invitee: key }, signature }
}

/** @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_ARTEFACT_EXPIRED` */
export function openInvitation(sealed: Sealed<Invitation>, { operator, now }: OperatorCheck): Verified<Invitation> {
  return open(INVITATION, sealed, { signer: operator, now })
}

export interface Redemption {
  readonly channel: ChannelId
  readonly invitee: HolderId
  /** Who becomes a member. */
  readonly holder: HolderId
  /** 32 bytes chosen by whoever redeems the invitation, which make the redemption good for one time. */
  readonly challenge?: Uint8Array
}

const CHALLENGE_BYTES = 32

/** Signed by the invited identity. It carries no time: the invitation and the challenge do. */
export const REDEMPTION: ArtefactKind<Redemption> = {
  name: 'invitation redemption',
  domain: 'bare',
  preimage: ({ channel, invitee, holder, challenge }, form) => {
    const domain = challenge === undefined ? 'ct-chan-invite-redeem-v1' : 'ct-chan-invite-redeem-v2-chal'
    const preimage = new Preimage(domain, form).id(channel).id(invitee).id(holder)
    return (challenge === undefined ? preimage : preimage.fixed(challenge, CHALLENGE_BYTES)).bytes()
  },
  validity: () => ({}),
}

/** What the invited sign to make `holder` a member. */
export function redemptionOf(
  { body: { channel, invitee } }: Sealed<Invitation>,
  holder: HolderId,
  challenge?: Uint8Array,
): Redemption {
  return { channel, invitee, holder, ...(challenge === undefined ? {} : { challenge }) }
}

/** What of a redemption is not known from its invitation. */
export interface RedemptionClaim {
  readonly holder: HolderId
  readonly signature: Signature
}

/**
 * @param challenge the one that was given out; none where redemptions answer none
 * @throws {CtError} `ERR_SIGNATURE_INVALID`
 */
export function openRedemption(
  { holder, signature }: RedemptionClaim,
  invitation: Verified<Invitation>,
  challenge?: Uint8Array,
): Verified<Redemption> {
  const body = redemptionOf(invitation, holder, challenge)
  return open(REDEMPTION, { body, signature }, { signer: body.invitee, now: U64_MAX })
}
