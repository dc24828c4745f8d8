/**
 * Passwords are kept as scrypt makes them, with its cost beside, so that the cost can grow.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7914
 * @module
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../refusal.ts'

const COST = 2 ** 15
const BLOCK_SIZE = 8
const PARALLEL = 3
const SALT_BYTES = 16
const HASH_BYTES = 32
const MEMORY = 2 * 128 * COST * BLOCK_SIZE

const MIN_PASSWORD_CHARS = 8
const MAX_PASSWORD_CHARS = 200

/** @throws {Refusal} `invalid_request` where it is too short or too long */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < MIN_PASSWORD_CHARS || password.length > MAX_PASSWORD_CHARS) {
    const found = `found ${password.length}`
    throw new Refusal(
      'invalid_request',
      `password: expected ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters, ${found}`,
    )
  }
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, COST)
  return `scrypt:${COST}:${salt.toString('base64url')}:${hash.toString('base64url')}`
}

/** Takes as long whatever is wrong. */
export async function verifyPassword(password: string, kept: string): Promise<boolean> {
  const [scheme, cost, salt, hash] = kept.split(':')
  if (scheme !== 'scrypt' || salt === undefined || hash === undefined) return false
  const derived = await derive(password.slice(0, MAX_PASSWORD_CHARS), Buffer.from(salt, 'base64url'), Number(cost))
  const wanted = Buffer.from(hash, 'base64url')
  return password.length <= MAX_PASSWORD_CHARS && derived.length === wanted.length && timingSafeEqual(derived, wanted)
}

function derive(password: string, salt: Uint8Array, cost: number): Promise<Buffer> {
  const options = { N: cost, r: BLOCK_SIZE, p: PARALLEL, maxmem: MEMORY }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, hash) => {
      if (error === null) resolve(hash)
      else reject(error)
    })
  })
}
