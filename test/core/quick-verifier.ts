/**
 * A verifier for tests that check thousands of signatures, nearly all of them wrong: OpenSSL alone, which is quick where
 * ours is thorough. That both agree is tested with the keys.
 *
 * @module
 */
import { createPublicKey, verify } from 'node:crypto'

export function verifyQuickly(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' })
  return verify(null, message, key, signature)
}

/** DER header of Ed25519 public keys (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
