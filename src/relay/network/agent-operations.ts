/**
 * Making, changing and removing agents.
 *
 * @module
 */
import { z } from 'zod'
import { audit } from '../audit.ts'
import { agentName, description, displayName, id, slug, visibility } from '../fields.ts'
import { type Caller, requireMember } from '../identity/caller.ts'
import { rejectQueued } from '../invoking/rejecting.ts'
import { type Operation, operation } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type AgentRow } from '../storage/network-rows.ts'
import { type Sql } from '../storage/open.ts'
import { agentShape, showAgent, showAgents } from './agent-shape.ts'
import { findAgent, findOwnAgent, ownAgents, sees, selectAgents } from './agents.ts'
import { narrowCapabilities } from './capabilities.ts'
import { revokeGrants } from './grants.ts'
import { isPrivateHost } from './private-address.ts'

const MAX_TAGS = 20
const MAX_TAG_CHARS = 40
const MAX_URL_CHARS = 2_048
/** Of one account. */
const MAX_AGENTS = 1_000
const MAX_LISTED = 500

const tags = z.array(z.string().trim().toLowerCase().min(1).max(MAX_TAG_CHARS)).max(MAX_TAGS)
const acceptCalls = z.enum(['friends', 'anyone', 'nobody'])
const cardUrl = z.string().max(MAX_URL_CHARS)

const listMyAgents = operation({
  name: 'list_my_agents',
  about: 'The agents that this credential may act as',
  rest: { method: 'get', path: '/v1/agents' },
  tool: { title: 'List my agents', readOnly: true },
  input: z.object({}),
  output: z.array(agentShape),
  run: async (relay, caller) => showAgents(relay.database.sql, caller, await ownAgents(relay.database.sql, caller)),
})

const listNetworkAgents = operation({
  name: 'list_network_agents',
  about: 'The newest agents that everybody, or everybody of your organizations, may see',
  rest: { method: 'get', path: '/v1/network/agents' },
  tool: { title: 'List the agents of the network', readOnly: true },
  input: z.object({}),
  output: z.array(agentShape),
  run: async ({ database: { sql } }, caller) => {
    const found = await selectAgents(sql)
      .where('agents.visibility', 'in', ['network', 'org'])
      .orderBy('agents.created_at', 'desc')
      .limit(MAX_LISTED)
      .execute()
    const seen = []
    for (const agent of found) if (await sees(sql, caller, agent)) seen.push(agent)
    return showAgents(sql, caller, seen)
  },
})

const createAgent = operation({
  name: 'create_agent',
  about: 'Make an agent in one of your accounts',
  rest: { method: 'post', path: '/v1/agents', status: 201 },
  tool: { title: 'Create an agent' },
  input: z.object({
    account_id: id,
    slug,
    display_name: displayName,
    description: description.default(''),
    visibility: visibility.optional(),
    agent_card_url: cardUrl.optional(),
    tags: tags.default([]),
    accept_calls: acceptCalls.default('friends'),
  }),
  output: agentShape,
  run: async (relay, caller, input) => {
    requireMember(caller, input.account_id)
    const card = input.agent_card_url === undefined ? null : readCardUrl(input.agent_card_url)
    const agent = await relay.database.transaction(async (sql) => {
      const account = await sql
        .selectFrom('accounts')
        .select(['default_agent_visibility'])
        .where('id', '=', input.account_id)
        .executeTakeFirstOrThrow()
      const visibility = input.visibility ?? account.default_agent_visibility
      if (visibility === 'network') requireMember(caller, input.account_id, 'owner or admin')
      return insertAgent(relay, sql, caller, {
        account_id: input.account_id,
        slug: input.slug,
        display_name: input.display_name,
        description: input.description,
        visibility,
        agent_card_url: card,
        tags: input.tags,
        accept_calls: input.accept_calls,
        is_personal: 0,
      })
    })
    const made = await selectAgents(relay.database.sql).where('agents.id', '=', agent).executeTakeFirstOrThrow()
    return showAgent(relay.database.sql, caller, made)
  },
})

type NewAgent = Pick<
  AgentRow,
  | 'account_id'
  | 'slug'
  | 'display_name'
  | 'description'
  | 'visibility'
  | 'agent_card_url'
  | 'accept_calls'
  | 'is_personal'
> & { readonly tags: readonly string[] }

/** @returns its id @throws {Refusal} `conflict` where the slug is taken or the account is full */
export async function insertAgent(relay: RelayContext, sql: Sql, caller: Caller, agent: NewAgent): Promise<string> {
  const siblings = sql
    .selectFrom('agents')
    .where('account_id', '=', agent.account_id)
    .where('tombstoned_at', 'is', null)
  const taken = await siblings.select('id').where('slug', '=', agent.slug).executeTakeFirst()
  if (taken !== undefined)
    throw new Refusal('conflict', `expected a slug that is free in the account, found ${agent.slug} taken`)
  const { count } = await siblings.select((of) => of.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  if (Number(count) >= MAX_AGENTS) throw new Refusal('conflict', `expected at most ${MAX_AGENTS} agents in an account`)
  const [agentId, now] = [newId(relay), relay.clock.now()]
  await sql
    .insertInto('agents')
    .values({
      ...agent,
      id: agentId,
      tags: JSON.stringify(agent.tags),
      mode: agent.agent_card_url === null ? 'pull' : 'push',
      featured_at: null,
      created_by_user_id: caller.userId,
      created_by_credential: caller.kind === 'session' ? null : caller.origin,
      last_polled_at: null,
      created_at: now,
      updated_at: now,
      tombstoned_at: null,
    })
    .execute()
  // What a narrow credential makes it may also use.
  if (caller.agentScope === 'selected') {
    await sql
      .insertInto('credential_agents')
      .values({ credential_id: caller.credentialId, agent_id: agentId, added_at: now })
      .execute()
  }
  await audit(relay, sql, caller, {
    action: 'agent.create',
    resourceId: agentId,
    accountId: agent.account_id,
    summary: `made the agent ${agent.slug}`,
  })
  return agentId
}

const getAgent = operation({
  name: 'get_agent',
  about: 'One agent, if you may see it',
  rest: { method: 'get', path: '/v1/agents/{agent_id}' },
  tool: { title: 'Show an agent', readOnly: true },
  input: z.object({ agent_id: agentName }),
  output: agentShape,
  run: async ({ database: { sql } }, caller, input) =>
    showAgent(sql, caller, await findAgent(sql, caller, input.agent_id)),
})

const updateAgent = operation({
  name: 'update_agent',
  about: 'Change an agent of yours; what is not given stays as it is',
  rest: { method: 'patch', path: '/v1/agents/{agent_id}' },
  tool: { title: 'Change an agent' },
  input: z.object({
    agent_id: agentName,
    display_name: displayName.optional(),
    description: description.optional(),
    visibility: visibility.optional(),
    agent_card_url: cardUrl.optional(),
    tags: tags.optional(),
    accept_calls: acceptCalls.optional(),
  }),
  output: agentShape,
  run: async (relay, caller, input) => {
    const changed = await relay.database.transaction(async (sql) => {
      const agent = await findOwnAgent(sql, caller, input.agent_id)
      const widens = input.visibility === 'network' && agent.visibility !== 'network'
      if (widens) requireMember(caller, agent.account_id, 'owner or admin')
      const card = input.agent_card_url === undefined ? agent.agent_card_url : readCardUrl(input.agent_card_url)
      await sql
        .updateTable('agents')
        .set({
          display_name: input.display_name ?? agent.display_name,
          description: input.description ?? agent.description,
          visibility: input.visibility ?? agent.visibility,
          tags: input.tags === undefined ? agent.tags : JSON.stringify(input.tags),
          accept_calls: input.accept_calls ?? agent.accept_calls,
          agent_card_url: card,
          mode: card === null ? 'pull' : 'push',
          updated_at: relay.clock.now(),
        })
        .where('id', '=', agent.id)
        .execute()
      if (input.visibility !== undefined) {
        await narrowCapabilities(sql, agent.id, input.visibility, relay.clock.now())
      }
      const { id: resourceId, account_id: accountId, slug } = agent
      await audit(relay, sql, caller, {
        action: 'agent.update',
        resourceId,
        accountId,
        summary: `changed the agent ${slug}`,
      })
      return resourceId
    })
    return showAgent(relay.database.sql, caller, await findOwnAgent(relay.database.sql, caller, changed))
  },
})

const deleteAgent = operation({
  name: 'delete_agent',
  about: 'Remove an agent of yours; its grants are revoked',
  rest: { method: 'delete', path: '/v1/agents/{agent_id}', status: 204 },
  tool: { title: 'Delete an agent', destructive: true },
  input: z.object({ agent_id: agentName }),
  output: z.object({ deleted: z.literal(true) }),
  run: async (relay, caller, input) => {
    await relay.database.transaction(async (sql, wake) => {
      const agent = await findOwnAgent(sql, caller, input.agent_id)
      requireMember(caller, agent.account_id, 'owner or admin')
      const now = relay.clock.now()
      await sql.updateTable('agents').set({ tombstoned_at: now, updated_at: now }).where('id', '=', agent.id).execute()
      const sides = [{ granter_agent_id: agent.id }, { grantee_agent_id: agent.id }]
      await revokeGrants(relay, { sql, wake }, caller, sides, 'agent deleted')
      const rejection = { code: 'not_found', message: 'an agent was removed while this was queued', now }
      for (const side of sides) await rejectQueued({ sql, wake }, side, rejection)
      const { id: resourceId, account_id: accountId, slug } = agent
      await audit(relay, sql, caller, {
        action: 'agent.delete',
        resourceId,
        accountId,
        summary: `removed the agent ${slug}`,
      })
    })
    return { deleted: true as const }
  },
})

/** Null for the empty text, which means that the agent pulls. @throws {Refusal} `invalid_request` */
function readCardUrl(text: string): string | null {
  if (text === '') return null
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new Refusal('invalid_request', 'agent_card_url: expected an http or https URL with a host, or nothing')
  }
  if (url.username !== '' || url.password !== '') {
    throw new Refusal('invalid_request', 'agent_card_url: expected no user and password in it')
  }
  if (isPrivateHost(url.hostname)) {
    throw new Refusal('invalid_request', 'agent_card_url: expected an address that all can reach, found a private one')
  }
  url.hash = ''
  return url.href
}

export const AGENT_OPERATIONS: readonly Operation[] = [
  listMyAgents,
  listNetworkAgents,
  createAgent,
  getAgent,
  updateAgent,
  deleteAgent,
]
