/**
 * Which people decide for an agent. Any one of them is enough.
 *
 * @module
 */
import { type Caller } from '../identity/caller.ts'
import { consentOf } from '../network/capabilities.ts'
import { type Role } from '../storage/identity-rows.ts'
import { type CapabilityRow } from '../storage/network-rows.ts'

const DEFAULT_APPROVERS: readonly string[] = ['admins']

/** Words for roles; an id of a person counts only while that is a member. */
const ROLES: Readonly<Record<string, readonly Role[]>> = {
  owners: ['owner'],
  admins: ['owner', 'admin'],
  members: ['owner', 'admin', 'member'],
}

/** True for a person who may decide, with whatever credential. */
export function isApprover(
  { userId, roles }: Caller,
  accountId: string,
  capability: Pick<CapabilityRow, 'consent'>,
): boolean {
  const role = roles.get(accountId)
  if (role === undefined) return false
  const approvers = consentOf(capability)?.approvers ?? DEFAULT_APPROVERS
  return approvers.some((approver) => approver === userId || ROLES[approver]?.includes(role) === true)
}
