/**
 * Giving and revoking grants.
 *
 * @module
 */
import { z } from 'zod'
import { audit } from '../audit.ts'
import { notify } from '../consenting/notices.ts'
import { agentName, id, time } from '../fields.ts'
import { manages } from '../identity/caller.ts'
import { type Operation, operation } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { newId } from '../relay-context.ts'
import { accountAgentIds, findAgent, findOwnAgent } from './agents.ts'
import { findCapability } from './capabilities.ts'
import { friendshipBetween } from './friendships.ts'
import { findGrant, GRANT_STATUSES, grantShape, revokeGrants, showGrant, statusOf, withParts } from './grants.ts'

const MAX_PURPOSE_CHARS = 500
const MAX_REASON_CHARS = 500
const MAX_LISTED = 500

const listGrants = operation({
  name: 'list_grants',
  about: 'What your agents let others do, and others let them; outbound are those that they gave',
  rest: { method: 'get', path: '/v1/grants' },
  tool: { title: 'List grants', readOnly: true },
  input: z.object({
    direction: z.enum(['all', 'outbound', 'inbound']).default('all'),
    status: z.enum(GRANT_STATUSES).optional(),
  }),
  output: z.array(grantShape),
  run: async ({ database: { sql }, clock }, caller, input) => {
    const mine = accountAgentIds(sql, caller)
    let query = sql.selectFrom('grants').selectAll().orderBy('granted_at', 'desc').limit(MAX_LISTED)
    if (input.status === 'revoked') query = query.where('status', '=', 'revoked')
    else if (input.status !== undefined) query = query.where('status', '<>', 'revoked')
    if (input.direction === 'outbound') query = query.where('granter_agent_id', 'in', mine)
    else if (input.direction === 'inbound') query = query.where('grantee_agent_id', 'in', mine)
    else query = query.where((or) => or.or([or('granter_agent_id', 'in', mine), or('grantee_agent_id', 'in', mine)]))
    const now = clock.now()
    return (await withParts(sql, await query.execute()))
      .map((grant) => showGrant(caller, grant, now))
      .filter(({ i_granted: granted, i_received: received, status }) => {
        const isMine =
          input.direction === 'all' ? granted || received : input.direction === 'outbound' ? granted : received
        return isMine && (input.status === undefined || status === input.status)
      })
  },
})

const createGrant = operation({
  name: 'create_grant',
  about: 'Let a friend of an agent of yours use one of its capabilities',
  rest: { method: 'post', path: '/v1/grants', status: 201 },
  tool: { title: 'Create a grant' },
  input: z.object({
    granter_agent_id: agentName,
    grantee_agent_id: agentName,
    capability_id: id,
    expires_at: time.optional(),
    purpose: z.string().max(MAX_PURPOSE_CHARS).optional(),
  }),
  output: grantShape,
  run: async (relay, caller, input) => {
    const now = relay.clock.now()
    const expires = input.expires_at === undefined ? null : Date.parse(input.expires_at)
    if (expires !== null && expires <= now) throw new Refusal('invalid_request', 'expires_at: expected a time to come')
    const made = await relay.database.transaction(async (sql, wake) => {
      const granter = await findOwnAgent(sql, caller, input.granter_agent_id)
      const grantee = await findAgent(sql, caller, input.grantee_agent_id)
      if (granter.id === grantee.id) throw new Refusal('invalid_request', 'expected two agents, found one twice')
      const capability = await findCapability(sql, granter.id, input.capability_id)
      if ((await friendshipBetween(sql, granter.id, grantee.id)) === undefined) {
        throw new Refusal('conflict', 'expected the two agents to be friends: propose a friendship first')
      }
      const live = await sql
        .selectFrom('grants')
        .selectAll()
        .where('status', '=', 'active')
        .where('granter_agent_id', '=', granter.id)
        .where('grantee_agent_id', '=', grantee.id)
        .where('capability_id', '=', capability.id)
        .executeTakeFirst()
      if (live !== undefined && statusOf(live, now) === 'active') {
        throw new Refusal('conflict', `this is granted already, by ${live.id}`)
      }
      if (live !== undefined) {
        await sql.updateTable('grants').set({ status: 'expired' }).where('id', '=', live.id).execute()
      }
      const grantId = newId(relay)
      await sql
        .insertInto('grants')
        .values({
          id: grantId,
          granter_agent_id: granter.id,
          grantee_agent_id: grantee.id,
          capability_id: capability.id,
          status: 'active',
          purpose: input.purpose ?? null,
          granted_by_user_id: caller.userId,
          granted_at: now,
          expires_at: expires,
          revoked_by_user_id: null,
          revoked_at: null,
          revoke_reason: null,
        })
        .execute()
      await notify(relay, { sql, wake }, grantee.id, 'grant_created', {
        grant_id: grantId,
        granter_agent_id: granter.id,
        capability_name: capability.name,
      })
      await audit(relay, sql, caller, {
        action: 'grant.create',
        resourceId: grantId,
        targetId: grantee.id,
        accountId: granter.account_id,
        summary: `let ${grantee.account_slug}/${grantee.slug} use ${capability.name} of the agent ${granter.slug}`,
      })
      return grantId
    })
    return showGrant(caller, await findGrant(relay.database.sql, caller, made), now)
  },
})

const getGrant = operation({
  name: 'get_grant',
  about: 'One grant that an agent of yours gave or has',
  rest: { method: 'get', path: '/v1/grants/{grant_id}' },
  tool: { title: 'Show a grant', readOnly: true },
  input: z.object({ grant_id: id }),
  output: grantShape,
  run: async ({ database: { sql }, clock }, caller, input) =>
    showGrant(caller, await findGrant(sql, caller, input.grant_id), clock.now()),
})

const revokeGrant = operation({
  name: 'revoke_grant',
  about: 'Take back what an agent of yours lets another do',
  rest: { method: 'post', path: '/v1/grants/{grant_id}/revoke' },
  tool: { title: 'Revoke a grant', destructive: true },
  input: z.object({ grant_id: id, reason: z.string().max(MAX_REASON_CHARS).optional() }),
  output: grantShape,
  run: async (relay, caller, input) => {
    const now = relay.clock.now()
    await relay.database.transaction(async (sql, wake) => {
      const grant = await findGrant(sql, caller, input.grant_id)
      if (!manages(caller, grant.granter)) {
        throw new Refusal('forbidden', 'expected a grant that an agent of yours gave, found one that it has')
      }
      if (grant.status === 'revoked') throw new Refusal('conflict', 'this grant is revoked already')
      await revokeGrants(relay, { sql, wake }, caller, [{ id: grant.id }], input.reason ?? null)
      await audit(relay, sql, caller, {
        action: 'grant.revoke',
        resourceId: grant.id,
        targetId: grant.grantee_agent_id,
        accountId: grant.granter.account_id,
        summary: `took ${grant.capability.name} of the agent ${grant.granter.slug} back from ${grant.grantee.account_slug}/${grant.grantee.slug}`,
      })
    })
    return showGrant(caller, await findGrant(relay.database.sql, caller, input.grant_id), now)
  },
})

export const GRANT_OPERATIONS: readonly Operation[] = [listGrants, createGrant, getGrant, revokeGrant]
