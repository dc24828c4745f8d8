/**
 * The commands by which an operator, or a member, changes what all others know of the channel.
 *
 * @module
 */

import { MEMBER_ENV } from '../../channel/config.ts'
import { MEMBER_REMOVAL_ENV, ROTATION_ENV } from '../../channel/membership/config.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type EnvRow } from '../../core/env.ts'
import { type Command } from '../command.ts'
import { JSON_OPTION, STATELESS } from './shared-rows.ts'
import { REVOKING, ROTATING_KEY, ROTATING_OPERATOR } from './signing-settings.ts'

const TELLING: readonly EnvRow<unknown>[] = [
  MEMBER_ENV.operator,
  BROKERED_ENV.successions,
  BROKERED_ENV.revocations,
  BROKERED_ENV.broker,
  BROKERED_ENV.frontDoor,
  BROKERED_ENV.frontDoorCert,
  BROKERED_ENV.frontDoorOnly,
  ...STATELESS,
]

export const OPERATOR_COMMANDS: readonly Command[] = [
  {
    words: ['channel', 'revoke'],
    operands: '',
    arity: [0, 0],
    about: 'Remove members from a channel: sign a newer revocation list and bring it to the broker',
    details:
      'The new list has all that the one in CT_CHANNEL_REVOCATIONS and the broker’s have, and the members named here. It is\nwritten into that file, and published where CT_CHANNEL_BROKER is set; members that are removed then lose their sessions\nwithin a second. It is printed in hex for whoever has to be told otherwise. A member is not let in again: give it a\ngrant for a new key. After a change of the operator’s key, CT_CHANNEL_OPERATOR_PUBKEY names the first one.',
    examples: [
      'ct-agent channel revoke --channel 6075… --member 8139… --revocations removed.list --broker broker.example.org:4435',
    ],
    exits: true,
    rows: [...Object.values(REVOKING), MEMBER_REMOVAL_ENV.members, ...TELLING],
    options: [JSON_OPTION],
    load: async () => (await import('./online.ts')).revoke,
  },
  {
    words: ['channel', 'rotate-operator'],
    operands: '',
    arity: [0, 0],
    about: 'Change the key of a channel’s operator: both keys sign that the new one takes over',
    details:
      'The channel keeps its name, the first key and the channel id, so members change nothing. Those that are at the broker\nlearn of it at once, with a new revocation list; the others with CT_CHANNEL_SUCCESSIONS, or from peers that show it.\nGrants of the old key count until the overlap is over, for those that know of the change.',
    examples: [
      'CT_CHANNEL_OPERATOR_KEY=… CT_CHANNEL_NEW_OPERATOR_KEY=… ct-agent channel rotate-operator --channel 6075… --broker broker.example.org:4435',
    ],
    exits: true,
    rows: [...Object.values(ROTATING_OPERATOR), ...TELLING],
    options: [JSON_OPTION],
    load: async () => (await import('./online.ts')).rotateOperator,
  },
  {
    words: ['channel', 'rotate-key'],
    operands: '',
    arity: [0, 0],
    about: 'Change the holder key of a member: both keys sign that the new one takes over',
    details:
      'Prints the succession, which the member shows with its new key from CT_CHANNEL_SUCCESSIONS: accepting peers that pinned\nthe old key then take the new one. Whoever dials the member has to know it too, from the same variable. On a channel\nthe new key needs a grant of its own.',
    examples: ['CT_CHANNEL_HOLDER_KEY=… CT_CHANNEL_NEW_HOLDER_KEY=… ct-agent channel rotate-key --overlap 604800'],
    exits: true,
    rows: [...Object.values(ROTATING_KEY), ROTATION_ENV.channel, ...STATELESS],
    options: [JSON_OPTION],
    load: async () => (await import('./offline.ts')).rotateKey,
  },
]
