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

/** Of the twelve bits that count, the first is free at the beginning of each millisecond, so that there is room. */
const COUNTED = 0x1000
const SEED_MASK = 0x7ff

/**
 * Makes UUIDs of which each sorts after the one before, also within a millisecond and when the clock goes back.
 *
 * @param now Unix milliseconds
 * @param random so many random bytes
 * @see https://www.rfc-editor.org/rfc/rfc9562#section-6.2
 */
export function uuidSource(now: () => number, random: (bytes: number) => Uint8Array): () => string {
  let [lastMs, count] = [0, 0]
  return () => {
    const bytes = random(RANDOM_BYTES)
    const [high = 0, low = 0] = bytes
    const ms = now()
    count = ms > lastMs ? ((high << 8) | low) & SEED_MASK : count + 1
    lastMs = Math.max(ms, lastMs)
    if (count >= COUNTED) [lastMs, count] = [lastMs + 1, 0]
    bytes[0] = count >> 8
    bytes[1] = count & 0xff
    return uuidOf(lastMs, bytes)
  }
}

/** True for a UUID of any version in its usual form, in lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
