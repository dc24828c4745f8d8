/**
 * Settings of the ticket that a serving side gives out.
 *
 * @module
 */
import { type EnvRow, parseInteger } from '../../core/env.ts'

export const TICKET_GRANT_ENV = {
  days: {
    name: 'CT_TICKET_DAYS',
    about: 'Days for which a ticket with a broker is good, counted from the start of ct-agent serve that printed it',
    expects: 'a whole number',
    parse: parseInteger(1, 3_650),
    fallback: '30',
    flag: 'ticket-days',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>
