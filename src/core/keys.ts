/**
 * Ed25519 and X25519 keys. A secret key cannot be printed: every textual form of it is `SecretKey(…)`.
 *
 * Verification is strict RFC 8032, not ZIP-215: small-order public keys and non-canonical signatures are refused.
 *
 * @module
 */
import { createHash, createPrivateKey, createPublicKey, verify as opensslVerify, randomBytes } from 'node:crypto'
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

/**
 * As {@link verify}, for thousands of signatures: OpenSSL takes a fraction of the time for those that are valid.
 *
 * Holds: both give the same answer. Where the key is strict and OpenSSL accepts, {@link verify} accepts: OpenSSL refuses
 * S ≥ L, and compares R byte by byte with the point that S, the key and the message give, so R is canonical and the
 * equation holds without the factor 8, hence with it. Whatever OpenSSL refuses is decided by {@link verify}: it may be
 * a signature that only holds with the factor.
 */
export function verifyMany(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return verifyExactly(signature, message, publicKey) || verify(signature, message, publicKey)
}

/**
 * As {@link verify}, for signatures of strangers: one that does not hold costs no more than one that does.
 *
 * It also refuses what holds with the factor 8 alone, which no honest signer makes.
 */
export function verifyExactly(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return isStrictPublicKey(publicKey) && opensslAccepts(signature, message, publicKey)
}

function opensslAccepts(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: Buffer.concat([ED25519_SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' })
    return opensslVerify(null, message, key, signature)
  } catch {
    return false
  }
}

/**
 * True for 32 bytes that encode no y of two spellings, and none of the eight points of small order, under whose keys
 * anybody can sign. Some releases of OpenSSL accept both; that the bytes encode a point at all, all of them check.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8032#section-5.1.3
 */
export function isStrictPublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== KEY_BYTES) return false
  const y = Uint8Array.from(publicKey)
  y[KEY_BYTES - 1] = (publicKey[KEY_BYTES - 1] ?? 0) & ~SIGN_OF_X
  const hex = toHex(y)
  return !SMALL_ORDER_YS.has(hex) && !(hex.endsWith(ALL_BUT_LOWEST) && hex.slice(0, 2) >= LOWEST_OF_PRIME)
}

/** The highest bit of an encoded point; the others are y, lowest byte first. */
const SIGN_OF_X = 0x80

/** The y of the points of small order: of order 4, 1, 2, and twice 8. */
const SMALL_ORDER_YS: ReadonlySet<string> = new Set([
  `00${'00'.repeat(31)}`,
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
])

/** The prime is 2^255 − 19: a y that is not below it ends so, and begins with at least `ed`. */
const ALL_BUT_LOWEST = `${'ff'.repeat(30)}7f`
const LOWEST_OF_PRIME = 'ed'

/** SHA-256, 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest())
}

/** A fresh instance id from the system's generator. */
export function generateInstanceId(): InstanceId {
  return toHex(randomBytes(INSTANCE_BYTES)) as InstanceId
}

/** DER headers of PKCS#8 private keys (RFC 8410); the 32 secret bytes follow. */
const ED25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
/** DER header of Ed25519 public keys (RFC 8410); the 32 bytes of the key follow. */
const ED25519_SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const X25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex')
