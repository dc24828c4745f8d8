/**
 * Settings of those whose card is at a broker.
 *
 * @module
 */
import { type EnvRow, parseSwitch } from '../../core/env.ts'

export const REGISTRY_ENV = {
  isListed: {
    name: 'CT_AGENT_CARD_LISTED',
    about: 'With a broker and a card, keep the card at the broker, where ct-agent card find shows it to everybody',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
    flag: 'list-card',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>
