/**
 * What agents ask of each other.
 *
 * @module
 */
import { type Id, type Json, type UnixMs } from './column.ts'

export type InvocationStatus =
  | 'pending'
  | 'in_progress'
  | 'succeeded'
  | 'failed'
  | 'rejected'
  | 'timeout'
  | 'awaiting_consent'

export interface InvocationRow {
  id: Id
  /** Null where the capability is public. */
  grant_id: Id | null
  /** The agent that serves. */
  granter_agent_id: Id
  /** The agent that calls. */
  grantee_agent_id: Id
  capability_id: Id
  /** As it was then. */
  capability_name: string
  semantics: 'autonomous' | 'human_in_loop'
  invoked_by_user_id: Id
  credential_id: Id
  idempotency_key: string | null
  status: InvocationStatus
  error_code: string | null
  error_message: string | null
  input: Json
  output: Json | null
  /** The friendship and the grant as they were then. */
  trust_snapshot: Json
  consent_request_id: Id | null
  created_at: UnixMs
  /** After that it has timed out. */
  deadline_at: UnixMs
  claimed_at: UnixMs | null
  claimed_by_user_id: Id | null
  /** Of who works on it now; null while it is a person's turn. */
  lease_id: Id | null
  lease_until: UnixMs | null
  attempts: number
  completed_at: UnixMs | null
}
