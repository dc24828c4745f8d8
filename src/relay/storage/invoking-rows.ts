/**
 * Requests of one agent to another, and the consent of people.
 *
 * @module
 */

import { type Id, type Json, type UnixMs } from './column.ts'
import { type CredentialKind } from './identity-rows.ts'

export type InvocationStatus =
  | 'awaiting_consent'
  | 'pending'
  | 'in_progress'
  | 'succeeded'
  | 'failed'
  | 'rejected'
  | 'timeout'

export interface InvocationRow {
  id: Id
  /** Null for a public capability. */
  grant_id: Id | null
  granter_agent_id: Id
  grantee_agent_id: Id
  capability_id: Id
  capability_name: string
  semantics: 'autonomous' | 'human_in_loop'
  status: InvocationStatus
  input: Json
  output: Json | null
  error_message: string | null
  error_code: string | null
  elapsed_ms: number | null
  invoked_by_user_id: Id
  credential_kind: CredentialKind
  credential_id: Id
  /** Friendship and grant as they were when it was queued. */
  trust_snapshot: Json
  call_id: Id | null
  consent_request_id: Id | null
  /** Who holds the claim; another claim has another. */
  lease_id: string | null
  lease_expires_at: UnixMs | null
  claims: number
  created_at: UnixMs
  claimed_at: UnixMs | null
  claimed_by_user_id: Id | null
  completed_at: UnixMs | null
}

/** So that a repeated request has the answer of the first. */
export interface IdempotencyRow {
  credential_id: Id
  key: string
  request_hash: string
  invocation_id: Id
  created_at: UnixMs
}

export interface ConsentRequestRow {
  id: Id
  kind: 'request' | 'reply'
  invocation_id: Id
  capability_id: Id
  requester_agent_id: Id
  serving_agent_id: Id
  purpose: string | null
  valid_for_secs: number | null
  max_requests: number | null
  /** The answer that waits for an approver; only of kind `reply`. */
  draft: Json | null
  status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled'
  reason: string | null
  decided_by_user_id: Id | null
  decided_at: UnixMs | null
  created_at: UnixMs
  expires_at: UnixMs
}

/** What an approver allowed for longer than one request. */
export interface ConsentRow {
  id: Id
  capability_id: Id
  requester_agent_id: Id
  purpose: string | null
  granted_by_user_id: Id
  granted_at: UnixMs
  valid_until: UnixMs
  remaining_requests: number | null
  revoked_at: UnixMs | null
}

export interface NoticeRow {
  id: Id
  agent_id: Id
  kind: string
  payload: Json
  created_at: UnixMs
  pulled_at: UnixMs | null
}
