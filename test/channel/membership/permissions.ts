/**
 * Permissions for the tests of grants and invitations.
 *
 * @module
 */
import fc from 'fast-check'
import { type Direction, type Permission, type Rights } from '../../../src/channel/membership/permission.ts'
import { type ChannelId } from '../../../src/core/ids.ts'
import { u64 } from '../../../src/core/u64.ts'
import { idOf, times } from './signed-wire.ts'

export const permissionFields = {
  channel: idOf<ChannelId>(),
  direction: fc.constantFrom<Direction>('initiate', 'accept', 'both'),
  rights: fc.constantFrom<Rights>('r', 'w', 'rw'),
  delegable: fc.boolean(),
  expiresAt: times,
}

/** What is common to the bodies of the vectors. */
export function permissionOf(body: {
  readonly channel: string
  readonly direction: string
  readonly rights: string
  readonly delegable: boolean
  readonly expiresAt: string
}): Permission {
  const { channel, direction, rights, delegable, expiresAt } = body
  return {
    channel: channel as ChannelId,
    direction: direction as Direction,
    rights: rights as Rights,
    delegable,
    expiresAt: u64(BigInt(expiresAt)),
  }
}
