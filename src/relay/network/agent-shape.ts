/**
 * How an agent is shown.
 *
 * @module
 */
import { z } from 'zod'
import { id, isoTime, time, visibility } from '../fields.ts'
import { type Caller } from '../identity/caller.ts'
import { type Sql } from '../storage/open.ts'
import { type Agent } from './agents.ts'

export const agentSummaryShape = z.object({
  id,
  slug: z.string(),
  display_name: z.string(),
  account_id: id,
  account_slug: z.string(),
  account_display_name: z.string(),
})

export const agentShape = agentSummaryShape.extend({
  description: z.string(),
  visibility,
  mode: z.enum(['pull', 'push']),
  endpoint_url: z.null(),
  agent_card_url: z.string().nullable(),
  tags: z.array(z.string()),
  accept_calls: z.enum(['friends', 'anyone', 'nobody']),
  is_mine: z.boolean(),
  is_personal: z.boolean(),
  capability_count: z.number(),
  avg_rating: z.number().nullable(),
  review_count: z.number(),
  created_at: time,
  updated_at: time,
})

export type ShownAgent = z.infer<typeof agentShape>
export type AgentSummary = z.infer<typeof agentSummaryShape>

export function summaryOf(agent: Agent): AgentSummary {
  const { id, slug, display_name, account_id, account_slug, account_display_name } = agent
  return { id, slug, display_name, account_id, account_slug, account_display_name }
}

/** In the order given. */
export async function showAgents(
  sql: Sql,
  caller: Caller | undefined,
  agents: readonly Agent[],
): Promise<ShownAgent[]> {
  if (agents.length === 0) return []
  const ids = agents.map(({ id }) => id)
  const counted = await sql
    .selectFrom('capabilities')
    .select(['agent_id', (count) => count.fn.countAll<number>().as('count')])
    .where('agent_id', 'in', ids)
    .where('deleted_at', 'is', null)
    .groupBy('agent_id')
    .execute()
  const rated = await sql
    .selectFrom('reviews')
    .select((of) => ['target_agent_id', of.fn.countAll<number>().as('count'), of.fn.sum<number>('rating').as('sum')])
    .where('target_agent_id', 'in', ids)
    .where('hidden_at', 'is', null)
    .groupBy('target_agent_id')
    .execute()
  const capabilities = new Map(counted.map(({ agent_id, count }) => [agent_id, Number(count)]))
  const reviews = new Map(rated.map(({ target_agent_id, ...row }) => [target_agent_id, row]))
  return agents.map((agent) => {
    const isMine = caller?.roles.has(agent.account_id) === true
    const review = reviews.get(agent.id)
    return {
      ...summaryOf(agent),
      description: agent.description,
      visibility: agent.visibility,
      mode: agent.mode,
      endpoint_url: null,
      agent_card_url: isMine ? agent.agent_card_url : null,
      tags: JSON.parse(agent.tags) as string[],
      accept_calls: agent.accept_calls,
      is_mine: isMine,
      is_personal: agent.is_personal === 1,
      capability_count: capabilities.get(agent.id) ?? 0,
      avg_rating: review === undefined ? null : Number(review.sum) / Number(review.count),
      review_count: Number(review?.count ?? 0),
      created_at: isoTime(agent.created_at),
      updated_at: isoTime(agent.updated_at),
    }
  })
}

export async function showAgent(sql: Sql, caller: Caller | undefined, agent: Agent): Promise<ShownAgent> {
  const [shown] = await showAgents(sql, caller, [agent])
  if (shown === undefined) throw new Error('expected one agent')
  return shown
}
