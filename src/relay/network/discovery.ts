/**
 * Finding agents that everybody may see.
 *
 * @module
 */
import { z } from 'zod'
import { id, isoTime, time } from '../fields.ts'
import { type RelayContext } from '../relay-context.ts'
import { type Sql } from '../storage/open.ts'
import { type Agent, selectAgents } from './agents.ts'
import { type Place } from './cursor.ts'
import { presenceOf } from './presence.ts'

export const howToCallShape = z.object({
  /** The agent as a server of MCP. */
  mcp: z.string().nullable(),
  a2a_card: z.string().nullable(),
  rest: z.string(),
  steps: z.array(z.string()),
})

export const foundAgentShape = z.object({
  id,
  agent_slug: z.string(),
  account_slug: z.string(),
  account_display_name: z.string(),
  display_name: z.string(),
  description: z.string(),
  mode: z.enum(['pull', 'push']),
  tags: z.array(z.string()),
  friend_count: z.number(),
  created_at: time,
  verified: z.boolean(),
  online: z.boolean(),
  has_public_capabilities: z.boolean(),
  avg_rating: z.number().nullable(),
  review_count: z.number(),
  how_to_call: howToCallShape,
})

export type FoundAgent = z.infer<typeof foundAgentShape>

export interface Search {
  readonly words: readonly string[]
  readonly capability?: string | undefined
  readonly tags: readonly string[]
  readonly mode?: 'pull' | 'push' | undefined
  readonly limit: number
  readonly after?: Place | undefined
}

/** Newest first; one more than the limit where there are more. */
export async function searchAgents(sql: Sql, search: Search): Promise<readonly Agent[]> {
  let query = selectAgents(sql)
    .where('agents.visibility', '=', 'network')
    .orderBy('agents.created_at', 'desc')
    .orderBy('agents.id', 'desc')
    .limit(search.limit + 1)
  if (search.mode !== undefined) query = query.where('agents.mode', '=', search.mode)
  for (const tag of search.tags) query = query.where('agents.tags', 'like', `%${escaped(JSON.stringify(tag))}%`)
  for (const word of search.words) {
    // At the beginning of any word of them.
    query = query.where(
      (eb) => {
        const tags = eb.fn<string>('replace', [eb.ref('agents.tags'), eb.val('"'), eb.val(' ')])
        const names = eb(
          eb(eb.val(' '), '||', eb.ref('agents.slug')),
          '||',
          eb(eb.val(' '), '||', eb.ref('accounts.slug')),
        )
        const texts = eb(
          eb(eb.val(' '), '||', eb.ref('agents.display_name')),
          '||',
          eb(eb.val(' '), '||', eb.ref('agents.description')),
        )
        return eb.fn<string>('lower', [eb(eb(names, '||', texts), '||', tags)])
      },
      'like',
      `%${escaped(word)}%`,
    )
  }
  const { capability, after } = search
  if (capability !== undefined) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('capabilities')
          .select('capabilities.id')
          .whereRef('capabilities.agent_id', '=', 'agents.id')
          .where('capabilities.name', '=', capability)
          .where('capabilities.visibility', '=', 'network')
          .where('capabilities.deleted_at', 'is', null),
      ),
    )
  }
  if (after !== undefined) {
    query = query.where(({ or, and, eb }) =>
      or([
        eb('agents.created_at', '<', after.createdAt),
        and([eb('agents.created_at', '=', after.createdAt), eb('agents.id', '<', after.id)]),
      ]),
    )
  }
  return query.execute()
}

/** Signs that a pattern gives a meaning are not looked for. */
function escaped(text: string): string {
  return text.replace(/[%_\\]/g, '')
}

export async function showFound(relay: RelayContext, agents: readonly Agent[]): Promise<FoundAgent[]> {
  if (agents.length === 0) return []
  const { sql } = relay.database
  const ids = agents.map((agent) => agent.id)
  const friends = await friendCounts(sql, ids)
  const open = await sql
    .selectFrom('capabilities')
    .select('agent_id')
    .distinct()
    .where('agent_id', 'in', ids)
    .where('public_invoke', '=', 1)
    .where('deleted_at', 'is', null)
    .execute()
  const rated = await sql
    .selectFrom('reviews')
    .select((of) => ['target_agent_id', of.fn.countAll<number>().as('count'), of.fn.sum<number>('rating').as('sum')])
    .where('target_agent_id', 'in', ids)
    .where('hidden_at', 'is', null)
    .groupBy('target_agent_id')
    .execute()
  const isOpen = new Set(open.map(({ agent_id: agentId }) => agentId))
  const reviews = new Map(rated.map(({ target_agent_id: agentId, count, sum }) => [agentId, { count, sum }]))
  const now = relay.clock.now()
  return agents.map((agent) => {
    const review = reviews.get(agent.id)
    return {
      id: agent.id,
      agent_slug: agent.slug,
      account_slug: agent.account_slug,
      account_display_name: agent.account_display_name,
      display_name: agent.display_name,
      description: agent.description,
      mode: agent.mode,
      tags: JSON.parse(agent.tags) as string[],
      friend_count: friends.get(agent.id) ?? 0,
      created_at: isoTime(agent.created_at),
      verified: false,
      online: presenceOf(agent, now).online,
      has_public_capabilities: isOpen.has(agent.id),
      avg_rating: review === undefined ? null : Number(review.sum) / Number(review.count),
      review_count: Number(review?.count ?? 0),
      how_to_call: howToCall(relay, agent),
    }
  })
}

export async function friendCounts(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const column of ['proposer_agent_id', 'target_agent_id'] as const) {
    const rows = await sql
      .selectFrom('friendships')
      .select((of) => [column, of.fn.countAll<number>().as('count')])
      .where(column, 'in', ids)
      .where('status', '=', 'accepted')
      .groupBy(column)
      .execute()
    for (const row of rows) {
      const agentId = (row as unknown as Record<string, string>)[column] ?? ''
      counts.set(agentId, (counts.get(agentId) ?? 0) + Number(row.count))
    }
  }
  return counts
}

export function howToCall({ settings }: RelayContext, agent: Agent): z.infer<typeof howToCallShape> {
  const name = `${agent.account_slug}/${agent.slug}`
  const { publicUrl, agentServersEnabled, discoveryEnabled } = settings
  if (agent.mode === 'push') {
    return {
      mcp: null,
      a2a_card: agent.agent_card_url,
      rest: `${publicUrl}/v1/invoke`,
      steps: ['Read its card over A2A'],
    }
  }
  return {
    mcp: agentServersEnabled && discoveryEnabled ? `${publicUrl}/agents/${name}/mcp` : null,
    a2a_card: null,
    rest: `${publicUrl}/v1/invoke`,
    steps: [
      `Public capabilities: invoke with agent ${name} and the name of the capability`,
      `Others: propose_friendship to ${name}, ask its owner for a grant, then invoke`,
    ],
  }
}
