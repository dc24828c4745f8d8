/**
 * Settings of a serving agent that has members.
 *
 * @module
 */
import { type EnvRow, parseInteger, parseSwitch } from '../../core/env.ts'

export const ROSTER_ENV = {
  grantDays: {
    name: 'CT_MEMBER_GRANT_DAYS',
    about: 'Days for which the grant of a member holds; members have it renewed by themselves after half of them',
    expects: 'a whole number',
    parse: parseInteger(1, 3_650),
    fallback: '30',
    flag: 'grant-days',
  },
  membersOnly: {
    name: 'CT_MEMBERS_ONLY',
    about: 'Give out no ticket with which everybody may call: only members may, who come by ct-agent invite',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
    flag: 'members-only',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>
