/**
 * Membership staples: an operator confirms that a holder was a member a short while ago, for those who cannot ask.
 *
 * @module
 */
import {
  type ArtefactKind,
  isFresh,
  lifetime,
  type OpenOptions,
  open,
  type Sealed,
  seal,
  type Verified,
} from '../../core/artefact.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type SecretKey } from '../../core/keys.ts'
import { Preimage } from '../../core/preimage.ts'
import { type UnixSeconds, u64, unixSeconds } from '../../core/u64.ts'
import { type OperatorCheck } from './grant.ts'
import { decodeSigned, encodeSigned } from './signed-wire.ts'

export interface Member {
  readonly channel: ChannelId
  readonly holder: HolderId
}

export interface MembershipStaple extends Member {
  readonly stapledAt: UnixSeconds
  readonly expiresAt: UnixSeconds
}

/** So long a member that was removed can still pass for one where nobody can be asked. */
export const STAPLE_TTL_SECONDS = u64(3_600)

/** Signed by the operator of the channel. */
export const MEMBERSHIP_STAPLE: ArtefactKind<MembershipStaple> = {
  name: 'membership staple',
  domain: 'framed',
  preimage: ({ channel, holder, stapledAt, expiresAt }, form) =>
    new Preimage('ct-membership-staple-v1', form).id(channel).id(holder).u64(stapledAt).u64(expiresAt).bytes(),
  validity: ({ stapledAt, expiresAt }) => ({ issuedAt: stapledAt, expiresAt }),
}

/** A staple from now on. */
export function sealStaple(
  { channel, holder }: Member,
  operator: SecretKey,
  now: UnixSeconds,
): Verified<MembershipStaple> {
  const { issuedAt, expiresAt } = lifetime(now, STAPLE_TTL_SECONDS)
  return seal(MEMBERSHIP_STAPLE, { channel, holder, stapledAt: issuedAt, expiresAt }, operator)
}

/** A staple whenever one is asked for, signed anew in the last quarter of its life; of whoever has the operator's key. */
export function stapling(
  member: Member,
  operator: SecretKey,
  clock: { readonly now: () => number },
): () => Verified<MembershipStaple> {
  let kept: Verified<MembershipStaple> | undefined
  return () => {
    const now = unixSeconds(clock)
    const { stapledAt: issuedAt = now, expiresAt = now } = kept?.body ?? {}
    if (kept === undefined || !isFresh({ issuedAt, expiresAt }, now)) kept = sealStaple(member, operator, now)
    return kept
  }
}

const REST_BYTES = 16
const EXPIRY_OFFSET = 8

export function encodeStaple({ body, signature }: Sealed<MembershipStaple>): Uint8Array {
  const { channel, holder, stapledAt, expiresAt } = body
  const rest = new Uint8Array(REST_BYTES)
  const view = new DataView(rest.buffer)
  view.setBigUint64(0, stapledAt, true)
  view.setBigUint64(EXPIRY_OFFSET, expiresAt, true)
  return encodeSigned({ signature, channel, key: holder, rest })
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function decodeStaple(bytes: Uint8Array): Sealed<MembershipStaple> {
  const { signature, channel, key, rest } = decodeSigned(bytes, REST_BYTES, MEMBERSHIP_STAPLE.name)
  const view = new DataView(rest.buffer)
  const stapledAt = u64(view.getBigUint64(0, true))
  const expiresAt = u64(view.getBigUint64(EXPIRY_OFFSET, true))
  return { body: { channel, holder: key, stapledAt, expiresAt }, signature }
}

/** @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_ARTEFACT_EXPIRED`, `ERR_ARTEFACT_EARLY` */
export function openStaple(
  sealed: Sealed<MembershipStaple>,
  { operator, now, skewSeconds }: OperatorCheck & Pick<OpenOptions, 'skewSeconds'>,
): Verified<MembershipStaple> {
  return open(MEMBERSHIP_STAPLE, sealed, {
    signer: operator,
    now,
    ...(skewSeconds === undefined ? {} : { skewSeconds }),
  })
}
