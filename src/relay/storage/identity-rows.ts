/**
 * People, accounts, credentials, and what was done with them.
 *
 * @module
 */

import { type Flag, type Id, type Json, type UnixMs } from './column.ts'
import { type Visibility } from './network-rows.ts'

export type Role = 'owner' | 'admin' | 'member'

export type AgentScope = 'all' | 'own' | 'selected'

export type CredentialKind = 'session' | 'oauth' | 'device' | 'api_key'

export interface UserRow {
  id: Id
  /** Lower case. */
  email: string
  display_name: string
  is_admin: Flag
  password_hash: string | null
  created_at: UnixMs
  updated_at: UnixMs
}

export interface AccountRow {
  id: Id
  slug: string
  display_name: string
  account_type: 'individual' | 'organization'
  owner_user_id: Id
  default_agent_visibility: Visibility
  auto_friendship_enabled: Flag
  /** Invocations a minute; null for the relay's default. */
  rate_limit_per_min: number | null
  created_at: UnixMs
  updated_at: UnixMs
  tombstoned_at: UnixMs | null
}

export interface MembershipRow {
  account_id: Id
  user_id: Id
  role: Role
  invited_by: Id | null
  joined_at: UnixMs
}

export interface ApiKeyRow {
  id: Id
  user_id: Id
  /** The one account in which it acts; null for all of its user's. */
  account_id: Id | null
  name: string
  key_hash: string
  key_prefix: string
  agent_scope: AgentScope
  last_used_at: UnixMs | null
  expires_at: UnixMs | null
  revoked_at: UnixMs | null
  created_at: UnixMs
}

/** A sign-in of a person in a browser. */
export interface SessionRow {
  id: Id
  user_id: Id
  token_hash: string
  created_at: UnixMs
  expires_at: UnixMs
  revoked_at: UnixMs | null
}

/** What a person allowed a client or a device; its tokens are one family. */
export interface ConnectionRow {
  id: Id
  kind: 'oauth' | 'device'
  client_id: string | null
  user_id: Id
  scope: string
  resource: string | null
  agent_scope: AgentScope
  created_at: UnixMs
  last_used_at: UnixMs | null
  revoked_at: UnixMs | null
}

export interface TokenRow {
  id: Id
  connection_id: Id
  kind: 'access' | 'refresh'
  token_hash: string
  created_at: UnixMs
  expires_at: UnixMs
  /** When a refresh token was used. */
  rotated_at: UnixMs | null
  /** The answer to its use, encrypted with what only the token's owner has, for an identical repetition. */
  replay: string | null
  revoked_at: UnixMs | null
}

/** The agents of a credential whose scope is `selected`. */
export interface CredentialAgentRow {
  /** Id of the connection or API key. */
  credential_id: Id
  agent_id: Id
  added_at: UnixMs
}

export interface AuditRow {
  id: Id
  actor_user_id: Id | null
  account_id: Id | null
  credential_kind: CredentialKind | null
  credential_id: Id | null
  action: string
  resource_type: string
  resource_id: Id
  target_id: Id | null
  summary: string
  metadata: Json
  created_at: UnixMs
}
