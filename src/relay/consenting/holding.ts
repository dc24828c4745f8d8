/**
 * Calls that wait for a person's word before they go in.
 *
 * @module
 */
import { z } from 'zod'
import { isoTime } from '../fields.ts'
import { type Consent } from '../network/consent-terms.ts'
import { duration } from '../network/duration.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type ConsentRequestRow } from '../storage/consent-rows.ts'
import { type InvocationRow } from '../storage/invocation-rows.ts'
import { type Inside, type Sql } from '../storage/open.ts'
import { notify } from './notices.ts'

const MAX_PURPOSE_CHARS = 500
const MAX_REQUESTS = 1_000_000

/** What a caller would like to be allowed. */
export const consentTerms = z.object({
  valid_for: duration,
  purpose: z.string().max(MAX_PURPOSE_CHARS).optional(),
  max_requests: z.int().min(1).max(MAX_REQUESTS).optional(),
})

export type ConsentTerms = z.output<typeof consentTerms>

/** True where an approval that lasts covers one more, which is then used up. */
export async function useConsent(
  sql: Sql,
  { capability_id: capabilityId, grantee_agent_id: requesterId }: InvocationRow,
  now: number,
): Promise<boolean> {
  const standing = await sql
    .selectFrom('consents')
    .selectAll()
    .where('capability_id', '=', capabilityId)
    .where('requester_agent_id', '=', requesterId)
    .where('revoked_at', 'is', null)
    .where('valid_until', '>', now)
    .where((or) => or.or([or('remaining_requests', 'is', null), or('remaining_requests', '>', 0)]))
    .orderBy('valid_until')
    .executeTakeFirst()
  if (standing === undefined) return false
  if (standing.remaining_requests !== null) {
    await sql
      .updateTable('consents')
      .set({ remaining_requests: standing.remaining_requests - 1 })
      .where('id', '=', standing.id)
      .execute()
  }
  return true
}

export function approveUrl({ settings }: Pick<RelayContext, 'settings'>, requestId: string): string {
  return `${settings.publicUrl}/app/consent/${requestId}`
}

/** Asks the approvers, and tells the serving agent that they are asked. After the invocation was inserted. */
export async function askForConsent(
  relay: RelayContext,
  transaction: Inside,
  invocation: InvocationRow,
  consent: Consent,
  terms: ConsentTerms | undefined,
): Promise<void> {
  const now = relay.clock.now()
  const request: ConsentRequestRow = {
    id: invocation.consent_request_id ?? newId(relay),
    kind: 'request',
    capability_id: invocation.capability_id,
    invocation_id: invocation.id,
    requester_agent_id: invocation.grantee_agent_id,
    serving_agent_id: invocation.granter_agent_id,
    purpose: terms?.purpose ?? null,
    valid_for_secs: terms === undefined ? null : Math.min(terms.valid_for, consent.max_validity),
    max_requests: terms === undefined ? 1 : (terms.max_requests ?? null),
    draft_output: null,
    status: 'pending',
    reason: null,
    created_at: now,
    expires_at: now + consent.wait * 1_000,
    decided_by_user_id: null,
    decided_at: null,
  }
  await transaction.sql.insertInto('consent_requests').values(request).execute()
  await notify(relay, transaction, invocation.granter_agent_id, 'consent_requested', {
    invocation_id: invocation.id,
    consent_request_id: request.id,
    approve_url: approveUrl(relay, request.id),
    expires_at: isoTime(request.expires_at),
    capability_name: invocation.capability_name,
    requester_agent_id: invocation.grantee_agent_id,
    purpose: request.purpose,
  })
}
