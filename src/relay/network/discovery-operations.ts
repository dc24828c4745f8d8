/**
 * The directory: searching, profiles, and who is worth a look. Nobody needs to sign in for it.
 *
 * @module
 */
import { z } from 'zod'
import { agentName, whole } from '../fields.ts'
import { type Caller } from '../identity/caller.ts'
import { type Operation, openOperation } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type Agent, findAgent, selectAgents } from './agents.ts'
import { showCapability, visibleCapabilities } from './capabilities.ts'
import { cursorAt, readCursor } from './cursor.ts'
import { foundAgentShape, friendCounts, searchAgents, showFound } from './discovery.ts'
import { peerShape, presenceOf } from './presence.ts'

const MAX_QUERY_CHARS = 500
const MAX_WORDS = 20
const MAX_NAME_CHARS = 64
const MAX_TAG_CHARS = 40
const MAX_TAGS = 20
const MAX_FOUND = 100
const DEFAULT_FOUND = 20
const MAX_FEATURED = 50
/** Agents that are weighed for who is featured. */
const MAX_WEIGHED = 200
const TRENDING_MS = 7 * 86_400_000
const INVOCATION_WEIGHT = 2

const searchAgentsOperation = openOperation({
  name: 'search_agents',
  about: 'Find agents that everybody may see, newest first: by words, a capability, tags or how they are reached',
  isOpen: true,
  rest: { method: 'get', path: '/v1/discovery/agents' },
  tool: { title: 'Search agents', readOnly: true },
  input: z.object({
    q: z
      .string()
      .max(MAX_QUERY_CHARS)
      .default('')
      .meta({ description: 'Words, of which each has to begin a word of it' }),
    capability: z.string().max(MAX_NAME_CHARS).optional().meta({ description: 'The exact name of one' }),
    tags: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .meta({ description: 'All of them; a list, or a text with commas' }),
    mode: z.enum(['pull', 'push']).optional(),
    verified: z.union([z.boolean(), z.enum(['true', 'false'])]).optional(),
    limit: whole(1, MAX_FOUND).default(DEFAULT_FOUND),
    cursor: z.string().optional(),
  }),
  output: z.object({ agents: z.array(foundAgentShape), next_cursor: z.string().optional() }),
  run: async (relay, _, { q, capability, tags, mode, verified, limit, cursor }) => {
    refuseOff(relay)
    const after = cursor === undefined ? undefined : readCursor(cursor)
    // No account of this relay is verified yet.
    if (String(verified) === 'true') return { agents: [] }
    const search = { words: wordsOf(q), capability, tags: tagsOf(tags), mode, limit, after }
    const found = await searchAgents(relay.database.sql, search)
    const last = found.length > limit ? found[limit - 1] : undefined
    return {
      agents: await showFound(relay, found.slice(0, limit)),
      ...(last === undefined ? {} : { next_cursor: cursorAt({ createdAt: last.created_at, id: last.id }) }),
    }
  },
})

function wordsOf(query: string): readonly string[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/[^\p{L}\p{N}-]+/gu, ''))
  return words
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS)
    .map((word) => ` ${word}`)
}

/** @throws {Refusal} `invalid_request` */
function tagsOf(given: string | readonly string[] | undefined): readonly string[] {
  const tags = [given ?? []].flat().flatMap((text) => text.split(','))
  const cleaned = tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== '')
  if (cleaned.length > MAX_TAGS || cleaned.some((tag) => tag.length > MAX_TAG_CHARS)) {
    throw new Refusal(
      'invalid_request',
      `tags: expected at most ${MAX_TAGS}, each of at most ${MAX_TAG_CHARS} characters`,
    )
  }
  return cleaned
}

const profileShape = foundAgentShape.extend({
  account: z.object({ slug: z.string(), display_name: z.string() }),
  capabilities: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      input_schema: z.json(),
      output_schema: z.json(),
      public_invoke: z.boolean(),
      quota: z.number().nullable(),
      consent_required: z.boolean(),
      semantics: z.enum(['autonomous', 'human_in_loop']),
    }),
  ),
  rating: z.object({ average: z.number().nullable(), count: z.number() }),
  presence: peerShape.nullable(),
  accept_calls: z.enum(['friends', 'anyone', 'nobody']),
})

export async function profileOf(
  relay: RelayContext,
  caller: Caller | undefined,
  agent: Agent,
): Promise<z.infer<typeof profileShape>> {
  const [found] = await showFound(relay, [agent])
  if (found === undefined) throw new Error('expected one agent')
  const capabilities = await visibleCapabilities(relay.database.sql, caller, agent)
  return {
    ...found,
    account: { slug: agent.account_slug, display_name: agent.account_display_name },
    capabilities: capabilities.map(showCapability).map((shown) => ({
      id: shown.id,
      name: shown.name,
      description: shown.description,
      input_schema: shown.input_schema,
      output_schema: shown.output_schema,
      public_invoke: shown.public_invoke,
      quota: shown.public_monthly_quota_per_agent,
      consent_required: shown.consent?.required === true,
      semantics: shown.semantics,
    })),
    rating: { average: found.avg_rating, count: found.review_count },
    presence: agent.mode === 'push' ? null : presenceOf(agent, relay.clock.now()),
    accept_calls: agent.accept_calls,
  }
}

const getAgentProfile = openOperation({
  name: 'get_agent_profile',
  about: 'What is known of an agent: what it can do, how it is rated, whether it is around, and how to call it',
  isOpen: true,
  tool: { title: 'Show the profile of an agent', readOnly: true },
  input: z.object({ agent: agentName }),
  output: profileShape,
  run: async (relay, caller, { agent }) => {
    refuseOff(relay)
    return profileOf(relay, caller, await findAgent(relay.database.sql, caller, agent))
  },
})

const getProfileByPath = openOperation({
  name: 'get_profile_by_path',
  about: 'What is known of an agent, by the slugs of its account and its own',
  isOpen: true,
  rest: { method: 'get', path: '/v1/discovery/agents/{account}/{slug}' },
  input: z.object({ account: z.string(), slug: z.string() }),
  output: profileShape,
  run: async (relay, caller, { account, slug }) => {
    refuseOff(relay)
    return profileOf(relay, caller, await findAgent(relay.database.sql, caller, `${account}/${slug}`))
  },
})

const featuredAgents = openOperation({
  name: 'featured_agents',
  about: 'Agents worth a look: those that the operator chose, else those that are used most',
  isOpen: true,
  rest: { method: 'get', path: '/v1/discovery/featured' },
  tool: { title: 'Featured agents', readOnly: true },
  input: z.object({ limit: whole(1, MAX_FEATURED).default(DEFAULT_FOUND) }),
  output: z.object({ agents: z.array(foundAgentShape) }),
  run: async (relay, _, { limit }) => {
    refuseOff(relay)
    const visible = selectAgents(relay.database.sql).where('agents.visibility', '=', 'network')
    const chosen = await visible
      .where('agents.featured_at', 'is not', null)
      .orderBy('agents.featured_at', 'desc')
      .limit(limit)
      .execute()
    const agents = chosen.length > 0 ? chosen : await trending(relay, limit)
    return { agents: await showFound(relay, agents) }
  },
})

async function trending({ database: { sql }, clock }: RelayContext, limit: number): Promise<readonly Agent[]> {
  const agents = await selectAgents(sql)
    .where('agents.visibility', '=', 'network')
    .orderBy('agents.created_at', 'desc')
    .limit(MAX_WEIGHED)
    .execute()
  if (agents.length === 0) return []
  const ids = agents.map(({ id }) => id)
  const used = await sql
    .selectFrom('invocations')
    .select((of) => ['granter_agent_id', of.fn.countAll<number>().as('count')])
    .where('granter_agent_id', 'in', ids)
    .where('created_at', '>=', clock.now() - TRENDING_MS)
    .groupBy('granter_agent_id')
    .execute()
  const friends = await friendCounts(sql, ids)
  const uses = new Map(used.map(({ granter_agent_id: agentId, count }) => [agentId, Number(count)]))
  const score = ({ id }: Agent): number => INVOCATION_WEIGHT * (uses.get(id) ?? 0) + (friends.get(id) ?? 0)
  return [...agents].sort((a, b) => score(b) - score(a)).slice(0, limit)
}

function refuseOff({ settings }: RelayContext): void {
  if (!settings.discoveryEnabled) throw new Refusal('not_found', 'this relay has no directory')
}

export const DISCOVERY_OPERATIONS: readonly Operation[] = [
  searchAgentsOperation,
  getAgentProfile,
  getProfileByPath,
  featuredAgents,
]
