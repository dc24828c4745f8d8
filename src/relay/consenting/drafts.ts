/**
 * Answers that wait for a person's word before they go out.
 *
 * @module
 */
import { isoTime } from '../fields.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type ConsentRequestRow } from '../storage/consent-rows.ts'
import { type InvocationRow } from '../storage/invocation-rows.ts'
import { type Sql } from '../storage/open.ts'
import { approveUrl } from './holding.ts'

export interface Drafted {
  readonly invocation_id: string
  readonly status: 'awaiting_confirmation'
  readonly consent_request_id: string
  readonly approve_url: string
  readonly expires_at: string
}

/** Keeps the answer; the work is nobody's while a person thinks. A newer answer takes the place of one that waits. */
export async function draftAnswer(
  relay: RelayContext,
  sql: Sql,
  invocation: InvocationRow,
  output: string,
): Promise<Drafted> {
  const now = relay.clock.now()
  await cancelDrafts(sql, invocation.id, now)
  const request: ConsentRequestRow = {
    id: newId(relay),
    kind: 'reply',
    capability_id: invocation.capability_id,
    invocation_id: invocation.id,
    requester_agent_id: invocation.grantee_agent_id,
    serving_agent_id: invocation.granter_agent_id,
    purpose: null,
    valid_for_secs: null,
    max_requests: null,
    draft_output: output,
    status: 'pending',
    reason: null,
    created_at: now,
    expires_at: now + relay.settings.draftTtlSecs * 1_000,
    decided_by_user_id: null,
    decided_at: null,
  }
  await sql.insertInto('consent_requests').values(request).execute()
  await sql
    .updateTable('invocations')
    .set({
      lease_id: null,
      lease_until: null,
      consent_request_id: request.id,
      deadline_at: Math.max(invocation.deadline_at, request.expires_at),
    })
    .where('id', '=', invocation.id)
    .execute()
  return {
    invocation_id: invocation.id,
    status: 'awaiting_confirmation',
    consent_request_id: request.id,
    approve_url: approveUrl(relay, request.id),
    expires_at: isoTime(request.expires_at),
  }
}

export async function cancelDrafts(sql: Sql, invocationId: string, now: number): Promise<void> {
  await sql
    .updateTable('consent_requests')
    .set({ status: 'cancelled', decided_at: now, draft_output: null })
    .where('invocation_id', '=', invocationId)
    .where('kind', '=', 'reply')
    .where('status', '=', 'pending')
    .execute()
}
