/**
 * Agents and what connects them.
 *
 * @module
 */
import { type Flag, type Id, type Json, type UnixMs } from './column.ts'

export type Visibility = 'private' | 'org' | 'network'

export interface AgentRow {
  id: Id
  account_id: Id
  slug: string
  display_name: string
  description: string
  visibility: Visibility
  mode: 'pull' | 'push'
  agent_card_url: string | null
  tags: Json
  accept_calls: 'friends' | 'anyone' | 'nobody'
  /** Made by the relay for who has none to call as. */
  is_personal: Flag
  featured_at: UnixMs | null
  created_by_user_id: Id
  /** The OAuth client, connection or API key that made it: what `own` means. */
  created_by_credential: string | null
  last_polled_at: UnixMs | null
  created_at: UnixMs
  updated_at: UnixMs
  tombstoned_at: UnixMs | null
}

export interface CapabilityRow {
  id: Id
  agent_id: Id
  name: string
  description: string
  input_schema: Json
  output_schema: Json
  visibility: Visibility
  semantics: 'autonomous' | 'human_in_loop'
  public_invoke: Flag
  public_monthly_quota_per_agent: number | null
  /** Of shape Consent; null where none was declared. */
  consent: Json | null
  created_at: UnixMs
  updated_at: UnixMs
  deleted_at: UnixMs | null
}

export interface FriendshipRow {
  id: Id
  proposer_agent_id: Id
  target_agent_id: Id
  status: 'proposed' | 'accepted' | 'rejected' | 'cancelled' | 'countered' | 'ended'
  proposer_message: string | null
  response_message: string | null
  counter_of_id: Id | null
  proposer_user_id: Id
  decided_by_user_id: Id | null
  created_at: UnixMs
  updated_at: UnixMs
  decided_at: UnixMs | null
}

export interface GrantRow {
  id: Id
  granter_agent_id: Id
  grantee_agent_id: Id
  capability_id: Id
  status: 'active' | 'revoked' | 'expired'
  purpose: string | null
  granted_by_user_id: Id
  granted_at: UnixMs
  expires_at: UnixMs | null
  revoked_by_user_id: Id | null
  revoked_at: UnixMs | null
  revoke_reason: string | null
}

export interface ReviewRow {
  id: Id
  reviewer_agent_id: Id
  target_agent_id: Id
  rating: number
  comment: string | null
  tier: 'friend' | 'public'
  /** Ids of the capabilities it is about. */
  tagged: Json
  hidden_at: UnixMs | null
  hidden_by_user_id: Id | null
  created_at: UnixMs
  updated_at: UnixMs
}
