/**
 * The tables of the relay by their names in the database.
 *
 * @module
 */
import { type ClientRow, type CodeRow, type DeviceRow, type SignInFailureRow } from './authorization-rows.ts'
import { type ConsentRequestRow, type ConsentRow, type NoticeRow } from './consent-rows.ts'
import {
  type AccountRow,
  type ApiKeyRow,
  type AuditRow,
  type ConnectionRow,
  type CredentialAgentRow,
  type MembershipRow,
  type SessionRow,
  type TokenRow,
  type UserRow,
} from './identity-rows.ts'
import { type InvocationRow } from './invocation-rows.ts'
import { type LedgerRow, type RateWindowRow, type WalletRow } from './metering-rows.ts'
import { type AgentRow, type CapabilityRow, type FriendshipRow, type GrantRow, type ReviewRow } from './network-rows.ts'

export interface Schema {
  users: UserRow
  accounts: AccountRow
  memberships: MembershipRow
  api_keys: ApiKeyRow
  sessions: SessionRow
  connections: ConnectionRow
  tokens: TokenRow
  credential_agents: CredentialAgentRow
  agents: AgentRow
  capabilities: CapabilityRow
  friendships: FriendshipRow
  grants: GrantRow
  reviews: ReviewRow
  audit_events: AuditRow
  clients: ClientRow
  codes: CodeRow
  devices: DeviceRow
  sign_in_failures: SignInFailureRow
  invocations: InvocationRow
  consent_requests: ConsentRequestRow
  consents: ConsentRow
  notices: NoticeRow
  rate_windows: RateWindowRow
  wallets: WalletRow
  ledger: LedgerRow
}
