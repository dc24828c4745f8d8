/**
 * The commands that show agent cards at a broker, and find those of others there.
 *
 * @module
 */
import { CARD_ENV } from '../../cards/config.ts'
import { CHANNEL_ENV } from '../../channel/config.ts'
import { VERIFY_ENV } from '../artefacts/verify-settings.ts'
import { type Command } from '../command.ts'
import { JSON_OPTION, STATELESS, TO_BROKER, WITH_STATE } from './shared-rows.ts'

export const REGISTRY_COMMANDS: readonly Command[] = [
  {
    words: ['card', 'publish'],
    operands: '[<file>|-]',
    arity: [0, 1],
    about: 'Show an agent card at a broker, where others find it',
    details:
      'Publishes the card in the file, as card make wrote it, or one made and signed from the settings. Only the holder of a\ncard can publish it, with CT_CHANNEL_HOLDER_KEY or the key that this agent keeps. It stays until it expires or a newer\none takes its place; publish it again after the broker was restarted, and at least once a week.',
    examples: [
      'ct-agent card publish --roles planner --broker broker.example.org:4435',
      'ct-agent card publish card.json --broker broker.example.org:4435',
      'ct-agent card publish --withdraw --broker broker.example.org:4435',
    ],
    exits: true,
    rows: [
      ...TO_BROKER,
      CARD_ENV.roles,
      CARD_ENV.skills,
      CARD_ENV.channels,
      CARD_ENV.cells,
      CARD_ENV.ttlSeconds,
      VERIFY_ENV.skewSeconds,
      CHANNEL_ENV.holderKey,
      ...WITH_STATE,
    ],
    options: [{ name: 'withdraw', about: 'Take the card of this agent away instead' }, JSON_OPTION],
    load: async () => (await import('./online.ts')).cardPublish,
  },
  {
    words: ['card', 'find'],
    operands: '',
    arity: [0, 0],
    about: 'Find agent cards at a broker by role and skill',
    details:
      'Every card is verified here, whatever the broker says; what is not valid, or does not fit, is left out and named on\nstderr. A card proves that its holder said so, and nothing more.',
    examples: [
      'ct-agent card find --role planner --broker broker.example.org:4435',
      'ct-agent card find --skill review --json --broker broker.example.org:4435 | ct-agent card show',
    ],
    exits: true,
    rows: [...TO_BROKER, ...Object.values(VERIFY_ENV), ...STATELESS],
    options: [
      { name: 'role', value: 'role', about: 'Only cards with this role, to the letter' },
      { name: 'skill', value: 'id', about: 'Only cards with a skill of this id, to the letter' },
      { name: 'limit', value: 'number', about: 'At most so many cards; 100 unless given' },
      { name: 'json', about: 'Print the cards as JSON lines, as when the output is no terminal' },
    ],
    load: async () => (await import('./online.ts')).cardFind,
  },
]
