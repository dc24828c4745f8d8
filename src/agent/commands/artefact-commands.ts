/**
 * The commands that make, verify and show signed artefacts without a network.
 *
 * @module
 */
import { CARD_ENV } from '../../cards/config.ts'
import { CHANNEL_ENV } from '../../channel/config.ts'
import { type EnvRow } from '../../core/env.ts'
import { BID_ENV, OFFER_ENV } from '../../offers/config.ts'
import { REGISTRATION_ENV } from '../artefacts/registration-settings.ts'
import { VERIFY_ENV } from '../artefacts/verify-settings.ts'
import { type Command, type Option } from '../command.ts'
import { STATELESS, WITH_STATE } from './shared-rows.ts'

const CHECKING: readonly EnvRow<unknown>[] = [...Object.values(VERIFY_ENV), ...STATELESS]
const SIGNING: readonly EnvRow<unknown>[] = [CHANNEL_ENV.holderKey, ...WITH_STATE]

const OUT: Option = { name: 'out', value: 'file', about: 'Write into this file, not to stdout' }
const JSON_WRITTEN: Option = { name: 'json', about: 'Report errors, and the file that was written, as JSON' }
const JSON_VERDICTS: Option = { name: 'json', about: 'Print one JSON line for each document' }
const MATCH: Option = { name: 'match', value: 'file', about: 'The match that the receipt must be for, as JSON' }

const SIGNER = 'It is signed with CT_CHANNEL_HOLDER_KEY, or with the key that this agent keeps.'
const MANY =
  'Reads the file, or stdin: one document, several after each other, or one JSON array of them, however many. Of several,\nevery line names one that is not valid, and the last line counts. Exits with 0 only when all are valid.'
const SHOWN = `${MANY} Shows the fields also of what is not valid.`

export const ARTEFACT_COMMANDS: readonly Command[] = [
  {
    words: ['card', 'make'],
    operands: '',
    arity: [0, 0],
    about: 'Sign an agent card and print it as one JSON line',
    details: SIGNER,
    examples: [
      "ct-agent card make --roles planner,reviewer --skills 'review|Reviews code; plan'",
      'ct-agent card make --roles planner --a2a --out agent-card.json',
    ],
    exits: true,
    rows: [CARD_ENV.roles, CARD_ENV.skills, CARD_ENV.channels, CARD_ENV.cells, CARD_ENV.ttlSeconds, ...SIGNING],
    options: [{ name: 'a2a', about: 'As an A2A card with the native card in it, signed as a JWS' }, OUT, JSON_WRITTEN],
    load: async () => (await import('./offline.ts')).cardMake,
  },
  checking(
    'card',
    'verify',
    'Verify agent cards, native or in the A2A form',
    async () => (await import('./offline.ts')).cardVerify,
  ),
  checking(
    'card',
    'show',
    'Show agent cards with all their fields and the verdict',
    async () => (await import('./offline.ts')).cardShow,
  ),
  {
    words: ['offer', 'make'],
    operands: '',
    arity: [0, 0],
    about: 'Sign a capacity offer and print it as one JSON line',
    details: `${SIGNER} The offer is for all units, whatever this agent has sold.`,
    examples: [
      'ct-agent offer make --offer-kind local --offer-models llama-3-70b --offer-units 1000 --offer-min-price 5 --offer-currency EUR',
    ],
    exits: true,
    rows: [
      OFFER_ENV.kind,
      OFFER_ENV.models,
      OFFER_ENV.units,
      OFFER_ENV.minPrice,
      OFFER_ENV.currency,
      OFFER_ENV.services,
      OFFER_ENV.ttlSeconds,
      ...SIGNING,
    ],
    options: [OUT, JSON_WRITTEN],
    load: async () => (await import('./offline.ts')).offerMake,
  },
  checking('offer', 'verify', 'Verify capacity offers', async () => (await import('./offline.ts')).offerVerify),
  checking(
    'offer',
    'show',
    'Show capacity offers with all their fields and the verdict',
    async () => (await import('./offline.ts')).offerShow,
  ),
  {
    words: ['bid', 'make'],
    operands: '',
    arity: [0, 0],
    about: 'Sign a capacity bid and print it as one JSON line',
    details: SIGNER,
    examples: ['ct-agent bid make --kind local --model llama-3-70b --units 10 --price 50 --service code_generation'],
    exits: true,
    rows: [...Object.values(BID_ENV), ...SIGNING],
    options: [OUT, JSON_WRITTEN],
    load: async () => (await import('./offline.ts')).bidMake,
  },
  {
    words: ['receipt', 'make'],
    operands: '',
    arity: [0, 0],
    about: 'Sign a usage receipt as one party of a match and print it as one JSON line',
    details: `${SIGNER}\nThe receipt holds hashes of the request and the response, each over all of its file: a line end too many makes\nanother hash.`,
    examples: [
      'ct-agent receipt make --match match.json --units 3 --request input.txt --response output.txt --out receipt.json',
    ],
    exits: true,
    rows: SIGNING,
    options: [
      { ...MATCH, about: 'The match that it is for, as JSON' },
      { name: 'units', value: 'a whole number', about: 'Units that were consumed, at most those of the match' },
      { name: 'request', value: 'file', about: 'Text that was asked' },
      { name: 'response', value: 'file', about: 'Text that was answered' },
      OUT,
      JSON_WRITTEN,
    ],
    load: async () => (await import('./offline.ts')).receiptMake,
  },
  {
    words: ['receipt', 'countersign'],
    operands: '[<file>|-]',
    arity: [0, 1],
    about: 'Check the other party’s signature under a usage receipt, add ours and print it',
    details: `Reads the file, or stdin. ${SIGNER}`,
    examples: ['ct-agent receipt countersign receipt.json --match match.json --out signed.json'],
    exits: true,
    rows: [VERIFY_ENV.skewSeconds, ...SIGNING],
    options: [MATCH, OUT, JSON_WRITTEN],
    load: async () => (await import('./offline.ts')).receiptCountersign,
  },
  {
    words: ['receipt', 'verify'],
    operands: '[<file>|-]',
    arity: [0, 1],
    about: 'Verify that both parties signed usage receipts',
    details: MANY,
    examples: [
      'ct-agent receipt verify signed.json --match match.json',
      'ct-agent receipt verify --json < receipts.ndjson',
    ],
    exits: true,
    rows: [VERIFY_ENV.skewSeconds, ...STATELESS],
    options: [MATCH, JSON_VERDICTS],
    load: async () => (await import('./offline.ts')).receiptVerify,
  },
  {
    words: ['channel', 'agent-card'],
    operands: '',
    arity: [0, 0],
    about: 'Sign the agent card, write it as .well-known/agent-card.json and print the path; or verify one',
    details:
      'With CT_AGENT_CP_URL, CT_AGENT_CARD_URL and CT_CP_EDGE_ADMIN_TOKEN the card is registered at the control plane.\nWith --verify nothing is signed, and no key is needed.',
    examples: [
      'CT_AGENT_CARD_ROLES=planner ct-agent channel agent-card --card-out /var/www',
      'ct-agent channel agent-card --verify agent-card.json',
    ],
    exits: true,
    compatible: true,
    rows: [CHANNEL_ENV.holderKey, ...Object.values(CARD_ENV), ...Object.values(REGISTRATION_ENV), ...CHECKING],
    options: [{ name: 'verify', value: 'file', about: 'Verify the card in this file' }],
    load: async () => (await import('./offline.ts')).agentCard,
  },
]

function checking(noun: string, verb: 'verify' | 'show', about: string, load: Command['load']): Command {
  return {
    words: [noun, verb],
    operands: '[<file>|-]',
    arity: [0, 1],
    about,
    details: verb === 'verify' ? MANY : SHOWN,
    examples: [`ct-agent ${noun} ${verb} ${noun}s.ndjson`, `ct-agent ${noun} ${verb} --json < ${noun}.json`],
    exits: true,
    rows: noun === 'card' ? CHECKING : [VERIFY_ENV.skewSeconds, ...STATELESS],
    options: [JSON_VERDICTS],
    load,
  }
}
