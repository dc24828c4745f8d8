/**
 * Clients of OAuth and what they are in the midst of.
 *
 * @module
 */
import { type Id, type Json, type UnixMs } from './column.ts'
import { type AgentScope } from './identity-rows.ts'

export interface ClientRow {
  client_id: string
  client_name: string
  /** Of texts. */
  redirect_uris: Json
  client_uri: string | null
  created_at: UnixMs
  /** When somebody last allowed it something; null for never. */
  allowed_at: UnixMs | null
}

export interface CodeRow {
  code_hash: string
  client_id: string
  user_id: Id
  redirect_uri: string
  /** Of S256. */
  code_challenge: string
  resource: string | null
  agent_scope: AgentScope
  /** Of ids. */
  selected: Json
  created_at: UnixMs
  expires_at: UnixMs
  used_at: UnixMs | null
  /** What came of it. */
  connection_id: Id | null
}

export interface DeviceRow {
  id: Id
  device_hash: string
  user_code: string
  client_id: string | null
  /** What the device would like: texts by name. */
  hints: Json
  status: 'pending' | 'approved' | 'denied' | 'consumed'
  user_id: Id | null
  agent_id: Id | null
  agent_scope: AgentScope
  /** Of ids. */
  selected: Json
  interval_secs: number
  last_polled_at: UnixMs | null
  created_at: UnixMs
  expires_at: UnixMs
}

/** Failed sign-ins for one address, whether anybody has it or not. */
export interface SignInFailureRow {
  email_hash: string
  failures: number
  began_at: UnixMs
}
