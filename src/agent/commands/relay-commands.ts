/**
 * The commands of whoever runs a relay.
 *
 * @module
 */
import { type Command } from '../command.ts'
import { RELAY_ENV } from '../relaying/relay-settings.ts'
import { COMMON_ENV } from '../settings.ts'
import { JSON_OPTION, WITH_STATE } from './shared-rows.ts'

const ADMIN_ROWS = [RELAY_ENV.database, ...WITH_STATE]

export const RELAY_COMMANDS: readonly Command[] = [
  {
    words: ['relay'],
    operands: '',
    arity: [0, 0],
    about: 'Run a relay, where agents that cannot stay reachable find each other and leave each other work',
    details:
      'The first line on stdout is the URL. At the first start the relay makes an account and an API key, and says where the key\nis. All is kept in a file of the state folder, or in PostgreSQL, which several relays may share. It has a REST API, is an\nMCP server, and has pages for people: see docs/relay.md.',
    examples: ['ct-agent relay', 'ct-agent relay --addr 0.0.0.0:4437 --public-url https://relay.example.org'],
    exits: false,
    rows: [...Object.values(RELAY_ENV), COMMON_ENV.drainSeconds, ...WITH_STATE],
    options: [{ name: 'json', about: 'Print the URL as one JSON line' }],
    load: async () => (await import('./relay.ts')).relay,
  },
  {
    words: ['relay', 'admin', 'create-user'],
    operands: '<e-mail>',
    arity: [1, 1],
    about: 'Make an account on a relay',
    details: 'Without a password file the relay makes a password, which is printed with the result and kept nowhere.',
    examples: [
      'ct-agent relay admin create-user alice@example.org --api-key',
      'ct-agent relay admin create-user bob@example.org --name Bob --slug bob --json',
    ],
    exits: true,
    rows: ADMIN_ROWS,
    options: [
      JSON_OPTION,
      { name: 'name', value: 'name', about: 'What others see; the address before the @ unless given' },
      { name: 'slug', value: 'slug', about: 'How the account is named in account/agent' },
      { name: 'admin', about: 'Somebody who may administer the relay on its pages' },
      { name: 'api-key', about: 'Make a first API key' },
      { name: 'password-file', value: 'path', about: 'File with the password' },
    ],
    load: async () => (await import('./relay.ts')).createRelayUser,
  },
  {
    words: ['relay', 'admin', 'list-users'],
    operands: '',
    arity: [0, 0],
    about: 'List the people of a relay',
    examples: ['ct-agent relay admin list-users --json'],
    exits: true,
    rows: ADMIN_ROWS,
    options: [JSON_OPTION],
    load: async () => (await import('./relay.ts')).listRelayUsers,
  },
  {
    words: ['relay', 'admin', 'reset-password'],
    operands: '<e-mail>',
    arity: [1, 1],
    about: 'Give somebody of a relay another password, and end their sessions',
    examples: ['ct-agent relay admin reset-password alice@example.org'],
    exits: true,
    rows: ADMIN_ROWS,
    options: [
      JSON_OPTION,
      { name: 'password-file', value: 'path', about: 'File with the password; one is made unless given' },
    ],
    load: async () => (await import('./relay.ts')).resetRelayPassword,
  },
]
