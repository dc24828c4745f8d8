/**
 * Credentials as they stand in a hello: `grants`, a list of byte strings, `att`, the signature of the attestation, and
 * `staple`, where there is one.
 *
 * @module
 */
import { fromHex, toHex } from '../../core/bytes.ts'
import { isCtError } from '../../core/errors.ts'
import { SIGNATURE_BYTES, type Signature } from '../../core/ids.ts'
import { type Credentials, MAX_GRANTS, refusal } from '../membership/credentials.ts'
import { decodeGrant, encodeGrant } from '../membership/grant.ts'
import { decodeStaple, encodeStaple } from '../membership/staple.ts'

export interface CredentialFields {
  readonly grants: readonly Uint8Array[]
  readonly att: Uint8Array
  readonly staple?: Uint8Array
}

export function credentialFields({ grants, attestation, staple }: Credentials): CredentialFields {
  const att = fromHex(attestation)
  if ('problem' in att) throw new RangeError(`expected a signature, found ${att.problem}`)
  return { grants: grants.map(encodeGrant), att, ...(staple === undefined ? {} : { staple: encodeStaple(staple) }) }
}

/**
 * `undefined` when there are none; they are read, not checked.
 *
 * @throws {CtError} `ERR_GRANT_INVALID` of the category `malformed`
 */
export function parseCredentials(grants: unknown, att: unknown, staple?: unknown): Credentials | undefined {
  if (grants === undefined && att === undefined) return undefined
  if (!Array.isArray(grants) || grants.length === 0 || grants.length > MAX_GRANTS) {
    throw refusal('malformed', `expected a list of 1 to ${MAX_GRANTS} grants`)
  }
  if (!(att instanceof Uint8Array && att.length === SIGNATURE_BYTES)) {
    throw refusal('malformed', `expected an attestation of ${SIGNATURE_BYTES} bytes`)
  }
  return {
    grants: grants.map(parseGrant),
    attestation: toHex(att) as Signature,
    ...(staple === undefined ? {} : { staple: parseStaple(staple) }),
  }
}

function parseGrant(bytes: unknown): Credentials['grants'][number] {
  return wellFormed(() => decodeGrant(bytes instanceof Uint8Array ? bytes : NO_BYTES))
}

function parseStaple(bytes: unknown): NonNullable<Credentials['staple']> {
  return wellFormed(() => decodeStaple(bytes instanceof Uint8Array ? bytes : NO_BYTES))
}

/** What is decoded, or why it is none. @throws {CtError} `ERR_GRANT_INVALID` of the category `malformed` */
export function wellFormed<Value>(decode: () => Value): Value {
  try {
    return decode()
  } catch (error) {
    throw isCtError(error) ? refusal('malformed', error.message) : error
  }
}

const NO_BYTES = new Uint8Array(0)
