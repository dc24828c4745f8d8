/**
 * JSON Web Signatures over A2A cards, each `{protected, signature}` of the flattened form without its payload.
 *
 * Holds: a signature counts only when both the JWS library and our strict verification accept it. The key is the one
 * handed in: nothing in a header, neither `kid` nor `jwk`, chooses it. One signature has one spelling, and its header one
 * reading: what JOSE libraries could disagree about is refused.
 *
 * Loads the libraries; import it only where a card is signed or verified.
 *
 * @module
 * @see https://www.rfc-editor.org/rfc/rfc7515#section-7.2.2
 */
import { FlattenedSign, flattenedVerify, importJWK } from 'jose'
import { decodeUtf8 } from '../core/bytes.ts'
import { isCtError } from '../core/errors.ts'
import { type ExactJson, type ExactObject } from '../core/exact-json.ts'
import { type HolderId } from '../core/ids.ts'
import { oneOf, parseAs, type Read, shape, unexpected } from '../core/json-shape.ts'
import { holderKey, type SecretKey, verify } from '../core/keys.ts'
import { canonicalA2aCard } from './a2a-canonical.ts'
import { didKeyUrl, holderJwk } from './did-key.ts'

export interface A2aSignature {
  /** The signed header, in base64url. */
  readonly protected: string
  readonly signature: string
}

/** As it came from somewhere. */
export interface ReceivedSignature extends A2aSignature {
  /** The header that nothing signs. */
  readonly header?: ExactObject | undefined
}

/** Signs the card without its `signatures`. */
export async function signJws(card: ExactObject, secret: SecretKey): Promise<A2aSignature> {
  const { id } = holderKey(secret)
  const jwk = holderJwk(id)
  const key = await importJWK({ ...jwk, d: Buffer.from(secret.reveal()).toString('base64url') }, 'EdDSA')
  const jws = await new FlattenedSign(canonicalA2aCard(card))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JOSE', kid: didKeyUrl(id), jwk })
    .sign(key)
  return { protected: jws.protected ?? '', signature: jws.signature }
}

/** True when the holder signed this card with the signature. */
export async function isSignedBy(holder: HolderId, card: ExactObject, entry: ReceivedSignature): Promise<boolean> {
  const signature = bytesOf(entry.signature)
  if (signature === undefined || !isPlainHeader(entry)) return false
  const payload = Buffer.from(canonicalA2aCard(card)).toString('base64url')
  try {
    const key = await importJWK({ ...holderJwk(holder) }, 'EdDSA')
    const jws = { protected: entry.protected, signature: entry.signature, payload }
    await flattenedVerify(jws, key, { algorithms: ['EdDSA', 'Ed25519'] })
  } catch {
    return false
  }
  return verify(signature, Buffer.from(`${entry.protected}.${payload}`, 'ascii'), Buffer.from(holder, 'hex'))
}

/** True for headers that every library reads alike: no key twice, in neither nor in both, and nothing that changes what is signed. */
function isPlainHeader({ protected: encoded, header = {} }: ReceivedSignature): boolean {
  const json = decodeUtf8(bytesOf(encoded) ?? NOT_UTF8)
  if (json === undefined) return false
  try {
    const signed = parseAs(readHeader, json, 'protected header')
    return Object.keys(header).every((name) => HINTS.has(name) && !Object.hasOwn(signed, name))
  } catch (error) {
    if (isCtError(error)) return false
    throw error
  }
}

const NOT_UTF8 = Uint8Array.of(0xff)

const known = shape({ alg: oneOf({ EdDSA: 'EdDSA', Ed25519: 'Ed25519' }), crit: absent, b64: absent })

const readHeader: Read<ExactObject> = (value, at) => {
  known(value, at)
  return value as ExactObject
}

/** Changes how the rest is read: with RFC 7797, for example, the payload would be signed as it stands. */
function absent(value: ExactJson | undefined, at: string): undefined {
  if (value !== undefined) throw unexpected(at, 'nothing', value)
}

/** What a header may say without a signature: where else to look for the key. None of it is looked at. */
const HINTS: ReadonlySet<string> = new Set(['kid', 'jku', 'jwk', 'x5u', 'x5c', 'x5t', 'x5t#S256', 'typ', 'cty'])

/** Bytes in the one spelling of base64url that they have. */
function bytesOf(encoded: string): Uint8Array | undefined {
  const bytes = Buffer.from(encoded, 'base64url')
  return bytes.toString('base64url') === encoded ? bytes : undefined
}
