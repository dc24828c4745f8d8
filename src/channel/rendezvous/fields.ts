/**
 * What stands under the keys of a message of the rendezvous.
 *
 * @module
 */
import { toHex } from '../../core/bytes.ts'
import { type ChannelId, type HolderId, KEY_BYTES } from '../../core/ids.ts'
import { printable } from '../../core/printable.ts'
import { type U64, U64_MAX, u64 } from '../../core/u64.ts'
import { type Address } from '../address.ts'
import { type Fields, messageReader } from '../cbor-message.ts'
import { encodeSuccession, parseSuccessions, type SignedSuccession } from '../membership/succession.ts'
import { isCount } from '../strict-cbor.ts'

export type { Fields }

/** More addresses than one machine has uses for. */
export const MAX_ADDRESSES = 8
export const MAX_REASON_CHARS = 300

const READER = messageReader('rendezvous')
export const { readMap, malformed, addressIn } = READER

export function addressesIn(map: Fields): readonly Address[] {
  return READER.addressesIn(map.get('addrs'), MAX_ADDRESSES)
}

export function idIn<Id extends ChannelId | HolderId>(map: Fields, key: string): Id {
  return hexIn<Id>(map, key, KEY_BYTES)
}

export function hexIn<Id extends string>(map: Fields, key: string, length: number): Id {
  const value = map.get(key)
  if (value instanceof Uint8Array && value.length === length) return toHex(value) as Id
  throw malformed(`expected ${length} bytes in ${key}`)
}

/** Bytes of any number. */
export function bytesIn(map: Fields, key: string): Uint8Array {
  const value = map.get(key)
  if (value instanceof Uint8Array) return value
  throw malformed(`expected bytes in ${key}`)
}

export function words(map: Fields, key: string): string {
  const value = map.get(key)
  return typeof value === 'string' ? printable(value, MAX_REASON_CHARS) : ''
}

export function count(map: Fields, key: string): number {
  const value = map.get(key)
  if (isCount(value)) return value
  throw malformed(`expected a whole number in ${key}`)
}

/** A whole number of up to 64 bits. */
export function bigCount(map: Fields, key: string): U64 {
  const value = map.get(key)
  if (isCount(value) || (typeof value === 'bigint' && value >= 0n && value <= U64_MAX)) return u64(value)
  throw malformed(`expected a whole number in ${key}`)
}

export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}

export function successionField(successions: readonly SignedSuccession[] = []): {
  readonly succ?: readonly Uint8Array[]
} {
  return successions.length === 0 ? {} : { succ: successions.map(encodeSuccession) }
}

export function successionsIn(map: Fields): { readonly successions?: readonly SignedSuccession[] } {
  const successions = parseSuccessions(map.get('succ'))
  return successions.length === 0 ? {} : { successions }
}
