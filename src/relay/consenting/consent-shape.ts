/**
 * How questions to people, and their lasting approvals, are shown.
 *
 * @module
 */
import { z } from 'zod'
import { id, isoTime, isoTimeOrNull, time } from '../fields.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { type Agent, agentsById } from '../network/agents.ts'
import { notFound } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type ConsentRequestRow, type ConsentRow } from '../storage/consent-rows.ts'
import { type CapabilityRow } from '../storage/network-rows.ts'
import { type Sql } from '../storage/open.ts'
import { isApprover } from './approvers.ts'
import { approveUrl } from './holding.ts'

export const REQUEST_STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const

export const consentRequestShape = z.object({
  consent_request_id: id,
  kind: z.enum(['request', 'reply']),
  status: z.enum(REQUEST_STATUSES),
  invocation_id: id,
  capability_id: id,
  capability_name: z.string(),
  requester: z.string(),
  requester_agent_id: id,
  serving_agent: z.string(),
  serving_agent_id: id,
  purpose: z.string().nullable(),
  /** Seconds. */
  valid_for: z.number().nullable(),
  max_requests: z.number().nullable(),
  approve_url: z.string(),
  created_at: time,
  expires_at: time,
  decided_at: time.nullable(),
  reason: z.string().nullable(),
  valid_until: time.optional(),
  remaining_requests: z.number().nullable().optional(),
  /** For approvers who look at it in a browser. */
  input: z.json().optional(),
  draft_output: z.json().optional(),
})

export type ShownRequest = z.infer<typeof consentRequestShape>

/** A question with all that it is about. */
export interface ConsentRequest extends ConsentRequestRow {
  readonly requester: Agent
  readonly serving: Agent
  readonly capability: CapabilityRow
}

export async function withSubjects(sql: Sql, rows: readonly ConsentRequestRow[]): Promise<readonly ConsentRequest[]> {
  if (rows.length === 0) return []
  const agents = await agentsById(
    sql,
    rows.flatMap((row) => [row.requester_agent_id, row.serving_agent_id]),
  )
  const found = await sql
    .selectFrom('capabilities')
    .selectAll()
    .where(
      'id',
      'in',
      rows.map(({ capability_id: capabilityId }) => capabilityId),
    )
    .execute()
  const capabilities = new Map(found.map((capability) => [capability.id, capability]))
  return rows.flatMap((row) => {
    const [requester, serving] = [agents.get(row.requester_agent_id), agents.get(row.serving_agent_id)]
    const capability = capabilities.get(row.capability_id)
    return requester === undefined || serving === undefined || capability === undefined
      ? []
      : [{ ...row, requester, serving, capability }]
  })
}

/** One that the caller asked for, serves or decides. @throws {Refusal} `not_found` */
export async function findRequest(sql: Sql, caller: Caller, requestId: string): Promise<ConsentRequest> {
  const rows = await sql.selectFrom('consent_requests').selectAll().where('id', '=', requestId).execute()
  const [found] = await withSubjects(sql, rows)
  if (found === undefined || !concerns(caller, found)) throw notFound('a consent request')
  return found
}

export function concerns(caller: Caller, { requester, serving, capability }: ConsentRequest): boolean {
  return manages(caller, requester) || manages(caller, serving) || isApprover(caller, serving.account_id, capability)
}

export async function showRequest(
  relay: RelayContext,
  sql: Sql,
  caller: Caller,
  request: ConsentRequest,
): Promise<ShownRequest> {
  const { requester, serving, capability } = request
  const standing = await sql
    .selectFrom('consents')
    .selectAll()
    .where('consent_request_id', '=', request.id)
    .executeTakeFirst()
  const nameOf = ({ account_slug: account, slug }: Agent): string => `${account}/${slug}`
  return {
    consent_request_id: request.id,
    kind: request.kind,
    status: request.status,
    invocation_id: request.invocation_id,
    capability_id: capability.id,
    capability_name: capability.name,
    requester: nameOf(requester),
    requester_agent_id: requester.id,
    serving_agent: nameOf(serving),
    serving_agent_id: serving.id,
    purpose: request.purpose,
    valid_for: request.valid_for_secs,
    max_requests: request.max_requests,
    approve_url: approveUrl(relay, request.id),
    created_at: isoTime(request.created_at),
    expires_at: isoTime(request.expires_at),
    decided_at: isoTimeOrNull(request.decided_at),
    reason: request.reason,
    ...(standing === undefined
      ? {}
      : { valid_until: isoTime(standing.valid_until), remaining_requests: standing.remaining_requests }),
    ...(await payloads(sql, caller, request)),
  }
}

/** Only a person sees what is asked and answered, and only one who decides. */
async function payloads(
  sql: Sql,
  caller: Caller,
  { serving, capability, invocation_id: invocationId, draft_output: draft }: ConsentRequest,
): Promise<Pick<ShownRequest, 'input' | 'draft_output'>> {
  if (caller.kind !== 'session' || !isApprover(caller, serving.account_id, capability)) return {}
  const invocation = await sql
    .selectFrom('invocations')
    .select('input')
    .where('id', '=', invocationId)
    .executeTakeFirst()
  return {
    ...(invocation === undefined ? {} : { input: JSON.parse(invocation.input) as ShownRequest['input'] }),
    ...(draft === null ? {} : { draft_output: JSON.parse(draft) as ShownRequest['draft_output'] }),
  }
}

export const consentShape = z.object({
  id,
  consent_id: id,
  status: z.enum(['active', 'expired', 'exhausted', 'revoked']),
  capability_id: id,
  requester_agent_id: id,
  serving_agent_id: id,
  purpose: z.string().nullable(),
  valid_until: time,
  remaining_requests: z.number().nullable(),
  created_at: time,
  revoked_at: time.nullable(),
})

export function showConsent(row: ConsentRow, now: number): z.infer<typeof consentShape> {
  const status =
    row.revoked_at !== null
      ? 'revoked'
      : row.remaining_requests === 0
        ? 'exhausted'
        : row.valid_until <= now
          ? 'expired'
          : 'active'
  return {
    id: row.id,
    consent_id: row.id,
    status,
    capability_id: row.capability_id,
    requester_agent_id: row.requester_agent_id,
    serving_agent_id: row.serving_agent_id,
    purpose: row.purpose,
    valid_until: isoTime(row.valid_until),
    remaining_requests: row.remaining_requests,
    created_at: isoTime(row.created_at),
    revoked_at: isoTimeOrNull(row.revoked_at),
  }
}
