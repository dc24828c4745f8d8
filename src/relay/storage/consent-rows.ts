/**
 * What people are asked before agents go on, and what agents are told.
 *
 * @module
 */
import { type Id, type Json, type UnixMs } from './column.ts'

export interface ConsentRequestRow {
  id: Id
  /** Whether a call may come in, or an answer go out. */
  kind: 'request' | 'reply'
  capability_id: Id
  invocation_id: Id
  requester_agent_id: Id
  serving_agent_id: Id
  purpose: string | null
  /** How long the approval should last, in seconds; null where it is for this one alone. */
  valid_for_secs: number | null
  max_requests: number | null
  /** The answer that waits, of kind `reply`. */
  draft_output: Json | null
  status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled'
  reason: string | null
  created_at: UnixMs
  expires_at: UnixMs
  decided_by_user_id: Id | null
  decided_at: UnixMs | null
}

/** An approval that lasts. */
export interface ConsentRow {
  id: Id
  consent_request_id: Id
  capability_id: Id
  requester_agent_id: Id
  serving_agent_id: Id
  purpose: string | null
  valid_until: UnixMs
  /** Null for as many as come in time. */
  remaining_requests: number | null
  granted_by_user_id: Id
  created_at: UnixMs
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
