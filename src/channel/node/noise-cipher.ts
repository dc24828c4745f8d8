/**
 * The bulk cryptography of Noise: WebAssembly for small messages, OpenSSL for large ones.
 *
 * Measured: a call into OpenSSL costs some 9 µs whatever the size once the key is an object of its own, and 40 µs
 * while it is raw bytes; the WebAssembly cipher costs 4 µs for a small message and more than OpenSSL from about 1 KiB
 * on. Both are what libp2p-noise uses itself; it does not export them.
 *
 * @module
 */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { ChaCha20Poly1305, newInstance } from '@chainsafe/as-chacha20poly1305'
import { type ICryptoInterface } from '@chainsafe/libp2p-noise'
import { Uint8ArrayList } from 'uint8arraylist'
import { joinSmall } from './byte-parts.ts'

const ALGORITHM = 'chacha20-poly1305'
const TAG_BYTES = 16
/** Where OpenSSL becomes the cheaper one. */
const OPENSSL_FROM_BYTES = 1_024

/** A connection keeps the same array for a key as long as it lives. */
const keyObjects = new WeakMap<Uint8Array, KeyObject>()

function keyObject(key: Uint8Array): KeyObject {
  const known = keyObjects.get(key)
  if (known !== undefined) return known
  const made = createSecretKey(key)
  keyObjects.set(key, made)
  return made
}

type NoiseBytes = ReturnType<ICryptoInterface['chaCha20Poly1305Encrypt']>

// libp2p-noise is built against another major version of the list; the two recognise each other, their types do not.
function listOf(parts: readonly Uint8Array[]): NoiseBytes {
  return new Uint8ArrayList(...parts) as unknown as NoiseBytes
}

function partsOf(bytes: NoiseBytes): readonly Uint8Array[] {
  return bytes instanceof Uint8Array ? [bytes] : joinSmall(bytes)
}

const wasm = new ChaCha20Poly1305(newInstance())

export const nodeCipher: Pick<ICryptoInterface, 'hashSHA256' | 'chaCha20Poly1305Encrypt' | 'chaCha20Poly1305Decrypt'> =
  {
    hashSHA256: (data) => createHash('sha256').update(data.subarray()).digest(),

    chaCha20Poly1305Encrypt: (plaintext, nonce, ad, key) => {
      if (plaintext.byteLength < OPENSSL_FROM_BYTES) return wasm.seal(key, nonce, plaintext.subarray(), ad)
      const cipher = createCipheriv(ALGORITHM, keyObject(key), nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(ad, { plaintextLength: plaintext.byteLength })
      const encrypted = partsOf(plaintext).map((part) => cipher.update(part))
      cipher.final()
      return listOf([...encrypted, cipher.getAuthTag()])
    },

    chaCha20Poly1305Decrypt: (ciphertext, nonce, ad, key, destination) => {
      if (ciphertext.byteLength < OPENSSL_FROM_BYTES) {
        const opened = wasm.open(key, nonce, ciphertext.subarray(), ad, destination)
        if (opened === null) throw new Error('authentication failed')
        return opened
      }
      const textBytes = ciphertext.byteLength - TAG_BYTES
      const decipher = createDecipheriv(ALGORITHM, keyObject(key), nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(ad, { plaintextLength: textBytes })
      decipher.setAuthTag(ciphertext.subarray(textBytes))
      const text =
        ciphertext instanceof Uint8Array ? ciphertext.subarray(0, textBytes) : ciphertext.sublist(0, textBytes)
      const plain = partsOf(text).map((part) => decipher.update(part))
      decipher.final()
      return listOf(plain)
    },
  }
