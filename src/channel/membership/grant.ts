/**
 * Grants: an operator lets a holder take part in a channel.
 *
 * Holds: the signed text never had another form, so none but the current one is accepted.
 *
 * @module
 */
import { type ArtefactKind, type OpenOptions, open, type Sealed, type Verified } from '../../core/artefact.ts'
import { isCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { decodePermission, encodePermission, type Permission, permissionText } from './permission.ts'

export interface Grant extends Permission {
  readonly holder: HolderId
}

/** Signed by the operator of the channel. */
export const GRANT: ArtefactKind<Grant> = {
  name: 'channel grant',
  domain: 'bare',
  preimage: (grant) => permissionText('ct-grant:v1', grant, grant.holder),
  validity: ({ expiresAt }) => ({ expiresAt }),
}

export function encodeGrant({ body, signature }: Sealed<Grant>): Uint8Array {
  return encodePermission(body, body.holder, signature)
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function decodeGrant(bytes: Uint8Array): Sealed<Grant> {
  const { permission, key, signature } = decodePermission(bytes, GRANT.name)
  return { body: { ...permission, holder: key }, signature }
}

/** By whom something had to be signed, and when it has to hold. */
export interface OperatorCheck {
  readonly operator: HolderId
  readonly now: UnixSeconds
}

/** @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_ARTEFACT_EXPIRED` */
export function openGrant(
  sealed: Sealed<Grant>,
  { operator, now }: OperatorCheck,
  options: Pick<OpenOptions, 'verifier'> = {},
): Verified<Grant> {
  return open(GRANT, sealed, { ...options, signer: operator, now })
}

/** True when one of the keys signed it, and it is good at that time. */
export function isGrantOf(
  keys: readonly HolderId[],
  sealed: Sealed<Grant>,
  now: UnixSeconds,
  options: Pick<OpenOptions, 'verifier'> = {},
): boolean {
  return keys.some((operator) => {
    try {
      openGrant(sealed, { operator, now }, options)
      return true
    } catch (error) {
      if (isCtError(error)) return false
      throw error
    }
  })
}
