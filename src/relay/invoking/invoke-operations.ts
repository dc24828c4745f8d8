/**
 * Using the capabilities of other agents, and following what became of it.
 *
 * @module
 */
import { z } from 'zod'
import { type ConsentTerms, consentTerms } from '../consenting/holding.ts'
import { agentName, id, whole } from '../fields.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { accountAgentIds, findOwnAgent } from '../network/agents.ts'
import { absenceNote, type Peer, peerShape, presenceOf } from '../network/presence.ts'
import { type Asked, type Operation, operation } from '../operation.ts'
import { notFound, Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type InvocationRow } from '../storage/invocation-rows.ts'
import { type Sql } from '../storage/open.ts'
import {
  INVOCATION_STATUSES,
  type Invocation,
  invocationShape,
  isOpen,
  showInvocation,
  withBothAgents,
} from './invocation-shape.ts'
import { payloadText } from './payload.ts'
import { type Queued, queueInvocation } from './queueing.ts'
import { invocationTopic, MAX_WAIT_SECS, waitFor } from './waiting.ts'
import { type Addressed, readWish } from './wishes.ts'

const MAX_CAPABILITY_CHARS = 64
const MAX_KEY_CHARS = 200
const MAX_LISTED = 200
const DEFAULT_LISTED = 50

const waitSeconds = whole(0, MAX_WAIT_SECS).default(0)

export const outcomeShape = z.object({
  invocation_id: id,
  status: z.enum(INVOCATION_STATUSES),
  output: z.json().optional(),
  error: z.string().optional(),
  code: z.string().optional(),
  capability_name: z.string(),
  grantee_agent_id: id,
  elapsed_ms: z.number(),
  consent_request_id: id.optional(),
  peer: peerShape.optional(),
})

export type Outcome = z.infer<typeof outcomeShape>
type Json = NonNullable<Outcome['output']> | null

const invoke = operation({
  name: 'invoke',
  about:
    'Use a capability of another agent: by agent and capability, by capability_id where it is public, or by grant_id. With wait_seconds the outcome comes back where it is there in time; else follow it with poll_invocation',
  rest: { method: 'post', path: '/v1/invoke', status: 202 },
  tool: { title: 'Invoke a capability', note: absence },
  input: z.object({
    agent: agentName.optional(),
    capability: z.string().min(1).max(MAX_CAPABILITY_CHARS).optional(),
    capability_id: id.optional(),
    grant_id: id.optional(),
    grantee_agent_id: agentName.optional().meta({ description: 'The agent of yours to call as' }),
    input: z.json().optional().meta({ description: 'Whatever the capability takes' }),
    wait_seconds: waitSeconds,
    consent_terms: consentTerms.optional().meta({ description: 'What to ask the owner for, where consent is needed' }),
    idempotency_key: z.string().min(1).max(MAX_KEY_CHARS).optional(),
  }),
  output: outcomeShape,
  run: async (relay, caller, given, asked) => {
    const { input, wait_seconds: waitSecs, idempotency_key: key, consent_terms: terms, ...addressed } = given
    const once = { ...asked, idempotencyKey: key ?? asked.idempotencyKey }
    const row = await startInvocation(relay, caller, addressed, input ?? {}, once, terms)
    return outcomeOf(relay, await awaitInvocation(relay, row.id, waitSecs, asked.signal))
  },
})

/**
 * Queues it and tells whoever waits at the inbox.
 *
 * @throws {Refusal} also for what left a rejected row, whose id it names
 */
export async function startInvocation(
  relay: RelayContext,
  caller: Caller,
  addressed: Addressed,
  input: unknown,
  asked: Asked,
  terms?: ConsentTerms,
): Promise<InvocationRow> {
  const text = payloadText('input', input)
  const { row, refusal } = await relay.database.transaction(async (sql, wake): Promise<Queued> => {
    const before = await repeated(sql, caller, asked)
    if (before !== undefined) {
      if (before.input === text) return { row: before }
      throw new Refusal('conflict', 'expected the same input under this idempotency key, found another')
    }
    const wish = await readWish(relay, sql, caller, addressed, text)
    return queueInvocation(relay, { sql, wake }, caller, { ...wish, terms }, asked)
  })
  if (refusal === undefined) return row
  const { code, message, detail, headers } = refusal
  throw new Refusal(code, message, { detail: { invocation_id: row.id, status: 'rejected', ...detail }, headers })
}

async function repeated(
  sql: Sql,
  { credentialId }: Caller,
  { idempotencyKey }: Asked,
): Promise<InvocationRow | undefined> {
  if (idempotencyKey === undefined) return undefined
  return sql
    .selectFrom('invocations')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
}

/** As it is when it is done, held for consent, or the time is over. */
export async function awaitInvocation(
  relay: RelayContext,
  invocationId: string,
  waitSecs: number,
  signal: AbortSignal,
): Promise<Invocation> {
  const { sql } = relay.database
  const look = async (): Promise<Invocation> => {
    const rows = await sql.selectFrom('invocations').selectAll().where('id', '=', invocationId).execute()
    const [found] = await withBothAgents(sql, rows)
    if (found === undefined) throw notFound('an invocation')
    return found
  }
  return waitFor(
    relay,
    invocationTopic(invocationId),
    { waitSecs, signal },
    look,
    (found) => !isOpen(found) || found.status === 'awaiting_consent',
  )
}

export function outcomeOf({ clock }: RelayContext, invocation: Invocation): Outcome {
  const now = clock.now()
  return {
    invocation_id: invocation.id,
    status: invocation.status,
    ...(invocation.output === null ? {} : { output: JSON.parse(invocation.output) as Json }),
    ...(invocation.error_message === null ? {} : { error: invocation.error_message }),
    ...(invocation.error_code === null ? {} : { code: invocation.error_code }),
    capability_name: invocation.capability_name,
    grantee_agent_id: invocation.grantee_agent_id,
    elapsed_ms: (invocation.completed_at ?? now) - invocation.created_at,
    ...(invocation.consent_request_id === null ? {} : { consent_request_id: invocation.consent_request_id }),
    ...(isOpen(invocation) ? { peer: presenceOf(invocation.granter, now) } : {}),
  }
}

const pollInvocation = operation({
  name: 'poll_invocation',
  about: 'What became of an invocation of an agent of yours, made or served by it',
  rest: { method: 'get', path: '/v1/invocations/{invocation_id}' },
  tool: { title: 'Follow an invocation', readOnly: true, note: absence },
  input: z.object({ invocation_id: id, wait_seconds: waitSeconds }),
  output: invocationShape.extend({ input: z.json(), output: z.json(), error: z.string().optional() }),
  run: async (relay, caller, { invocation_id: invocationId, wait_seconds: waitSecs }, asked) => {
    refuseStrangers(caller, await awaitInvocation(relay, invocationId, 0, asked.signal))
    const invocation = await awaitInvocation(relay, invocationId, waitSecs, asked.signal)
    const shown = showInvocation(caller, invocation, relay.clock.now())
    return {
      ...shown,
      input: JSON.parse(invocation.input) as Json,
      output: (invocation.output === null ? null : JSON.parse(invocation.output)) as Json,
      ...(invocation.error_message === null ? {} : { error: invocation.error_message }),
    }
  },
})

/** @throws {Refusal} `not_found` */
export function refuseStrangers(caller: Caller, { granter, grantee }: Invocation): void {
  if (!(manages(caller, granter) || manages(caller, grantee))) throw notFound('an invocation of an agent of yours')
}

const listInvocations = operation({
  name: 'list_invocations',
  about: 'Invocations of your agents, newest first; outbound are those that they made',
  rest: { method: 'get', path: '/v1/invocations' },
  tool: { title: 'List invocations', readOnly: true },
  input: z.object({
    direction: z.enum(['all', 'outbound', 'inbound']).default('all'),
    agent_id: agentName.optional(),
    status: z.enum(INVOCATION_STATUSES).optional(),
    limit: whole(1, MAX_LISTED).default(DEFAULT_LISTED),
  }),
  output: z.array(invocationShape),
  run: async ({ database: { sql }, clock }, caller, { direction, agent_id: agent, status, limit }) => {
    const mine = agent === undefined ? undefined : (await findOwnAgent(sql, caller, agent)).id
    const side = (column: 'granter_agent_id' | 'grantee_agent_id') => {
      const query = sql.selectFrom('invocations').selectAll().orderBy('id', 'desc').limit(limit)
      const narrowed = status === undefined ? query : query.where('status', '=', status)
      return mine === undefined
        ? narrowed.where(column, 'in', accountAgentIds(sql, caller)).execute()
        : narrowed.where(column, '=', mine).execute()
    }
    const rows = [
      ...(direction === 'inbound' ? [] : await side('grantee_agent_id')),
      ...(direction === 'outbound' ? [] : await side('granter_agent_id')),
    ]
    const unique = [...new Map(rows.map((row) => [row.id, row])).values()].sort((a, b) => (a.id < b.id ? 1 : -1))
    const now = clock.now()
    return (await withBothAgents(sql, unique))
      .filter(({ granter, grantee }) => manages(caller, granter) || manages(caller, grantee))
      .slice(0, limit)
      .map((invocation) => showInvocation(caller, invocation, now))
  },
})

function absence(result: unknown): string | undefined {
  const { peer } = result as { readonly peer?: Peer }
  return peer === undefined ? undefined : absenceNote(peer)
}

export const INVOKE_OPERATIONS: readonly Operation[] = [invoke, pollInvocation, listInvocations]
