/**
 * What an operator allows one key on one channel: the part that grants and invitations have in common.
 *
 * Holds: text and wire form are injective. The text has no lengths, but ids have a fixed number of digits and no field
 * can contain the bar between fields.
 *
 * @module
 */
import { encodeUtf8 } from '../../core/bytes.ts'
import { type ChannelId, type HolderId, type Signature } from '../../core/ids.ts'
import { RIGHTS, type Rights } from '../../core/rights.ts'
import { type UnixSeconds, u64 } from '../../core/u64.ts'
import { decodeSigned, encodeSigned, malformedBytes } from './signed-wire.ts'

/** Each stands for its place in the list, counted from 1. */
const DIRECTIONS = ['initiate', 'accept', 'both'] as const

/** Which side of a session the key may be. */
export type Direction = (typeof DIRECTIONS)[number]

export type { Rights }

export interface Permission {
  readonly channel: ChannelId
  readonly direction: Direction
  readonly rights: Rights
  /** The key may pass it on. */
  readonly delegable: boolean
  readonly expiresAt: UnixSeconds
}

const REST_BYTES = 11
const EXPIRY_OFFSET = 3

/** The text that is signed, the same in every signing form. */
export function permissionText(domain: string, permission: Permission, key: HolderId): Uint8Array {
  const { channel, direction, rights, delegable, expiresAt } = permission
  return encodeUtf8([domain, channel, key, direction, rights, delegable ? '1' : '0', expiresAt].join('|'))
}

export function encodePermission(permission: Permission, key: HolderId, signature: Signature): Uint8Array {
  const { channel, direction, rights, delegable, expiresAt } = permission
  const rest = new Uint8Array(REST_BYTES)
  rest.set([DIRECTIONS.indexOf(direction) + 1, RIGHTS.indexOf(rights) + 1, delegable ? 1 : 0])
  new DataView(rest.buffer).setBigUint64(EXPIRY_OFFSET, expiresAt, true)
  return encodeSigned({ signature, channel, key, rest })
}

export interface DecodedPermission {
  readonly permission: Permission
  readonly key: HolderId
  readonly signature: Signature
}

/** @param name of the artefact, for messages @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function decodePermission(bytes: Uint8Array, name: string): DecodedPermission {
  const { signature, channel, key, rest } = decodeSigned(bytes, REST_BYTES, name)
  const [directionByte = 0, rightsByte = 0, delegableByte = 0] = rest
  const direction = DIRECTIONS[directionByte - 1]
  const rights = RIGHTS[rightsByte - 1]
  if (direction === undefined) throw malformedBytes(name, `expected direction 1, 2 or 3, found ${directionByte}`)
  if (rights === undefined) throw malformedBytes(name, `expected rights 1, 2 or 3, found ${rightsByte}`)
  if (delegableByte > 1) throw malformedBytes(name, `expected delegable 0 or 1, found ${delegableByte}`)
  const expiresAt = u64(new DataView(rest.buffer).getBigUint64(EXPIRY_OFFSET, true))
  return { permission: { channel, direction, rights, delegable: delegableByte === 1, expiresAt }, key, signature }
}
