/**
 * Who asks: a person by one of several credentials, in the accounts that the person belongs to.
 *
 * Holds: a credential narrows what its person may do and never widens it.
 *
 * @module
 */
import { Refusal } from '../refusal.ts'
import { type AgentScope, type CredentialKind, type Role } from '../storage/identity-rows.ts'
import { type AgentRow } from '../storage/network-rows.ts'

export interface Caller {
  readonly userId: string
  readonly email: string
  readonly displayName: string
  readonly isAdmin: boolean
  readonly kind: CredentialKind
  /** Id of the session, connection or API key. */
  readonly credentialId: string
  /** What `own` means: agents that were made by this client or key, over all its tokens. */
  readonly origin: string
  /** The one account that the credential is limited to; null where it is not. */
  readonly accountId: string | null
  /** Where the credential acts, and in what role. */
  readonly roles: ReadonlyMap<string, Role>
  readonly agentScope: AgentScope
  /** The agents of a credential whose scope is `selected`. */
  readonly selected: ReadonlySet<string>
}

type Owned = Pick<AgentRow, 'id' | 'account_id' | 'created_by_credential'>

/** True for an agent that this credential may act as, and manage. */
export function manages({ roles, agentScope, origin, selected }: Caller, agent: Owned): boolean {
  if (!roles.has(agent.account_id)) return false
  if (agentScope === 'own') return agent.created_by_credential === origin
  return agentScope === 'all' || selected.has(agent.id)
}

/** @throws {Refusal} `forbidden`, as for accounts that do not exist */
export function requireMember({ roles }: Caller, accountId: string, role?: 'owner or admin'): void {
  const found = roles.get(accountId)
  if (found === undefined) throw new Refusal('forbidden', 'expected an account that you are a member of')
  if (role !== undefined && found === 'member') {
    throw new Refusal('forbidden', 'expected an owner or admin of the account, found a member')
  }
}
