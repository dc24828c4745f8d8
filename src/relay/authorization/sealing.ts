/**
 * An answer that only whoever has the token it was given for can read: the key is made from that token, which is kept
 * nowhere.
 *
 * @module
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'

export function seal(token: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, keyOf(token), nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')
}

/** @throws where it was sealed with another token */
export function unseal(token: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv(CIPHER, keyOf(token), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
}

function keyOf(token: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', token, '', 'ct-agent relay refresh answer', KEY_BYTES))
}
