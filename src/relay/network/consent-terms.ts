/**
 * What the owner of a capability asks for before it is used.
 *
 * @module
 */
import { z } from 'zod'
import { isUuid } from '../../core/uuid.ts'
import { keptAddress } from '../identity/accounts.ts'
import { Refusal } from '../refusal.ts'
import { type Sql } from '../storage/open.ts'
import { duration } from './duration.ts'

const DEFAULT_MAX_VALIDITY = '30d'
const DEFAULT_WAIT = '24h'
const MAX_APPROVERS = 20
const MAX_APPROVER_CHARS = 254

/** Everybody of the account who has that role, or one above it. */
const ROLE_WORDS = ['owners', 'admins', 'members'] as const
export type RoleWord = (typeof ROLE_WORDS)[number]

export const consentInput = z.object({
  required: z.boolean().default(false),
  approvers: z
    .union([z.string(), z.array(z.string().min(1).max(MAX_APPROVER_CHARS)).min(1).max(MAX_APPROVERS)])
    .default(['admins'])
    .meta({ description: 'owners, admins or members, or e-mail addresses or ids of members of the account' }),
  max_validity: duration.prefault(DEFAULT_MAX_VALIDITY),
  wait: duration.prefault(DEFAULT_WAIT),
})

/** As it is kept and shown. Times are seconds. */
export const consentShape = z.object({
  required: z.boolean(),
  /** Words for roles, and ids of people. */
  approvers: z.array(z.string()),
  max_validity: z.number(),
  wait: z.number(),
})

export type Consent = z.infer<typeof consentShape>

export function isRoleWord(approver: string): approver is RoleWord {
  return ROLE_WORDS.some((word) => word === approver)
}

/** With people by their ids. @throws {Refusal} `invalid_request` for who is no member of the account */
export async function resolveConsent(
  sql: Sql,
  accountId: string,
  { approvers, ...terms }: z.output<typeof consentInput>,
): Promise<Consent> {
  const members = await sql
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select(['users.id', 'users.email'])
    .where('account_id', '=', accountId)
    .execute()
  const resolved = [approvers].flat().map((approver) => {
    if (isRoleWord(approver)) return approver
    const wanted = isUuid(approver) ? approver : keptAddress(approver)
    const member = members.find(({ id, email }) => id === wanted || email === wanted)
    if (member !== undefined) return member.id
    throw new Refusal(
      'invalid_request',
      `consent.approvers: expected ${ROLE_WORDS.join(', ')} or members of the account, found another`,
    )
  })
  return { ...terms, approvers: [...new Set(resolved)] }
}
