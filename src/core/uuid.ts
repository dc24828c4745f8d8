/**
 * UUIDs of version 7: those made later sort later, so rows lie in the order in which they came.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7
 * @module
 */
import { toHex } from './bytes.ts'

const RANDOM_BYTES = 10
const VERSION_7 = 0x70
const VARIANT = 0x80

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * @param unixMs below 2⁴⁸
 * @param random ten random bytes, of which 74 bits are used
 */
export function uuidOf(unixMs: number, random: Uint8Array): string {
  if (random.length !== RANDOM_BYTES) throw new RangeError(`expected ${RANDOM_BYTES} bytes, found ${random.length}`)
  const bytes = new Uint8Array(16)
  for (let at = 0; at < 6; at += 1) bytes[at] = Math.floor(unixMs / 2 ** (8 * (5 - at))) % 256
  bytes.set(random, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | VERSION_7
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | VARIANT
  const hex = toHex(bytes)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** True for a UUID of any version in its usual form, in lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
