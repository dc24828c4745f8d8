/**
 * Secrets that the relay gives out: only their hashes are kept.
 *
 * Holds: a secret is 256 random bits, so a fast hash of it tells nothing; a look-up by the hash takes the same time
 * whatever was guessed.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32
const SHOWN_CHARS = 9

export const PREFIXES = {
  api_key: 'ck_',
  session: 'cs_',
  access: 'ca_',
  refresh: 'cr_',
  code: 'cc_',
  device: 'cd_',
  invite: 'inv_',
} as const

export type SecretKind = keyof typeof PREFIXES

const SECRET = new RegExp(`^[0-9a-f]{${2 * SECRET_BYTES}}$`)

export interface MadeSecret {
  /** Shown once. */
  readonly plaintext: string
  readonly hash: string
  /** Enough of it for a person to tell it from others. */
  readonly prefix: string
}

export function makeSecret(kind: SecretKind): MadeSecret {
  const plaintext = PREFIXES[kind] + randomBytes(SECRET_BYTES).toString('hex')
  return { plaintext, hash: hashSecret(plaintext), prefix: plaintext.slice(0, SHOWN_CHARS) }
}

export function hashSecret(plaintext: string): string {
  return createHash('sha256').update(plaintext).digest('hex')
}

/** What a secret would be one of, by its form alone. What has another form was never given out. */
export function secretKind(text: string): SecretKind | undefined {
  const found = Object.entries(PREFIXES).find(([, prefix]) => text.startsWith(prefix))
  if (found === undefined) return undefined
  const [kind, prefix] = found
  return SECRET.test(text.slice(prefix.length)) ? (kind as SecretKind) : undefined
}
