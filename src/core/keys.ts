/**
 * Ed25519 and X25519 keys. A secret key cannot be printed: every textual form of it is `SecretKey(…)`.
 *
 * Verification is strict RFC 8032, not ZIP-215: small-order public keys and non-canonical signatures are refused.
 *
 * @module
 */
import { createHash, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import * as ed from '@noble/ed25519'
import { toHex } from './bytes.ts'
import { type HolderId, INSTANCE_BYTES, type InstanceId, KEY_BYTES, type NoiseKeyId } from './ids.ts'

ed.hashes.sha512 = (message) => new Uint8Array(createHash('sha512').update(message).digest())

/** 32 secret bytes that can be used but not shown. */
export class SecretKey {
  readonly #bytes: Uint8Array

  /** @param bytes exactly 32 bytes; they are copied. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== KEY_BYTES) throw new RangeError(`expected ${KEY_BYTES} key bytes, found ${bytes.length}`)
    this.#bytes = Uint8Array.from(bytes)
  }

  static generate(): SecretKey {
    return new SecretKey(randomBytes(KEY_BYTES))
  }

  /** A copy of the raw bytes, for the cryptography and the secret file only. */
  reveal(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }

  toString(): string {
    return 'SecretKey(…)'
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }
}

/** A member's Ed25519 identity. */
export interface HolderKey {
  readonly secret: SecretKey
  readonly id: HolderId
}

/** A member's static X25519 key of the Noise handshake. */
export interface NoiseKey {
  readonly secret: SecretKey
  readonly id: NoiseKeyId
}

// Public keys are derived by OpenSSL: the same 32 bytes, without the 80 ms in which noble builds its tables.
export function holderKey(secret: SecretKey): HolderKey {
  return { secret, id: toHex(publicHalf(ED25519_PKCS8_PREFIX, secret)) as HolderId }
}

export function noiseKey(secret: SecretKey): NoiseKey {
  return { secret, id: toHex(publicHalf(X25519_PKCS8_PREFIX, secret)) as NoiseKeyId }
}

function publicHalf(prefix: Uint8Array, secret: SecretKey): Uint8Array {
  const key = Buffer.concat([prefix, secret.reveal()])
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)
}

/** 64-byte Ed25519 signature (RFC 8032, deterministic) over the message. */
export function sign(message: Uint8Array, secret: SecretKey): Uint8Array {
  return ed.sign(message, secret.reveal())
}

/** Strict verification; malformed keys and signatures are simply not valid. */
export function verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed.verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}

/** A fresh instance id from the system's generator. */
export function generateInstanceId(): InstanceId {
  return toHex(randomBytes(INSTANCE_BYTES)) as InstanceId
}

/** DER headers of PKCS#8 private keys (RFC 8410); the 32 secret bytes follow. */
const ED25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const X25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex')
