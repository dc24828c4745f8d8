/**
 * Settings of operators and members that change who belongs to a channel.
 *
 * @module
 */
import { type EnvRow, parseInteger, parseListOf } from '../../core/env.ts'
import { parseChannelId, parseHolderId } from '../../core/ids.ts'
import { parseSecretKey } from '../config.ts'

/** Whom an operator removes. */
export const MEMBER_REMOVAL_ENV = {
  channel: {
    name: 'CT_REVOKE_CHANNEL',
    about: 'Channel that members are removed from',
    expects: '64 hex',
    parse: parseChannelId,
    flag: 'channel',
  },
  members: {
    name: 'CT_REVOKE_MEMBER_HOLDER',
    about: 'Ed25519 public keys of the members to remove, separated by commas; without it, the list stays as it is',
    expects: '64 hex',
    parse: parseListOf(parseHolderId),
    flag: 'member',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** A key that takes over from another. */
export const ROTATION_ENV = {
  channel: {
    name: 'CT_ROTATE_CHANNEL',
    about: 'Channel on which a key takes over; of a member’s key, every channel unless set',
    expects: '64 hex',
    parse: parseChannelId,
    flag: 'channel',
  },
  newOperatorKey: {
    name: 'CT_CHANNEL_NEW_OPERATOR_KEY',
    about: 'Ed25519 private key that takes over from CT_CHANNEL_OPERATOR_KEY',
    expects: '64 hex',
    parse: parseSecretKey,
    secret: true,
  },
  newHolderKey: {
    name: 'CT_CHANNEL_NEW_HOLDER_KEY',
    about: 'Ed25519 private key that takes over from CT_CHANNEL_HOLDER_KEY',
    expects: '64 hex',
    parse: parseSecretKey,
    secret: true,
  },
  overlapSeconds: {
    name: 'CT_ROTATE_OVERLAP_SECS',
    about: 'Seconds for which the old key still counts',
    expects: 'whole seconds',
    parse: parseInteger(0, 31_622_400),
    fallback: '2592000',
    flag: 'overlap',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>
