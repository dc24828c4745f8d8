/**
 * How an invocation is shown to its two sides.
 *
 * @module
 */
import { z } from 'zod'
import { id, isoTime, isoTimeOrNull, time } from '../fields.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { type Agent, agentsById } from '../network/agents.ts'
import { peerShape, presenceOf } from '../network/presence.ts'
import { type InvocationRow, type InvocationStatus } from '../storage/invocation-rows.ts'
import { type Sql } from '../storage/open.ts'
import { previewOf } from './payload.ts'

export const INVOCATION_STATUSES = [
  'pending',
  'in_progress',
  'succeeded',
  'failed',
  'rejected',
  'timeout',
  'awaiting_consent',
] as const satisfies readonly InvocationStatus[]

const OPEN: ReadonlySet<InvocationStatus> = new Set(['pending', 'in_progress', 'awaiting_consent'])

export function isOpen({ status }: Pick<InvocationRow, 'status'>): boolean {
  return OPEN.has(status)
}

export const friendshipContextShape = z.object({
  id,
  status: z.string(),
  proposer_agent_id: id,
  target_agent_id: id,
  proposer_message: z.string().nullable(),
  response_message: z.string().nullable(),
  decided_at: time.nullable(),
})

export const grantContextShape = z.object({
  id,
  status: z.string(),
  granter_agent_id: id,
  grantee_agent_id: id,
  capability_id: id,
  capability_name: z.string(),
  capability_visibility: z.string(),
  granted_at: time,
  expires_at: time.nullable(),
  purpose: z.string().nullable(),
})

/** What was agreed between the two agents when it was queued. */
export interface Trust {
  readonly friendship_context?: z.infer<typeof friendshipContextShape>
  readonly grant_context?: z.infer<typeof grantContextShape>
}

export const invocationShape = z.object({
  id,
  invocation_id: id,
  grant_id: id.nullable(),
  granter_agent_id: id,
  granter_display_name: z.string(),
  grantee_agent_id: id,
  grantee_display_name: z.string(),
  capability_id: id,
  capability_name: z.string(),
  semantics: z.enum(['autonomous', 'human_in_loop']),
  status: z.enum(INVOCATION_STATUSES),
  elapsed_ms: z.number(),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  input_preview: z.json(),
  output_preview: z.json(),
  created_at: time,
  claimed_at: time.nullable(),
  completed_at: time.nullable(),
  tier: z.enum(['friend', 'public']),
  i_served: z.boolean(),
  i_invoked: z.boolean(),
  consent_request_id: id.optional(),
  friendship_context: friendshipContextShape.optional(),
  grant_context: grantContextShape.optional(),
  peer: peerShape.optional(),
})

export type ShownInvocation = z.infer<typeof invocationShape>

/** An invocation with both its agents, whether these are still there or not. */
export interface Invocation extends InvocationRow {
  readonly granter: Agent
  readonly grantee: Agent
}

export async function withBothAgents(sql: Sql, rows: readonly InvocationRow[]): Promise<readonly Invocation[]> {
  const agents = await agentsById(
    sql,
    rows.flatMap(({ granter_agent_id, grantee_agent_id }) => [granter_agent_id, grantee_agent_id]),
  )
  return rows.flatMap((row) => {
    const [granter, grantee] = [agents.get(row.granter_agent_id), agents.get(row.grantee_agent_id)]
    return granter === undefined || grantee === undefined ? [] : [{ ...row, granter, grantee }]
  })
}

export function showInvocation(caller: Caller, invocation: Invocation, now: number): ShownInvocation {
  const { granter, grantee } = invocation
  const trust = JSON.parse(invocation.trust_snapshot) as Trust
  return {
    id: invocation.id,
    invocation_id: invocation.id,
    grant_id: invocation.grant_id,
    granter_agent_id: granter.id,
    granter_display_name: granter.display_name,
    grantee_agent_id: grantee.id,
    grantee_display_name: grantee.display_name,
    capability_id: invocation.capability_id,
    capability_name: invocation.capability_name,
    semantics: invocation.semantics,
    status: invocation.status,
    elapsed_ms: (invocation.completed_at ?? now) - invocation.created_at,
    error_code: invocation.error_code,
    error_message: invocation.error_message,
    input_preview: previewOf(invocation.input) as ShownInvocation['input_preview'],
    output_preview: previewOf(invocation.output) as ShownInvocation['output_preview'],
    created_at: isoTime(invocation.created_at),
    claimed_at: isoTimeOrNull(invocation.claimed_at),
    completed_at: isoTimeOrNull(invocation.completed_at),
    tier: invocation.grant_id === null ? 'public' : 'friend',
    i_served: manages(caller, granter),
    i_invoked: manages(caller, grantee),
    ...(invocation.consent_request_id === null ? {} : { consent_request_id: invocation.consent_request_id }),
    ...trust,
    ...(isOpen(invocation) ? { peer: presenceOf(granter, now) } : {}),
  }
}
