/**
 * JSON Web Signatures over A2A cards, each `{protected, signature}` of the flattened form without its payload.
 *
 * Holds: a signature counts only when both the JWS library and our strict verification accept it. The key is the one
 * handed in: nothing in a header, neither `kid` nor `jwk`, chooses it. One signature has one spelling.
 *
 * Loads the libraries; import it only where a card is signed or verified.
 *
 * @module
 * @see https://www.rfc-editor.org/rfc/rfc7515#section-7.2.2
 */
import { FlattenedSign, flattenedVerify, importJWK } from 'jose'
import { type ExactObject } from '../core/exact-json.ts'
import { type HolderId } from '../core/ids.ts'
import { holderKey, type SecretKey, verify } from '../core/keys.ts'
import { canonicalA2aCard } from './a2a-canonical.ts'
import { didKeyUrl, holderJwk } from './did-key.ts'

export interface A2aSignature {
  /** The signed header, in base64url. */
  readonly protected: string
  readonly signature: string
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
export async function isSignedBy(holder: HolderId, card: ExactObject, entry: A2aSignature): Promise<boolean> {
  const signature = Buffer.from(entry.signature, 'base64url')
  if (signature.toString('base64url') !== entry.signature) return false
  const payload = Buffer.from(canonicalA2aCard(card)).toString('base64url')
  try {
    const key = await importJWK({ ...holderJwk(holder) }, 'EdDSA')
    await flattenedVerify({ ...entry, payload }, key, { algorithms: ['EdDSA', 'Ed25519'] })
  } catch {
    return false
  }
  return verify(signature, Buffer.from(`${entry.protected}.${payload}`, 'ascii'), Buffer.from(holder, 'hex'))
}
