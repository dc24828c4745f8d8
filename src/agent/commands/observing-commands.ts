/**
 * The commands that watch agents that run, and look at what they wrote down.
 *
 * @module
 */
import { type Command } from '../command.ts'
import { OBSERVING_ENV } from '../observing/observing-settings.ts'
import { JSON_OPTION, WITH_STATE } from './shared-rows.ts'

const AUDIT_DETAILS =
  'Without a file it is the log of this state folder. Files that were put aside before it (.1, .2, …) belong to it.'

export const OBSERVING_COMMANDS: readonly Command[] = [
  {
    words: ['status'],
    operands: '',
    arity: [0, 0],
    about: 'Show how the agents of this state folder are that run: peers, paths, calls, refusals',
    details:
      'Asks ct-agent serve, ct-agent channel and ct-agent broker over a socket in the state folder that only their user can\nopen. A peer stands there once for every session of its own.',
    examples: ['ct-agent status', 'ct-agent status --json'],
    exits: true,
    rows: WITH_STATE,
    options: [JSON_OPTION],
    load: async () => (await import('./offline.ts')).status,
  },
  {
    words: ['audit', 'verify'],
    operands: '[<file>]',
    arity: [0, 1],
    about: 'Check that an audit log is as it was written, and name the first line that is not',
    details: `${AUDIT_DETAILS}\n\nA log cannot show by itself that its last entries are gone: note the hash of the last one elsewhere, and look for it.`,
    examples: ['ct-agent audit verify', 'ct-agent audit verify /var/log/ct-agent/audit.log --json'],
    exits: true,
    rows: [OBSERVING_ENV.auditLog, ...WITH_STATE],
    options: [JSON_OPTION],
    load: async () => (await import('./offline.ts')).auditVerify,
  },
  {
    words: ['audit', 'show'],
    operands: '[<file>]',
    arity: [0, 1],
    about: 'Print the entries of an audit log as JSON lines, the oldest first',
    details: AUDIT_DETAILS,
    examples: ['ct-agent audit show', 'ct-agent audit show --peer 3b6a27bcce'],
    exits: true,
    rows: [OBSERVING_ENV.auditLog, ...WITH_STATE],
    options: [{ name: 'peer', value: 'holder', about: 'Only entries about the peer whose key begins so' }],
    load: async () => (await import('./offline.ts')).auditShow,
  },
]
