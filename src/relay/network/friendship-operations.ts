/**
 * Proposing, answering and ending friendships.
 *
 * @module
 */
import { z } from 'zod'
import { agentName, id } from '../fields.ts'
import { type Caller } from '../identity/caller.ts'
import { type Operation, operation } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type Sql, type Wake } from '../storage/open.ts'
import { accountAgentIds, findAgent, findOwnAgent } from './agents.ts'
import { decide, deed, insertProposal, refuseLive } from './friendship-changes.ts'
import {
  FRIENDSHIP_STATUSES,
  findFriendship,
  friendshipShape,
  type ShownFriendship,
  showFriendship,
  withAgents,
} from './friendships.ts'
import { revokeGrants } from './grants.ts'

const MAX_MESSAGE_CHARS = 2_000
const MAX_LISTED = 500

const message = z.string().max(MAX_MESSAGE_CHARS)
const direction = z.enum(['all', 'outbound', 'inbound']).default('all')

const listFriendships = operation({
  name: 'list_friendships',
  about: 'The friendships of your agents, newest first; outbound are those that they proposed',
  rest: { method: 'get', path: '/v1/friendships' },
  tool: { title: 'List friendships', readOnly: true },
  input: z.object({ direction, status: z.enum(FRIENDSHIP_STATUSES).optional() }),
  output: z.array(friendshipShape),
  run: async ({ database: { sql } }, caller, input) => {
    const mine = accountAgentIds(sql, caller)
    let query = sql.selectFrom('friendships').selectAll().orderBy('created_at', 'desc').limit(MAX_LISTED)
    if (input.status !== undefined) query = query.where('status', '=', input.status)
    if (input.direction === 'outbound') query = query.where('proposer_agent_id', 'in', mine)
    else if (input.direction === 'inbound') query = query.where('target_agent_id', 'in', mine)
    else {
      query = query.where((or) => or.or([or('proposer_agent_id', 'in', mine), or('target_agent_id', 'in', mine)]))
    }
    const rows = await withAgents(sql, await query.execute())
    return rows
      .map((row) => showFriendship(caller, row))
      .filter(({ i_proposed: proposed, i_received: received }) =>
        input.direction === 'all' ? proposed || received : input.direction === 'outbound' ? proposed : received,
      )
  },
})

const proposeFriendship = operation({
  name: 'propose_friendship',
  about: 'Ask another agent to be a friend of one of yours, which grants are given between',
  rest: { method: 'post', path: '/v1/friendships', status: 201 },
  tool: { title: 'Propose a friendship' },
  input: z.object({
    proposer_agent_id: agentName,
    target_agent_id: agentName,
    proposer_message: message.optional(),
  }),
  output: friendshipShape,
  run: async (relay, caller, input) =>
    change(relay, caller, async (sql, wake) => {
      const proposer = await findOwnAgent(sql, caller, input.proposer_agent_id)
      const target = await findAgent(sql, caller, input.target_agent_id)
      if (proposer.id === target.id) throw new Refusal('invalid_request', 'expected two agents, found one twice')
      await refuseLive(sql, proposer.id, target.id)
      const made = await insertProposal(relay, { sql, wake }, caller, {
        proposerId: proposer.id,
        targetId: target.id,
        message: input.proposer_message,
      })
      await deed(relay, sql, caller, 'propose', { ...made, proposer, target })
      return made.id
    }),
})

const getFriendship = operation({
  name: 'get_friendship',
  about: 'One friendship of an agent of yours',
  rest: { method: 'get', path: '/v1/friendships/{friendship_id}' },
  tool: { title: 'Show a friendship', readOnly: true },
  input: z.object({ friendship_id: id }),
  output: friendshipShape,
  run: async ({ database: { sql } }, caller, input) =>
    showFriendship(caller, await findFriendship(sql, caller, input.friendship_id)),
})

const acceptFriendship = operation({
  name: 'accept_friendship',
  about: 'Accept a friendship that was proposed to an agent of yours',
  rest: { method: 'post', path: '/v1/friendships/{friendship_id}/accept' },
  tool: { title: 'Accept a friendship' },
  input: z.object({ friendship_id: id, response_message: message.optional() }),
  output: friendshipShape,
  run: async (relay, caller, input) =>
    change(relay, caller, (sql, wake) => decide(relay, { sql, wake }, caller, input, { to: 'accepted', by: 'target' })),
})

const rejectFriendship = operation({
  name: 'reject_friendship',
  about: 'Reject a friendship that was proposed to an agent of yours',
  rest: { method: 'post', path: '/v1/friendships/{friendship_id}/reject' },
  tool: { title: 'Reject a friendship' },
  input: z.object({ friendship_id: id, response_message: message.optional() }),
  output: friendshipShape,
  run: async (relay, caller, input) =>
    change(relay, caller, (sql, wake) => decide(relay, { sql, wake }, caller, input, { to: 'rejected', by: 'target' })),
})

const counterFriendship = operation({
  name: 'counter_friendship',
  about: 'Answer a proposal with one of your own, in the other direction',
  rest: { method: 'post', path: '/v1/friendships/{friendship_id}/counter', status: 201 },
  tool: { title: 'Counter a friendship' },
  input: z.object({ friendship_id: id, proposer_message: message.optional(), response_message: message.optional() }),
  output: friendshipShape,
  run: async (relay, caller, input) =>
    change(relay, caller, async (sql, wake) => {
      const counteredId = await decide(relay, { sql, wake }, caller, input, { to: 'countered', by: 'target' })
      const { proposer_agent_id: targetId, target_agent_id: proposerId } = await findFriendship(
        sql,
        caller,
        counteredId,
      )
      const given = { proposerId, targetId, message: input.proposer_message, counterOf: counteredId }
      return (await insertProposal(relay, { sql, wake }, caller, given)).id
    }),
})

const cancelFriendship = operation({
  name: 'cancel_friendship',
  about: 'Take back a proposal of an agent of yours',
  rest: { method: 'post', path: '/v1/friendships/{friendship_id}/cancel' },
  tool: { title: 'Cancel a proposal' },
  input: z.object({ friendship_id: id }),
  output: friendshipShape,
  run: async (relay, caller, input) =>
    change(relay, caller, (sql, wake) =>
      decide(relay, { sql, wake }, caller, input, { to: 'cancelled', by: 'proposer' }),
    ),
})

const endFriendship = operation({
  name: 'end_friendship',
  about: 'End a friendship of an agent of yours; what the two granted each other is revoked',
  rest: { method: 'post', path: '/v1/friendships/{friendship_id}/end' },
  tool: { title: 'End a friendship', destructive: true },
  input: z.object({ friendship_id: id }),
  output: friendshipShape,
  run: async (relay, caller, input) =>
    change(relay, caller, async (sql, wake) => {
      const friendshipId = await decide(relay, { sql, wake }, caller, input, { to: 'ended', by: 'either' })
      const { proposer_agent_id: one, target_agent_id: other } = await findFriendship(sql, caller, friendshipId)
      const sides = [
        { granter_agent_id: one, grantee_agent_id: other },
        { granter_agent_id: other, grantee_agent_id: one },
      ]
      await revokeGrants(relay, { sql, wake }, caller, sides, 'friendship ended')
      return friendshipId
    }),
})

async function change(
  relay: RelayContext,
  caller: Caller,
  work: (sql: Sql, wake: Wake) => Promise<string>,
): Promise<ShownFriendship> {
  const changed = await relay.database.transaction(work)
  return showFriendship(caller, await findFriendship(relay.database.sql, caller, changed))
}

export const FRIENDSHIP_OPERATIONS: readonly Operation[] = [
  listFriendships,
  proposeFriendship,
  getFriendship,
  acceptFriendship,
  rejectFriendship,
  counterFriendship,
  cancelFriendship,
  endFriendship,
]
