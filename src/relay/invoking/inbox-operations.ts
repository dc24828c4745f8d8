/**
 * Serving: taking work out of an inbox and answering it.
 *
 * Holds: work is somebody's for as long as its lease lasts, and then anybody's again. It is answered at most once.
 *
 * @module
 */
import { z } from 'zod'
import { cancelDrafts, draftAnswer } from '../consenting/drafts.ts'
import { agentName, id, isoTime, time, whole } from '../fields.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { type Agent, agentsById, findOwnAgent } from '../network/agents.ts'
import { misfitOf } from '../network/capability-schema.ts'
import { type Operation, operation } from '../operation.ts'
import { notFound, Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type InvocationRow } from '../storage/invocation-rows.ts'
import { type Sql } from '../storage/open.ts'
import { friendshipContextShape, grantContextShape, type Trust } from './invocation-shape.ts'
import { payloadText } from './payload.ts'
import { inboxTopic, invocationTopic, MAX_WAIT_SECS, waitFor } from './waiting.ts'

const MAX_PULLED = 100
const DEFAULT_PULLED = 25
const MAX_LEASE_SECS = 86_400
const MIN_LEASE_SECS = 5
const DEFAULT_LEASE_SECS = 600
/** How exact the time is at which an agent was last seen. */
const SEEN_FRESHNESS_MS = 10_000
const MAX_ERROR_CHARS = 4_000

const workShape = z.object({
  id,
  invocation_id: id,
  status: z.literal('in_progress'),
  granter_agent_id: id,
  capability_id: id,
  capability_name: z.string(),
  semantics: z.enum(['autonomous', 'human_in_loop']),
  grantee_agent_id: id,
  grantee_display_name: z.string(),
  input: z.json(),
  input_preview: z.json(),
  created_at: time,
  claimed_at: time,
  lease_id: id,
  lease_until: time,
  attempts: z.number(),
  tier: z.enum(['friend', 'public']),
  friendship_context: friendshipContextShape.optional(),
  grant_context: grantContextShape.optional(),
})

type Work = z.infer<typeof workShape>

const pullInbox = operation({
  name: 'pull_inbox',
  about:
    'Take the oldest work that waits for an agent of yours. It is yours for the time of its lease; what is not answered by then is given out again',
  rest: { method: 'get', path: '/v1/inbox' },
  tool: { title: 'Pull the inbox' },
  input: z.object({
    agent_id: agentName,
    limit: whole(1, MAX_PULLED).default(DEFAULT_PULLED),
    wait_seconds: whole(0, MAX_WAIT_SECS).default(0),
    lease_seconds: whole(MIN_LEASE_SECS, MAX_LEASE_SECS).default(DEFAULT_LEASE_SECS),
  }),
  output: z.array(workShape),
  run: async (relay, caller, { agent_id: name, limit, wait_seconds: waitSecs, lease_seconds: leaseSecs }, asked) => {
    const agent = await findOwnAgent(relay.database.sql, caller, name)
    const pull = async (): Promise<Claim> => {
      await see(relay, agent)
      return claim(relay, caller, agent.id, { limit, leaseSecs })
    }
    const { rows } = await waitFor(
      relay,
      inboxTopic(agent.id),
      { waitSecs, signal: asked.signal },
      pull,
      (found) => found.rows.length > 0,
      (found) => found.freeInMs,
    )
    return showWork(relay.database.sql, rows)
  },
})

async function see({ database, clock }: RelayContext, { id: agentId, last_polled_at: polled }: Agent): Promise<void> {
  const now = clock.now()
  if (polled !== null && now - polled < SEEN_FRESHNESS_MS) return
  await database.sql.updateTable('agents').set({ last_polled_at: now }).where('id', '=', agentId).execute()
}

interface Claim {
  readonly rows: readonly InvocationRow[]
  /** Until the next lease of others is over; Infinity where there is none. */
  readonly freeInMs: number
}

interface Wanted {
  readonly limit: number
  readonly leaseSecs: number
}

/** Others may take what was just seen; so often is it looked for more. */
const MAX_CLAIMS = 20

async function claim(relay: RelayContext, caller: Caller, agentId: string, wanted: Wanted): Promise<Claim> {
  const { sql } = relay.database
  for (let tries = 0; tries < MAX_CLAIMS; tries += 1) {
    const rows = await claimOnce(relay, caller, agentId, wanted)
    if (rows.length > 0) return { rows, freeInMs: Infinity }
    const now = relay.clock.now()
    if ((await waiting(sql, agentId, now).limit(1).executeTakeFirst()) !== undefined) continue
    const { next } = await sql
      .selectFrom('invocations')
      .select((of) => of.fn.min('lease_until').as('next'))
      .where('granter_agent_id', '=', agentId)
      .where('status', '=', 'in_progress')
      .where('lease_until', '>', now)
      .executeTakeFirstOrThrow()
    return { rows: [], freeInMs: next === null ? Infinity : Number(next) - now }
  }
  return { rows: [], freeInMs: CROWDED_MS }
}

/** Where others are quicker all the time. */
const CROWDED_MS = 100

/** What nobody works on, oldest first. */
function waiting(sql: Sql, agentId: string, now: number) {
  return sql
    .selectFrom('invocations')
    .select('id')
    .where('granter_agent_id', '=', agentId)
    .where('deadline_at', '>', now)
    .where((or) =>
      or.or([or('status', '=', 'pending'), or.and([or('status', '=', 'in_progress'), or('lease_until', '<=', now)])]),
    )
    .orderBy('id')
}

/**
 * One statement, and in it the condition twice: where several pull at once, whoever comes second finds what the first
 * took changed, and takes none of it.
 */
async function claimOnce(
  relay: RelayContext,
  { userId }: Caller,
  agentId: string,
  { limit, leaseSecs }: Wanted,
): Promise<readonly InvocationRow[]> {
  const { sql } = relay.database
  const now = relay.clock.now()
  const waits = waiting(sql, agentId, now).limit(limit)
  const claimed = await sql
    .updateTable('invocations')
    .set((set) => ({
      status: 'in_progress' as const,
      claimed_at: now,
      claimed_by_user_id: userId,
      lease_id: newId(relay),
      lease_until: now + leaseSecs * 1_000,
      attempts: set('attempts', '+', 1),
    }))
    .where('id', 'in', waits)
    .where((or) =>
      or.or([or('status', '=', 'pending'), or.and([or('status', '=', 'in_progress'), or('lease_until', '<=', now)])]),
    )
    .returningAll()
    .execute()
  return claimed.sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function showWork(sql: Sql, rows: readonly InvocationRow[]): Promise<Work[]> {
  const agents = await agentsById(
    sql,
    rows.map(({ grantee_agent_id: grantee }) => grantee),
  )
  return rows.map((row) => {
    const input = JSON.parse(row.input) as Work['input']
    return {
      id: row.id,
      invocation_id: row.id,
      status: 'in_progress',
      granter_agent_id: row.granter_agent_id,
      capability_id: row.capability_id,
      capability_name: row.capability_name,
      semantics: row.semantics,
      grantee_agent_id: row.grantee_agent_id,
      grantee_display_name: agents.get(row.grantee_agent_id)?.display_name ?? '',
      input,
      input_preview: input,
      created_at: isoTime(row.created_at),
      claimed_at: isoTime(row.claimed_at ?? row.created_at),
      lease_id: row.lease_id ?? '',
      lease_until: isoTime(row.lease_until ?? row.created_at),
      attempts: row.attempts,
      tier: row.grant_id === null ? 'public' : 'friend',
      ...(JSON.parse(row.trust_snapshot) as Trust),
    }
  })
}

const respond = operation({
  name: 'respond',
  about: 'Answer work that was taken out of the inbox of an agent of yours',
  rest: { method: 'post', path: '/v1/invocations/{invocation_id}/result' },
  tool: { title: 'Answer an invocation' },
  input: z.object({
    invocation_id: id,
    status: z.enum(['succeeded', 'failed']),
    output: z.json().optional(),
    error: z.string().max(MAX_ERROR_CHARS).optional(),
    lease_id: id.optional().meta({ description: 'As pull_inbox gave it: an answer that comes too late is refused' }),
    confirmed_by_human: z.boolean().optional().meta({ description: 'Has no effect' }),
  }),
  output: z.union([
    z.object({ id, invocation_id: id, status: z.enum(['succeeded', 'failed']), elapsed_ms: z.number() }),
    z.object({
      invocation_id: id,
      status: z.literal('awaiting_confirmation').meta({ description: 'A person has to confirm it at approve_url' }),
      consent_request_id: id,
      approve_url: z.string(),
      expires_at: time,
    }),
  ]),
  run: async (relay, caller, input) => {
    const output = input.status === 'succeeded' ? payloadText('output', input.output) : null
    const now = relay.clock.now()
    return relay.database.transaction(async (sql, wake) => {
      const found = await findWork(sql, caller, input.invocation_id)
      refuseLate(found, input.lease_id, now)
      if (output !== null) await refuseMisfit(sql, found, output)
      if (output !== null && found.semantics === 'human_in_loop') return draftAnswer(relay, sql, found, output)
      await cancelDrafts(sql, found.id, now)
      const answered = {
        status: input.status,
        output,
        error_message: input.status === 'failed' ? (input.error ?? 'the agent did not say why') : null,
        completed_at: now,
        lease_id: null,
        lease_until: null,
      } as const
      await sql.updateTable('invocations').set(answered).where('id', '=', found.id).execute()
      wake(invocationTopic(found.id))
      return { id: found.id, invocation_id: found.id, status: input.status, elapsed_ms: now - found.created_at }
    })
  },
})

/** One that an agent of the caller serves. @throws {Refusal} `not_found` */
async function findWork(sql: Sql, caller: Caller, invocationId: string): Promise<InvocationRow> {
  const row = await sql.selectFrom('invocations').selectAll().where('id', '=', invocationId).executeTakeFirst()
  const granter =
    row === undefined ? undefined : (await agentsById(sql, [row.granter_agent_id])).get(row.granter_agent_id)
  if (row === undefined || granter === undefined || !manages(caller, granter)) {
    throw notFound('an invocation that an agent of yours serves')
  }
  return row
}

/** @throws {Refusal} `conflict`, `lease_expired` */
function refuseLate(
  { status, lease_id: lease, lease_until: until }: InvocationRow,
  given: string | undefined,
  now: number,
) {
  if (status !== 'in_progress') {
    throw new Refusal('conflict', `expected an invocation that is in_progress, found ${status}`)
  }
  if (given !== undefined && (given !== lease || (until ?? Infinity) <= now)) {
    throw new Refusal('lease_expired', 'the lease is over, and the work may be with somebody else by now')
  }
}

/** @throws {Refusal} `invalid_request`: the answer can be mended and given again */
async function refuseMisfit(sql: Sql, { capability_id: capabilityId }: InvocationRow, output: string): Promise<void> {
  const capability = await sql
    .selectFrom('capabilities')
    .select('output_schema')
    .where('id', '=', capabilityId)
    .executeTakeFirst()
  const misfit = capability === undefined ? undefined : misfitOf(capability.output_schema, JSON.parse(output))
  if (misfit !== undefined) throw new Refusal('invalid_request', `output: ${misfit}`)
}

export const INBOX_OPERATIONS: readonly Operation[] = [pullInbox, respond]
