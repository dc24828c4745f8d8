/**
 * The commands of whoever serves, for those who may call.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/config.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type Command, type Option } from '../command.ts'
import { ROSTER_ENV } from '../members/member-settings.ts'
import { JSON_OPTION, WITH_STATE } from './shared-rows.ts'

const RIGHTS_OPTION: Option = {
  name: 'rights',
  value: 'r|w|rw',
  about: 'What a member may do: read, call, or both',
}
const TOOLS_OPTION: Option = {
  name: 'tools',
  value: 'names',
  about: 'The only tools that a member sees and may call, separated by commas; * for all',
}
const NAME_OPTION: Option = { name: 'name', value: 'name', about: 'What the member is called on this side' }

export const MEMBER_COMMANDS: readonly Command[] = [
  {
    words: ['invite'],
    operands: '',
    arity: [0, 0],
    about: 'Invite somebody to the agent that serves here: prints the string that makes a member of whoever redeems it',
    details:
      'Beside a running ct-agent serve --broker nothing has to be said of the broker. The line on stdout is a secret until\nit is redeemed: whoever is first has it. Members keep a key of their own, see only --tools, and can be removed one by\none. The same member may redeem its invitation again.',
    examples: [
      'ct-agent invite',
      'ct-agent invite --name alice --tools summarise --rights rw --expires 7d',
      'ct-agent invite --uses 20 --expires 30m --qr',
    ],
    exits: true,
    rows: [BROKERED_ENV.broker, CHANNEL_ENV.advertise, CHANNEL_ENV.holderKey, ...WITH_STATE],
    options: [
      JSON_OPTION,
      { name: 'uses', value: 'number', about: 'How many may redeem it; 1 unless given' },
      {
        name: 'expires',
        value: 'time',
        about: 'How long it can be redeemed, such as 30m, 24h or 7d; 24h unless given',
      },
      RIGHTS_OPTION,
      TOOLS_OPTION,
      NAME_OPTION,
      { name: 'qr', about: 'Show it as a QR code on stderr as well' },
      { name: 'ticket-file', value: 'file', about: 'Write it into this file, for its owner alone, not to stdout' },
    ],
    load: async () => (await import('./online.ts')).invite,
  },
  {
    words: ['invite', 'list'],
    operands: '',
    arity: [0, 0],
    about: 'List the invitations that were made here, and what became of them',
    examples: ['ct-agent invite list', 'ct-agent invite list --json'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./offline.ts')).inviteList,
  },
  {
    words: ['invite', 'revoke'],
    operands: '<id or name>',
    arity: [1, 1],
    about: 'Take an invitation back; members who came by it stay',
    examples: ['ct-agent invite revoke 3b6a27bcceb6'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./offline.ts')).inviteRevoke,
  },
  {
    words: ['member', 'list'],
    operands: '',
    arity: [0, 0],
    about: 'List the members of the agent that serves here, and who was removed',
    examples: ['ct-agent member list', 'ct-agent member list --json'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./offline.ts')).memberList,
  },
  {
    words: ['member', 'remove'],
    operands: '<name or key>',
    arity: [1, 1],
    about: 'Remove a member: its sessions and calls end within a second, and it is not admitted again',
    details:
      'Also removes by its key somebody who came by the ticket. A key is all that is removed: the command says what else\nwould let the same person in.',
    examples: ['ct-agent member remove alice', 'ct-agent member remove 3b6a27bcceb6a42d… --json'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./offline.ts')).memberRemove,
  },
  {
    words: ['member', 'renew'],
    operands: '<name or key>',
    arity: [1, 1],
    about: 'Give a member a fresh grant, other rights, tools or another name, or let one in again that was removed',
    examples: ['ct-agent member renew alice', 'ct-agent member renew alice --tools summarise,ping --rights rw'],
    exits: true,
    rows: [ROSTER_ENV.grantDays, ...WITH_STATE],
    options: [JSON_OPTION, RIGHTS_OPTION, TOOLS_OPTION, NAME_OPTION],
    load: async () => (await import('./offline.ts')).memberRenew,
  },
  {
    words: ['member', 'rotate-operator'],
    operands: '',
    arity: [0, 0],
    about: 'Change the key by which the agent that serves here signs for its members: old and new key sign that',
    details:
      'A running ct-agent serve takes the new key within a second, and brings the change to the broker; sessions and calls\ngo on. Grants, tickets and open invitations of the old key count until the overlap is over. Members that come before\nthat get a grant of the new key by themselves; the others have to be invited again. The old key is not kept. A change\nthat was cut off is finished by the next run.',
    examples: ['ct-agent member rotate-operator', 'ct-agent member rotate-operator --overlap 7d --json'],
    exits: true,
    rows: WITH_STATE,
    options: [
      JSON_OPTION,
      {
        name: 'overlap',
        value: 'time',
        about: 'How long what the old key signed still counts, such as 1h or 7d; 30d unless given',
      },
    ],
    load: async () => (await import('./offline.ts')).memberRotateOperator,
  },
]
