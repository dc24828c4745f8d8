/**
 * The commands of members and operators of a channel that work without a network.
 *
 * @module
 */
import { type Command } from '../command.ts'
import { STATELESS } from './shared-rows.ts'
import { GRANTING, INVITING, MEMBER_MATERIAL, PIPELINE_ROLE } from './signing-settings.ts'

export const SIGNING_COMMANDS: readonly Command[] = [
  {
    words: ['channel', 'member-material'],
    operands: '',
    arity: [0, 0],
    about: 'Print what a member of a link hands to its operator: keys, channel id and attestation',
    examples: ['ct-agent channel member-material --operator 8a88… --bridge-holder ed49… --noise-pubkey ac01…'],
    exits: true,
    compatible: true,
    rows: [...Object.values(MEMBER_MATERIAL), ...STATELESS],
    options: [],
    load: async () => (await import('./offline.ts')).memberMaterial,
  },
  {
    words: ['channel', 'join-pipeline-role'],
    operands: '',
    arity: [0, 0],
    about: 'Print what a member with a role in a pipeline hands to its operator',
    examples: [
      'ct-agent channel join-pipeline-role --operator 8a88… --pipeline flappy-demo --role physics --noise-pubkey ac01…',
    ],
    exits: true,
    compatible: true,
    rows: [...Object.values(PIPELINE_ROLE), ...STATELESS],
    options: [],
    load: async () => (await import('./offline.ts')).joinPipelineRole,
  },
  {
    words: ['channel', 'grant'],
    operands: '',
    arity: [0, 0],
    about: 'Sign a grant, which lets a member take part in a channel, and print it in hex',
    examples: ['ct-agent channel grant --channel 6075… --member 8139… --direction initiate --expires 2000000000'],
    exits: true,
    compatible: true,
    rows: [...Object.values(GRANTING), ...STATELESS],
    options: [],
    load: async () => (await import('./offline.ts')).grant,
  },
  {
    words: ['channel', 'invite'],
    operands: '',
    arity: [0, 0],
    about: 'Sign an invitation, which an identity redeems for membership in a channel, and print it in hex',
    examples: ['ct-agent channel invite --channel 6075… --identity 8a87… --direction accept --expires 2000000000'],
    exits: true,
    compatible: true,
    rows: [...Object.values(INVITING), ...STATELESS],
    options: [],
    load: async () => (await import('./offline.ts')).invite,
  },
]
