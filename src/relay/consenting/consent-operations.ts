/**
 * Following, deciding and ending consents, and reading notices.
 *
 * @module
 */
import { z } from 'zod'
import { audit } from '../audit.ts'
import { agentName, id, isoTime, time, whole } from '../fields.ts'
import { manages } from '../identity/caller.ts'
import { MAX_WAIT_SECS, waitFor } from '../invoking/waiting.ts'
import { accountAgentIds, agentsById, findOwnAgent } from '../network/agents.ts'
import { duration } from '../network/duration.ts'
import { type Operation, operation } from '../operation.ts'
import { notFound, Refusal } from '../refusal.ts'
import {
  concerns,
  consentRequestShape,
  consentShape,
  findRequest,
  REQUEST_STATUSES,
  showConsent,
  showRequest,
  withSubjects,
} from './consent-shape.ts'
import { decide } from './deciding.ts'
import { noticesTopic } from './notices.ts'

const MAX_LISTED = 200
const MAX_REASON_CHARS = 500
const MAX_REQUESTS = 1_000_000
const MAX_NOTICES = 100
const DEFAULT_NOTICES = 25

const noticeShape = z.looseObject({ notice_id: id, kind: z.string(), created_at: time })

const pullNotices = operation({
  name: 'pull_notices',
  about: 'What happened around an agent of yours, once: consents asked for and decided, friendships, grants',
  rest: { method: 'get', path: '/v1/inbox/notices' },
  tool: { title: 'Pull notices' },
  input: z.object({
    agent_id: agentName,
    limit: whole(1, MAX_NOTICES).default(DEFAULT_NOTICES),
    wait_seconds: whole(0, MAX_WAIT_SECS).default(0),
  }),
  output: z.array(noticeShape),
  run: async (relay, caller, { agent_id: name, limit, wait_seconds: waitSecs }, asked) => {
    const { sql } = relay.database
    const agent = await findOwnAgent(sql, caller, name)
    const pull = async () => {
      const unread = sql
        .selectFrom('notices')
        .select('id')
        .where('agent_id', '=', agent.id)
        .where('pulled_at', 'is', null)
        .orderBy('id')
        .limit(limit)
      return sql
        .updateTable('notices')
        .set({ pulled_at: relay.clock.now() })
        .where('id', 'in', unread)
        .where('pulled_at', 'is', null)
        .returningAll()
        .execute()
    }
    const wait = { waitSecs, signal: asked.signal }
    const rows = await waitFor(relay, noticesTopic(agent.id), wait, pull, ({ length }) => length > 0)
    return rows
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((row) => ({
        notice_id: row.id,
        kind: row.kind,
        created_at: isoTime(row.created_at),
        ...(JSON.parse(row.payload) as Record<string, unknown>),
      }))
  },
})

const listRequests = operation({
  name: 'list_consent_requests',
  about: 'Questions to people that your agents asked, serve, or that you decide, newest first',
  rest: { method: 'get', path: '/v1/consent/requests' },
  input: z.object({ agent_id: agentName.optional(), status: z.enum(REQUEST_STATUSES).optional() }),
  output: z.array(consentRequestShape),
  run: async (relay, caller, { agent_id: name, status }) => {
    const { sql } = relay.database
    const agentId = name === undefined ? undefined : (await findOwnAgent(sql, caller, name)).id
    const side = (column: 'requester_agent_id' | 'serving_agent_id') => {
      let query = sql.selectFrom('consent_requests').selectAll().orderBy('id', 'desc').limit(MAX_LISTED)
      query =
        agentId === undefined
          ? query.where(column, 'in', accountAgentIds(sql, caller))
          : query.where(column, '=', agentId)
      return (status === undefined ? query : query.where('status', '=', status)).execute()
    }
    const rows = [...(await side('serving_agent_id')), ...(await side('requester_agent_id'))]
    const unique = [...new Map(rows.map((row) => [row.id, row])).values()].sort((a, b) => (a.id < b.id ? 1 : -1))
    const mine = (await withSubjects(sql, unique)).filter((request) => concerns(caller, request)).slice(0, MAX_LISTED)
    return Promise.all(mine.map((request) => showRequest(relay, sql, caller, request)))
  },
})

const consentStatus = operation({
  name: 'consent_status',
  about: 'Whether people have decided on a call that is held, or on an answer that waits',
  rest: { method: 'get', path: '/v1/consent/requests/{consent_request_id}' },
  tool: { title: 'Follow a consent request', readOnly: true },
  input: z.object({ consent_request_id: id }),
  output: consentRequestShape,
  run: async (relay, caller, { consent_request_id: requestId }) => {
    const { sql } = relay.database
    return showRequest(relay, sql, caller, await findRequest(sql, caller, requestId))
  },
})

const approve = operation({
  name: 'approve_consent_request',
  about: 'Say yes, as an approver who is signed in with a browser; the terms may be narrower than asked',
  rest: { method: 'post', path: '/v1/consent/requests/{consent_request_id}/approve' },
  input: z.object({
    consent_request_id: id,
    valid_for: duration.optional(),
    max_requests: z.int().min(1).max(MAX_REQUESTS).optional(),
  }),
  output: consentRequestShape,
  run: async (relay, caller, { consent_request_id: requestId, valid_for: validForSecs, max_requests: maxRequests }) => {
    const verdict = { isYes: true, validForSecs, maxRequests } as const
    await relay.database.transaction((sql, wake) => decide(relay, { sql, wake }, caller, requestId, verdict))
    const { sql } = relay.database
    return showRequest(relay, sql, caller, await findRequest(sql, caller, requestId))
  },
})

const deny = operation({
  name: 'deny_consent_request',
  about: 'Say no, as an approver who is signed in with a browser',
  rest: { method: 'post', path: '/v1/consent/requests/{consent_request_id}/deny' },
  input: z.object({ consent_request_id: id, reason: z.string().max(MAX_REASON_CHARS).optional() }),
  output: consentRequestShape,
  run: async (relay, caller, { consent_request_id: requestId, reason }) => {
    const verdict = { isYes: false, reason } as const
    await relay.database.transaction((sql, wake) => decide(relay, { sql, wake }, caller, requestId, verdict))
    const { sql } = relay.database
    return showRequest(relay, sql, caller, await findRequest(sql, caller, requestId))
  },
})

const listConsents = operation({
  name: 'list_consents',
  about: 'Approvals that last, of calls that your agents make or serve',
  rest: { method: 'get', path: '/v1/consent/active' },
  input: z.object({}),
  output: z.array(consentShape),
  run: async ({ database: { sql }, clock }, caller) => {
    const mine = accountAgentIds(sql, caller)
    const rows = await sql
      .selectFrom('consents')
      .selectAll()
      .where('revoked_at', 'is', null)
      .where('valid_until', '>', clock.now())
      .where((or) => or.or([or('serving_agent_id', 'in', mine), or('requester_agent_id', 'in', mine)]))
      .orderBy('id', 'desc')
      .limit(MAX_LISTED)
      .execute()
    const agents = await agentsById(
      sql,
      rows.flatMap((row) => [row.serving_agent_id, row.requester_agent_id]),
    )
    return rows
      .filter((row) =>
        [row.serving_agent_id, row.requester_agent_id].some((agentId) => {
          const agent = agents.get(agentId)
          return agent !== undefined && manages(caller, agent)
        }),
      )
      .map((row) => showConsent(row, clock.now()))
  },
})

const revokeConsent = operation({
  name: 'revoke_consent',
  about: 'End an approval that lasts, of calls that an agent of yours serves',
  rest: { method: 'post', path: '/v1/consent/{consent_id}/revoke' },
  input: z.object({ consent_id: id }),
  output: consentShape,
  run: async (relay, caller, { consent_id: consentId }) => {
    const now = relay.clock.now()
    return relay.database.transaction(async (sql) => {
      const row = await sql.selectFrom('consents').selectAll().where('id', '=', consentId).executeTakeFirst()
      const serving =
        row === undefined ? undefined : (await agentsById(sql, [row.serving_agent_id])).get(row.serving_agent_id)
      if (row === undefined || serving === undefined || !manages(caller, serving)) throw notFound('a consent')
      if (row.revoked_at !== null) throw new Refusal('conflict', 'this consent is revoked already')
      await sql.updateTable('consents').set({ revoked_at: now }).where('id', '=', row.id).execute()
      await audit(relay, sql, caller, {
        action: 'consent.revoke',
        resourceId: row.id,
        targetId: row.requester_agent_id,
        accountId: serving.account_id,
        summary: `ended an approval of calls of the agent ${serving.slug}`,
      })
      return showConsent({ ...row, revoked_at: now }, now)
    })
  },
})

export const CONSENT_OPERATIONS: readonly Operation[] = [
  pullNotices,
  listRequests,
  consentStatus,
  approve,
  deny,
  listConsents,
  revokeConsent,
]
