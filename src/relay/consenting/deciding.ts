/**
 * A person's yes or no, and what follows from it.
 *
 * Holds: a question is decided once, by an approver in a browser, while it is open.
 *
 * @module
 */
import { audit } from '../audit.ts'
import { type Caller } from '../identity/caller.ts'
import { inboxTopic, invocationTopic } from '../invoking/waiting.ts'
import { Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type Inside } from '../storage/open.ts'
import { isApprover } from './approvers.ts'
import { type ConsentRequest, findRequest } from './consent-shape.ts'
import { notify } from './notices.ts'

export type Verdict =
  /** The terms may be narrower than what was asked for. */
  | { readonly isYes: true; readonly validForSecs?: number | undefined; readonly maxRequests?: number | undefined }
  | { readonly isYes: false; readonly reason: string | undefined }

/** @throws {Refusal} `not_found`, `forbidden`, `conflict` */
export async function decide(
  relay: RelayContext,
  transaction: Inside,
  caller: Caller,
  requestId: string,
  verdict: Verdict,
): Promise<void> {
  const { sql, wake } = transaction
  const now = relay.clock.now()
  const request = await findRequest(sql, caller, requestId)
  refuseUnfit(caller, request, now)
  const status = verdict.isYes ? 'approved' : 'denied'
  const reason = verdict.isYes ? null : (verdict.reason ?? null)
  await sql
    .updateTable('consent_requests')
    .set({ status, reason, decided_at: now, decided_by_user_id: caller.userId, draft_output: null })
    .where('id', '=', request.id)
    .execute()
  if (verdict.isYes) await allow(relay, transaction, caller, request, verdict)
  else await forbid(transaction, request, reason, now)
  wake(invocationTopic(request.invocation_id))
  await notify(relay, transaction, request.serving_agent_id, 'consent_decided', {
    consent_request_id: request.id,
    invocation_id: request.invocation_id,
    status,
    reason,
  })
  await audit(relay, sql, caller, {
    action: verdict.isYes ? 'consent.approve' : 'consent.deny',
    resourceId: request.id,
    targetId: request.requester_agent_id,
    accountId: request.serving.account_id,
    summary: `${status} ${request.kind === 'reply' ? 'an answer of' : 'a call of'} ${request.capability.name} of the agent ${request.serving.slug}`,
  })
}

/** @throws {Refusal} `forbidden`, `conflict` */
function refuseUnfit(
  caller: Caller,
  { serving, capability, status, expires_at: expires }: ConsentRequest,
  now: number,
) {
  if (!isApprover(caller, serving.account_id, capability)) {
    throw new Refusal('forbidden', 'expected one of the approvers of this capability')
  }
  if (caller.kind !== 'session') {
    throw new Refusal('forbidden', 'expected a person who is signed in with a browser: a program does not decide')
  }
  if (status !== 'pending' || expires <= now) {
    throw new Refusal(
      'conflict',
      `expected a request that is open, found it ${status === 'pending' ? 'expired' : status}`,
    )
  }
}

async function allow(
  relay: RelayContext,
  { sql, wake }: Inside,
  caller: Caller,
  request: ConsentRequest,
  { validForSecs, maxRequests }: Extract<Verdict, { isYes: true }>,
): Promise<void> {
  const now = relay.clock.now()
  if (request.kind === 'reply') {
    const answered = await sql
      .updateTable('invocations')
      .set({ status: 'succeeded', output: request.draft_output, completed_at: now, lease_id: null, lease_until: null })
      .where('id', '=', request.invocation_id)
      .where('status', '=', 'in_progress')
      .returning('id')
      .execute()
    if (answered.length === 0) throw new Refusal('conflict', 'expected a call that is open, found it over')
    return
  }
  const queued = await sql
    .updateTable('invocations')
    .set({ status: 'pending', deadline_at: now + relay.settings.invocationTimeoutSecs * 1_000 })
    .where('id', '=', request.invocation_id)
    .where('status', '=', 'awaiting_consent')
    .returning('id')
    .execute()
  if (queued.length === 0) throw new Refusal('conflict', 'expected a call that is held, found it over')
  wake(inboxTopic(request.serving_agent_id))
  // Without terms the word is for this one call.
  if (request.valid_for_secs === null) return
  const asked = request.max_requests ?? Infinity
  const requests = Math.min(asked, maxRequests ?? Infinity)
  await sql
    .insertInto('consents')
    .values({
      id: newId(relay),
      consent_request_id: request.id,
      capability_id: request.capability_id,
      requester_agent_id: request.requester_agent_id,
      serving_agent_id: request.serving_agent_id,
      purpose: request.purpose,
      valid_until: now + Math.min(request.valid_for_secs, validForSecs ?? Infinity) * 1_000,
      remaining_requests: requests === Infinity ? null : requests - 1,
      granted_by_user_id: caller.userId,
      created_at: now,
      revoked_at: null,
    })
    .execute()
}

async function forbid(
  { sql, wake }: Inside,
  { kind, invocation_id: invocationId, serving_agent_id: servingId }: ConsentRequest,
  reason: string | null,
  now: number,
): Promise<void> {
  if (kind === 'request') {
    await sql
      .updateTable('invocations')
      .set({
        status: 'rejected',
        error_code: 'chk.policy.consent_denied',
        error_message: reason === null ? 'an approver said no' : `an approver said no: ${reason}`,
        completed_at: now,
      })
      .where('id', '=', invocationId)
      .where('status', '=', 'awaiting_consent')
      .execute()
    return
  }
  // The agent may answer again: the work is in its inbox once more.
  await sql
    .updateTable('invocations')
    .set({ lease_until: now, consent_request_id: null })
    .where('id', '=', invocationId)
    .where('status', '=', 'in_progress')
    .execute()
  wake(inboxTopic(servingId))
}
