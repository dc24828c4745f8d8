/**
 * The tables of the relay by their names in the database.
 *
 * @module
 */
import {
  type AccountRow,
  type ApiKeyRow,
  type AuditRow,
  type AuthorizationCodeRow,
  type ClientRow,
  type ConnectionRow,
  type CredentialAgentRow,
  type DeviceCodeRow,
  type InviteRow,
  type MembershipRow,
  type SessionRow,
  type SigninFailureRow,
  type TokenRow,
  type UsageRow,
  type UserRow,
} from './identity-rows.ts'
import {
  type ConsentRequestRow,
  type ConsentRow,
  type IdempotencyRow,
  type InvocationRow,
  type NoticeRow,
} from './invoking-rows.ts'
import { type AgentRow, type CapabilityRow, type FriendshipRow, type GrantRow, type ReviewRow } from './network-rows.ts'

export interface Schema {
  users: UserRow
  accounts: AccountRow
  memberships: MembershipRow
  invites: InviteRow
  api_keys: ApiKeyRow
  sessions: SessionRow
  clients: ClientRow
  connections: ConnectionRow
  authorization_codes: AuthorizationCodeRow
  tokens: TokenRow
  device_codes: DeviceCodeRow
  credential_agents: CredentialAgentRow
  signin_failures: SigninFailureRow
  agents: AgentRow
  capabilities: CapabilityRow
  friendships: FriendshipRow
  grants: GrantRow
  invocations: InvocationRow
  idempotency: IdempotencyRow
  consent_requests: ConsentRequestRow
  consents: ConsentRow
  notices: NoticeRow
  reviews: ReviewRow
  audit_events: AuditRow
  usage_events: UsageRow
}
