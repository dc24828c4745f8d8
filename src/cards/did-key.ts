/**
 * A holder's public key as others write it.
 *
 * @module
 */
import { base58btc } from 'multiformats/bases/base58'
import { type HolderId } from '../core/ids.ts'

/** A public key for JOSE libraries. @see https://www.rfc-editor.org/rfc/rfc8037#section-2 */
export interface PublicJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
}

export function holderJwk(holder: HolderId): PublicJwk {
  return { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(holder, 'hex').toString('base64url') }
}

/** The key as a name that holds it whole, `did:key:z6Mk…`. @see https://w3c-ccg.github.io/did-key-spec/ */
export function didKey(holder: HolderId): string {
  return `did:key:${multibaseKey(holder)}`
}

/** The name of the key within that name's document, `did:key:z6Mk…#z6Mk…`. */
export function didKeyUrl(holder: HolderId): string {
  const key = multibaseKey(holder)
  return `did:key:${key}#${key}`
}

function multibaseKey(holder: HolderId): string {
  return base58btc.encode(Buffer.from(`${ED25519_PUB_HEX}${holder}`, 'hex'))
}

/** Multicodec `ed25519-pub`, as a varint. */
const ED25519_PUB_HEX = 'ed01'
