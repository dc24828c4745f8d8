/**
 * CBOR from strangers, for everything on the wire that is a map.
 *
 * Holds: of every text there is one reading. Maps stay maps, so that no key of a peer, such as `__proto__`, ever touches
 * a prototype.
 *
 * @module
 */
import { decode } from 'cborg'

/** No peer can make us wait longer than this before the next try. */
const MAX_RETRY_AFTER_MS = 60_000

/** @throws whatever the decoder throws for bytes that are no such CBOR */
export function decodeStrictly(bytes: Uint8Array): unknown {
  return decode(bytes, {
    allowIndefinite: false,
    allowUndefined: false,
    rejectDuplicateMapKeys: true,
    useMaps: true,
  })
}

/** A whole number that counts something. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** When trying again may make sense, as a peer says it; nothing, if it does not. */
export function retryAfter(value: unknown): { readonly retryAfterMs?: number } {
  return isCount(value) ? { retryAfterMs: Math.min(value, MAX_RETRY_AFTER_MS) } : {}
}
