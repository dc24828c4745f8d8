/**
 * The commands of whoever calls several peers: joining them, and what is remembered of them.
 *
 * @module
 */
import { TICKET_ENV } from '../calling/call-settings.ts'
import { type Command } from '../command.ts'
import { JSON_OPTION, TO_PEER, WITH_STATE } from './shared-rows.ts'

export const PEER_COMMANDS: readonly Command[] = [
  {
    words: ['join'],
    operands: '[<ticket>]',
    arity: [0, 1],
    about: 'Join a peer by its ticket, and remember it by a name',
    details:
      'An invitation is redeemed: the peer makes the key of this agent a member, and from then on the name is all that is\nneeded. The key is made and stays on this machine. Redeeming again with the same key yields the same membership, so a\njoin that was interrupted is simply repeated. A ticket that is no invitation is kept as it is.\n\nThe ticket comes from CT_TICKET, from a file (@file) or stdin (-), or stands there itself. It is a secret, and other\nusers of this machine can see command lines.',
    examples: [
      'CT_TICKET=… ct-agent join --name bob',
      'ct-agent join @invitation --name bob --as alice',
      'ct-agent join - --json < invitation',
    ],
    exits: true,
    rows: [TICKET_ENV.ticket, ...TO_PEER],
    options: [
      JSON_OPTION,
      { name: 'name', value: 'name', about: 'What to call the peer here; else made of its key' },
      { name: 'as', value: 'name', about: 'What the peer is asked to call this agent' },
    ],
    load: async () => (await import('./online.ts')).join,
  },
  {
    words: ['peer', 'list'],
    operands: '',
    arity: [0, 0],
    about: 'List the peers that this agent has joined',
    examples: ['ct-agent peer list', 'ct-agent peer list --json'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./online.ts')).peerList,
  },
  {
    words: ['peer', 'rename'],
    operands: '<name> <new name>',
    arity: [2, 2],
    about: 'Call a peer by another name',
    details: 'Names are of this agent alone: nobody else is told.',
    examples: ['ct-agent peer rename peer-3b6a90 bob'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./online.ts')).peerRename,
  },
  {
    words: ['peer', 'forget'],
    operands: '<name>',
    arity: [1, 1],
    about: 'Forget a peer, and with it the membership there',
    details: 'The peer is not told: it counts this agent in until it removes it, or the membership ends.',
    examples: ['ct-agent peer forget bob'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./online.ts')).peerForget,
  },
]
