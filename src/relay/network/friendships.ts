/**
 * Which agents know each other. Being friends is mutual, whoever asked.
 *
 * Holds: of two agents, in either order, at most one friendship is proposed or accepted.
 *
 * @module
 */
import { z } from 'zod'
import { id, isoTime, isoTimeOrNull, time } from '../fields.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { notFound } from '../refusal.ts'
import { type FriendshipRow } from '../storage/network-rows.ts'
import { type Sql } from '../storage/open.ts'
import { agentSummaryShape, summaryOf } from './agent-shape.ts'
import { type Agent, agentsById } from './agents.ts'

export const FRIENDSHIP_STATUSES = ['proposed', 'accepted', 'rejected', 'cancelled', 'countered', 'ended'] as const

export const friendshipShape = z.object({
  id,
  friendship_id: id,
  status: z.enum(FRIENDSHIP_STATUSES),
  proposer: agentSummaryShape,
  target: agentSummaryShape,
  proposer_agent_id: id,
  proposer_display_name: z.string(),
  target_agent_id: id,
  target_display_name: z.string(),
  proposer_message: z.string().nullable(),
  response_message: z.string().nullable(),
  counter_of_id: id.nullable(),
  created_at: time,
  updated_at: time,
  decided_at: time.nullable(),
  i_proposed: z.boolean(),
  i_received: z.boolean(),
})

export type ShownFriendship = z.infer<typeof friendshipShape>

/** A friendship with both its agents, whether these are still there or not. */
export interface Friendship extends FriendshipRow {
  readonly proposer: Agent
  readonly target: Agent
}

export async function withAgents(sql: Sql, rows: readonly FriendshipRow[]): Promise<readonly Friendship[]> {
  const agents = await agentsById(
    sql,
    rows.flatMap(({ proposer_agent_id, target_agent_id }) => [proposer_agent_id, target_agent_id]),
  )
  return rows.flatMap((row) => {
    const [proposer, target] = [agents.get(row.proposer_agent_id), agents.get(row.target_agent_id)]
    return proposer === undefined || target === undefined ? [] : [{ ...row, proposer, target }]
  })
}

/** One that an agent of the caller is part of. @throws {Refusal} `not_found` */
export async function findFriendship(sql: Sql, caller: Caller, friendshipId: string): Promise<Friendship> {
  const rows = await sql.selectFrom('friendships').selectAll().where('id', '=', friendshipId).execute()
  const [found] = await withAgents(sql, rows)
  if (found === undefined || !(manages(caller, found.proposer) || manages(caller, found.target))) {
    throw notFound('a friendship of an agent of yours')
  }
  return found
}

/** The one between two agents that is proposed or accepted. */
export async function liveBetween(sql: Sql, one: string, other: string): Promise<FriendshipRow | undefined> {
  return sql
    .selectFrom('friendships')
    .selectAll()
    .where('status', 'in', ['proposed', 'accepted'])
    .where((or) =>
      or.or([
        or.and([or('proposer_agent_id', '=', one), or('target_agent_id', '=', other)]),
        or.and([or('proposer_agent_id', '=', other), or('target_agent_id', '=', one)]),
      ]),
    )
    .executeTakeFirst()
}

export async function friendshipBetween(sql: Sql, one: string, other: string): Promise<FriendshipRow | undefined> {
  const live = await liveBetween(sql, one, other)
  return live?.status === 'accepted' ? live : undefined
}

export function showFriendship(caller: Caller, friendship: Friendship): ShownFriendship {
  const { proposer, target } = friendship
  return {
    id: friendship.id,
    friendship_id: friendship.id,
    status: friendship.status,
    proposer: summaryOf(proposer),
    target: summaryOf(target),
    proposer_agent_id: proposer.id,
    proposer_display_name: proposer.display_name,
    target_agent_id: target.id,
    target_display_name: target.display_name,
    proposer_message: friendship.proposer_message,
    response_message: friendship.response_message,
    counter_of_id: friendship.counter_of_id,
    created_at: isoTime(friendship.created_at),
    updated_at: isoTime(friendship.updated_at),
    decided_at: isoTimeOrNull(friendship.decided_at),
    i_proposed: manages(caller, proposer),
    i_received: manages(caller, target),
  }
}
