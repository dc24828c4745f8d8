/**
 * The agents of the network: who sees them, what is said of them, and how they are named.
 *
 * Holds: an agent that somebody may not see is answered like one that does not exist.
 *
 * @module
 */

import { isUuid } from '../../core/uuid.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { notFound, Refusal } from '../refusal.ts'
import { type AccountRow } from '../storage/identity-rows.ts'
import { type AgentRow } from '../storage/network-rows.ts'
import { type Sql } from '../storage/open.ts'

/** An agent with what others call its account. */
export interface Agent extends AgentRow {
  readonly account_slug: AccountRow['slug']
  readonly account_display_name: AccountRow['display_name']
}

export function selectAgents(sql: Sql) {
  return sql
    .selectFrom('agents')
    .innerJoin('accounts', 'accounts.id', 'agents.account_id')
    .selectAll('agents')
    .select(['accounts.slug as account_slug', 'accounts.display_name as account_display_name'])
    .where('agents.tombstoned_at', 'is', null)
    .where('accounts.tombstoned_at', 'is', null)
}

/**
 * @param name an id, `account/agent`, or the slug of an agent of the caller's own accounts
 * @throws {Refusal} `not_found`
 */
export async function findAgent(sql: Sql, caller: Caller | undefined, name: string): Promise<Agent> {
  const agent = await named(sql, caller, name)
  if (agent === undefined || !(await sees(sql, caller, agent))) throw notFound('an agent')
  return agent
}

/** One that this credential may act as. @throws {Refusal} `not_found` */
export async function findOwnAgent(sql: Sql, caller: Caller, name: string): Promise<Agent> {
  const agent = await named(sql, caller, name)
  if (agent === undefined || !manages(caller, agent)) throw notFound('an agent of yours')
  return agent
}

async function named(sql: Sql, caller: Caller | undefined, name: string): Promise<Agent | undefined> {
  if (isUuid(name)) return selectAgents(sql).where('agents.id', '=', name).executeTakeFirst()
  const [account, slug, more] = name.split('/')
  if (more !== undefined) return undefined
  if (slug !== undefined) {
    return selectAgents(sql)
      .where('accounts.slug', '=', account ?? '')
      .where('agents.slug', '=', slug)
      .executeTakeFirst()
  }
  const own = [...(caller?.roles.keys() ?? [])]
  if (own.length === 0) return undefined
  return selectAgents(sql)
    .where('agents.slug', '=', name)
    .where('agents.account_id', 'in', own)
    .orderBy('agents.created_at')
    .executeTakeFirst()
}

/** By their ids, whether they are still there or not. */
export async function agentsById(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, Agent>> {
  if (ids.length === 0) return new Map()
  const agents = await sql
    .selectFrom('agents')
    .innerJoin('accounts', 'accounts.id', 'agents.account_id')
    .selectAll('agents')
    .select(['accounts.slug as account_slug', 'accounts.display_name as account_display_name'])
    .where('agents.id', 'in', [...new Set(ids)])
    .execute()
  return new Map(agents.map((agent) => [agent.id, agent]))
}

/** Of the caller's accounts, for a condition; which of them the credential manages is a further question. */
export function accountAgentIds(sql: Sql, { roles }: Caller) {
  return sql
    .selectFrom('agents')
    .select('agents.id')
    .where('agents.account_id', 'in', ['', ...roles.keys()])
}

/** True where the caller may know of the agent: by its visibility, its account, or what connects it to the caller's. */
export async function sees(sql: Sql, caller: Caller | undefined, agent: AgentRow): Promise<boolean> {
  if (agent.visibility === 'network') return true
  if (caller === undefined) return false
  if (caller.roles.has(agent.account_id)) return true
  if (agent.visibility === 'org' && (await shareOrganization(sql, caller, agent.account_id))) return true
  return isConnected(sql, caller, agent.id)
}

/** True where the caller belongs to an organization with somebody of the account. */
export async function shareOrganization(sql: Sql, caller: Caller, accountId: string): Promise<boolean> {
  if (caller.roles.size === 0) return false
  const found = await sql
    .selectFrom('memberships as mine')
    .innerJoin('accounts', 'accounts.id', 'mine.account_id')
    .innerJoin('memberships as theirs', 'theirs.account_id', 'mine.account_id')
    .innerJoin('accounts as owned', 'owned.owner_user_id', 'theirs.user_id')
    .select('accounts.id')
    .where('accounts.account_type', '=', 'organization')
    .where('accounts.tombstoned_at', 'is', null)
    .where('mine.user_id', '=', caller.userId)
    .where('owned.id', '=', accountId)
    .executeTakeFirst()
  return found !== undefined
}

async function isConnected(sql: Sql, caller: Caller, agentId: string): Promise<boolean> {
  const mine = accountAgentIds(sql, caller)
  const friend = await sql
    .selectFrom('friendships')
    .select('id')
    .where('status', 'in', ['proposed', 'accepted'])
    .where((or) =>
      or.or([
        or.and([or('proposer_agent_id', '=', agentId), or('target_agent_id', 'in', mine)]),
        or.and([or('target_agent_id', '=', agentId), or('proposer_agent_id', 'in', mine)]),
      ]),
    )
    .executeTakeFirst()
  if (friend !== undefined) return true
  const grant = await sql
    .selectFrom('grants')
    .select('id')
    .where('status', '=', 'active')
    .where((or) =>
      or.or([
        or.and([or('granter_agent_id', '=', agentId), or('grantee_agent_id', 'in', mine)]),
        or.and([or('grantee_agent_id', '=', agentId), or('granter_agent_id', 'in', mine)]),
      ]),
    )
    .executeTakeFirst()
  return grant !== undefined
}

/** The agents that the credential may act as, oldest first. */
export async function ownAgents(sql: Sql, caller: Caller): Promise<readonly Agent[]> {
  const accounts = [...caller.roles.keys()]
  if (accounts.length === 0) return []
  const agents = await selectAgents(sql)
    .where('agents.account_id', 'in', accounts)
    .orderBy('agents.created_at')
    .orderBy('agents.id')
    .execute()
  return agents.filter((agent) => manages(caller, agent))
}

/** What has an address of its own is not called through the relay. @throws {Refusal} `chk.mcp.push_agent` */
export function refusePush({ mode, agent_card_url: url }: Agent): void {
  if (mode !== 'push') return
  throw new Refusal('chk.mcp.push_agent', `this agent is reached over A2A, not through the relay: ${url}`, {
    detail: { card_url: url },
  })
}
