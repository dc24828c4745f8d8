/**
 * The bulk cryptography of Noise: WebAssembly for small messages, OpenSSL for large ones.
 *
 * Measured: a call into OpenSSL costs some 30 µs whatever the size, the WebAssembly cipher 4 µs for a small message
 * and more than OpenSSL from about 2 KiB on. Both are what libp2p-noise uses itself; it does not export them.
 *
 * @module
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { ChaCha20Poly1305, newInstance } from '@chainsafe/as-chacha20poly1305'
import { type ICryptoInterface } from '@chainsafe/libp2p-noise'

const ALGORITHM = 'chacha20-poly1305'
const TAG_BYTES = 16
/** Where OpenSSL becomes the cheaper one. */
const OPENSSL_FROM_BYTES = 2_048

const wasm = new ChaCha20Poly1305(newInstance())

export const nodeCipher: Pick<ICryptoInterface, 'hashSHA256' | 'chaCha20Poly1305Encrypt' | 'chaCha20Poly1305Decrypt'> =
  {
    hashSHA256: (data) => createHash('sha256').update(data.subarray()).digest(),

    chaCha20Poly1305Encrypt: (plaintext, nonce, ad, key) => {
      const bytes = plaintext.subarray()
      if (bytes.length < OPENSSL_FROM_BYTES) return wasm.seal(key, nonce, bytes, ad)
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(ad, { plaintextLength: bytes.length })
      const encrypted = cipher.update(bytes)
      cipher.final()
      return Buffer.concat([encrypted, cipher.getAuthTag()])
    },

    chaCha20Poly1305Decrypt: (ciphertext, nonce, ad, key, destination) => {
      const bytes = ciphertext.subarray()
      if (bytes.length < OPENSSL_FROM_BYTES) {
        const opened = wasm.open(key, nonce, bytes, ad, destination)
        if (opened === null) throw new Error('authentication failed')
        return opened
      }
      const text = bytes.subarray(0, bytes.length - TAG_BYTES)
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(ad, { plaintextLength: text.length })
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
      const plain = decipher.update(text)
      decipher.final()
      return plain
    },
  }
