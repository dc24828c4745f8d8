/**
 * As which of its agents a credential calls a capability.
 *
 * Holds: nobody calls as an agent that the credential does not manage, and a grant is used only while it is active and
 * the two agents are friends.
 *
 * @module
 */
import { type Caller } from '../identity/caller.ts'
import { insertAgent } from '../network/agent-operations.ts'
import { type Agent, findOwnAgent, ownAgents, selectAgents } from '../network/agents.ts'
import { friendshipBetween } from '../network/friendships.ts'
import { statusOf } from '../network/grants.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type CapabilityRow, type FriendshipRow, type GrantRow } from '../storage/network-rows.ts'
import { type Sql } from '../storage/open.ts'

/** Who calls, and what lets it. */
export type Calling =
  | { readonly grantee: Agent; readonly grant: GrantRow; readonly friendship: FriendshipRow }
  /** The capability is public. */
  | { readonly grantee: Agent; readonly grant?: undefined }

interface Target {
  readonly granter: Agent
  readonly capability: CapabilityRow
}

const PERSONAL_SLUG = 'personal'
/** Slugs that are tried for a personal agent. */
const MAX_SLUG_TRIES = 1_000

/**
 * In this order: the agent that is named; the one that has been granted the capability, by the oldest grant; for a public
 * capability the credential's default agent, which is made where there is none.
 *
 * @throws {Refusal} `chk.policy.grant_required`, `chk.mcp.as_required`; `not_found` for a named agent of others
 */
export async function chooseCallingAgent(
  relay: RelayContext,
  sql: Sql,
  caller: Caller,
  target: Target,
  named: string | undefined,
): Promise<Calling> {
  const own = named === undefined ? await ownAgents(sql, caller) : [await findOwnAgent(sql, caller, named)]
  const granted = await oldestGrant(relay, sql, target, own)
  if (granted !== undefined) return granted
  if (!isPublic(target)) throw grantRequired(target)
  const [one] = own
  if (named !== undefined && one !== undefined) return { grantee: one }
  return { grantee: await defaultAgent(relay, sql, caller, own) }
}

/** Whether a capability can be called, and as whom; an agent that would have to be made is not yet known. */
export type Callability =
  | { readonly capability: CapabilityRow; readonly isCallable: true; readonly as: Agent | undefined }
  | { readonly capability: CapabilityRow; readonly isCallable: false; readonly reason: Refusal }

/** As {@link chooseCallingAgent} would choose for each, making nothing. @throws {Refusal} `not_found` for a named agent of others */
export async function callabilities(
  relay: RelayContext,
  sql: Sql,
  caller: Caller,
  granter: Agent,
  capabilities: readonly CapabilityRow[],
  named: string | undefined,
): Promise<readonly Callability[]> {
  const own = named === undefined ? await ownAgents(sql, caller) : [await findOwnAgent(sql, caller, named)]
  const found: Callability[] = []
  for (const capability of capabilities) {
    const target = { granter, capability }
    const granted = await oldestGrant(relay, sql, target, own)
    if (granted !== undefined) found.push({ capability, isCallable: true, as: granted.grantee })
    else if (!isPublic(target)) found.push({ capability, isCallable: false, reason: grantRequired(target) })
    else found.push(openTo(capability, caller, own, named))
  }
  return found
}

function openTo(
  capability: CapabilityRow,
  { agentScope }: Caller,
  own: readonly Agent[],
  named: string | undefined,
): Callability {
  const [one, another] = own
  if (named !== undefined) return { capability, isCallable: true, as: one }
  if (agentScope === 'all') {
    return { capability, isCallable: true, as: own.find(({ is_personal: isPersonal }) => isPersonal === 1) }
  }
  if (another !== undefined || (one === undefined && agentScope === 'selected')) {
    return { capability, isCallable: false, reason: asRequired(own) }
  }
  return { capability, isCallable: true, as: one }
}

export function isPublic({ granter, capability }: Target): boolean {
  return capability.public_invoke === 1 && capability.visibility === 'network' && granter.visibility === 'network'
}

export function grantRequired({ granter, capability }: Target): Refusal {
  const name = `${granter.account_slug}/${granter.slug}`
  return new Refusal(
    'chk.policy.grant_required',
    `expected a grant for ${capability.name} of ${name}: propose a friendship to it (propose_friendship), then ask its owner for a grant`,
  )
}

async function oldestGrant(
  { clock }: RelayContext,
  sql: Sql,
  { granter, capability }: Target,
  own: readonly Agent[],
): Promise<Calling | undefined> {
  if (own.length === 0) return undefined
  const agents = new Map(own.map((agent) => [agent.id, agent]))
  const grants = await sql
    .selectFrom('grants')
    .selectAll()
    .where('capability_id', '=', capability.id)
    .where('status', '=', 'active')
    .where('grantee_agent_id', 'in', [...agents.keys()])
    .orderBy('granted_at')
    .orderBy('id')
    .execute()
  for (const grant of grants) {
    const grantee = agents.get(grant.grantee_agent_id)
    if (grantee === undefined || statusOf(grant, clock.now()) !== 'active') continue
    const friendship = await friendshipBetween(sql, granter.id, grantee.id)
    if (friendship !== undefined) return { grantee, grant, friendship }
  }
  return undefined
}

async function defaultAgent(relay: RelayContext, sql: Sql, caller: Caller, own: readonly Agent[]): Promise<Agent> {
  if (caller.agentScope === 'all') {
    return own.find(({ is_personal: isPersonal }) => isPersonal === 1) ?? makePersonalAgent(relay, sql, caller)
  }
  const [one, another] = own
  if (another !== undefined) throw asRequired(own)
  if (one !== undefined) return one
  if (caller.agentScope === 'own') return makePersonalAgent(relay, sql, caller)
  throw asRequired(own)
}

const MAX_NAMED = 10

function asRequired(own: readonly Agent[]): Refusal {
  const names = own.slice(0, MAX_NAMED).map(({ account_slug, slug }) => `${account_slug}/${slug}`)
  return new Refusal(
    'chk.mcp.as_required',
    `expected the agent to call as, since the credential is for ${own.length} agents: name one${names.length === 0 ? '' : ` of ${names.join(', ')}`}`,
  )
}

async function makePersonalAgent(relay: RelayContext, sql: Sql, caller: Caller): Promise<Agent> {
  const accounts = await sql
    .selectFrom('accounts')
    .select(['id', 'account_type'])
    .where('id', 'in', ['', ...caller.roles.keys()])
    .orderBy('created_at')
    .execute()
  const account = accounts.find(({ account_type: type }) => type === 'individual') ?? accounts[0]
  if (account === undefined) throw new Refusal('forbidden', 'expected a credential of some account')
  const taken = await sql
    .selectFrom('agents')
    .select('slug')
    .where('account_id', '=', account.id)
    .where('tombstoned_at', 'is', null)
    .where('slug', 'like', `${PERSONAL_SLUG}%`)
    .execute()
  const slugs = new Set(taken.map(({ slug }) => slug))
  const slug = Array.from({ length: MAX_SLUG_TRIES }, (_, index) =>
    index === 0 ? PERSONAL_SLUG : `${PERSONAL_SLUG}-${index + 1}`,
  ).find((one) => !slugs.has(one))
  if (slug === undefined) throw new Refusal('conflict', 'expected fewer personal agents')
  const agentId = await insertAgent(relay, sql, caller, {
    account_id: account.id,
    slug,
    display_name: `${caller.displayName}'s agent`,
    description: '',
    visibility: 'private',
    agent_card_url: null,
    tags: [],
    accept_calls: 'nobody',
    is_personal: 1,
  })
  return selectAgents(sql).where('agents.id', '=', agentId).executeTakeFirstOrThrow()
}
