/**
 * What a serving agent tells a member of its membership, and the methods by which a member asks.
 *
 * Both sides use this file, so that neither can drift from the other.
 *
 * @module
 */

import {
  decodeGrant,
  decodeStaple,
  decodeSuccession,
  encodeGrant,
  encodeStaple,
  encodeSuccession,
  type Grant,
  MAX_SUCCESSIONS,
  type MembershipStaple,
  type SignedSuccession,
} from '../../channel/membership/index.ts'
import { type Sealed } from '../../core/artefact.ts'
import { fromHex, toHex } from '../../core/bytes.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { printable } from '../../core/printable.ts'

/** `{}` → `{"challenge": 64 hex}`; a new one for each question, good once, on the link that asked. */
export const CHALLENGE_METHOD = 'ct-agent/invitation/challenge'
/**
 * `{"challenge": 64 hex, "signature": 128 hex, "name": text?}` → the membership document. The signature is the invited
 * key's redemption v2 for the caller's own holder key; the name is what the newcomer would like to be called. Redeeming
 * the same invitation again for the same holder yields its membership again.
 */
export const REDEEM_METHOD = 'ct-agent/invitation/redeem'
/** `{}` → the membership document of the member that asks: the grant is a new one when half of its time is over. */
export const MEMBERSHIP_METHOD = 'ct-agent/membership'

export interface MembershipDocument {
  /** The operator's, for the member's own holder key. */
  readonly grant: Sealed<Grant>
  /** Proof of a recent membership, for those who cannot ask the operator. */
  readonly staple: Sealed<MembershipStaple>
  /** What the serving side calls this member. */
  readonly name: string
  /** From the operator's first key to the one that signed, where it is another. */
  readonly successions?: readonly SignedSuccession[]
}

const MAX_NAME_CHARS = 64

export function membershipJson({ grant, staple, name, successions = [] }: MembershipDocument): JsonObject {
  const shown = successions.map((succession) => toHex(encodeSuccession(succession)))
  return {
    grant: toHex(encodeGrant(grant)),
    staple: toHex(encodeStaple(staple)),
    name,
    ...(shown.length === 0 ? {} : { successions: shown }),
  }
}

/** Signatures are the reader's to check. @throws {CtError} `ERR_PROTOCOL` */
export function parseMembership(value: JsonValue | undefined): MembershipDocument {
  if (!isJsonObject(value)) throw malformed('expected an object')
  const { grant, staple, name, successions = [] } = value
  try {
    return {
      grant: decodeGrant(bytesIn(grant, 'grant')),
      staple: decodeStaple(bytesIn(staple, 'staple')),
      name: typeof name === 'string' ? printable(name, MAX_NAME_CHARS) : '',
      successions: readSuccessions(successions),
    }
  } catch (error) {
    if (isCtError(error, 'ERR_ARTEFACT_INVALID')) throw malformed(error.message)
    throw error
  }
}

function readSuccessions(value: JsonValue): readonly SignedSuccession[] {
  if (!Array.isArray(value) || value.length > MAX_SUCCESSIONS) {
    throw malformed(`successions: expected a list of at most ${MAX_SUCCESSIONS}`)
  }
  return value.map((hex: JsonValue) => decodeSuccession(bytesIn(hex, 'successions')))
}

function bytesIn(value: JsonValue | undefined, key: string): Uint8Array {
  const bytes = typeof value === 'string' ? fromHex(value) : { problem: 'expected text' }
  if ('problem' in bytes) throw malformed(`${key}: ${bytes.problem}`)
  return bytes
}

function malformed(problem: string): CtError {
  return new CtError('ERR_PROTOCOL', `malformed membership: ${problem}`)
}
