/**
 * What one agent lets another do.
 *
 * @module
 */
import { z } from 'zod'
import { notify } from '../consenting/notices.ts'
import { id, isoTime, isoTimeOrNull, time, visibility } from '../fields.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { rejectQueued } from '../invoking/rejecting.ts'
import { notFound } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type CapabilityRow, type GrantRow } from '../storage/network-rows.ts'
import { type Inside, type Sql } from '../storage/open.ts'
import { agentSummaryShape, summaryOf } from './agent-shape.ts'
import { type Agent, agentsById } from './agents.ts'

export const GRANT_STATUSES = ['active', 'revoked', 'expired'] as const

export const grantShape = z.object({
  id,
  grant_id: id,
  status: z.enum(GRANT_STATUSES),
  granter: agentSummaryShape,
  grantee: agentSummaryShape,
  granter_agent_id: id,
  granter_display_name: z.string(),
  grantee_agent_id: id,
  grantee_display_name: z.string(),
  capability_id: id,
  capability_name: z.string(),
  capability_visibility: visibility,
  purpose: z.string().nullable(),
  granted_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  revoke_reason: z.string().nullable(),
  i_granted: z.boolean(),
  i_received: z.boolean(),
})

export type ShownGrant = z.infer<typeof grantShape>

export interface Grant extends GrantRow {
  readonly granter: Agent
  readonly grantee: Agent
  readonly capability: Pick<CapabilityRow, 'name' | 'visibility'>
}

export async function withParts(sql: Sql, rows: readonly GrantRow[]): Promise<readonly Grant[]> {
  if (rows.length === 0) return []
  const agents = await agentsById(
    sql,
    rows.flatMap(({ granter_agent_id, grantee_agent_id }) => [granter_agent_id, grantee_agent_id]),
  )
  const found = await sql
    .selectFrom('capabilities')
    .select(['id', 'name', 'visibility'])
    .where(
      'id',
      'in',
      rows.map(({ capability_id }) => capability_id),
    )
    .execute()
  const capabilities = new Map(found.map((capability) => [capability.id, capability]))
  return rows.flatMap((row) => {
    const [granter, grantee] = [agents.get(row.granter_agent_id), agents.get(row.grantee_agent_id)]
    const capability = capabilities.get(row.capability_id)
    return granter === undefined || grantee === undefined || capability === undefined
      ? []
      : [{ ...row, granter, grantee, capability }]
  })
}

/** One that an agent of the caller gave or has. @throws {Refusal} `not_found` */
export async function findGrant(sql: Sql, caller: Caller, grantId: string): Promise<Grant> {
  const rows = await sql.selectFrom('grants').selectAll().where('id', '=', grantId).execute()
  const [found] = await withParts(sql, rows)
  if (found === undefined || !(manages(caller, found.granter) || manages(caller, found.grantee))) {
    throw notFound('a grant of an agent of yours')
  }
  return found
}

/** As it is now: one whose time is over is expired, whatever is kept of it. */
export function statusOf({ status, expires_at: expires }: GrantRow, now: number): GrantRow['status'] {
  return status === 'active' && expires !== null && expires <= now ? 'expired' : status
}

/** Which grants: one, or all that an agent gave, has, or gave to one other. */
export type GrantSide = Partial<Pick<GrantRow, 'id' | 'granter_agent_id' | 'grantee_agent_id' | 'capability_id'>>

/** One side after the other: SQLite does not plan an update of one or the other where an index is partial. */
export async function revokeGrants(
  relay: Pick<RelayContext, 'clock' | 'ids'>,
  inside: Inside,
  { userId }: Caller,
  sides: readonly GrantSide[],
  reason: string | null,
): Promise<void> {
  const { sql } = inside
  const now = relay.clock.now()
  for (const side of sides) {
    let query = sql
      .updateTable('grants')
      .set({ status: 'revoked', revoked_at: now, revoked_by_user_id: userId, revoke_reason: reason })
      .where('status', '=', 'active')
    for (const [column, value] of Object.entries(side)) query = query.where(column as keyof GrantSide, '=', value)
    const rejection = { code: 'chk.policy.grant_revoked', message: 'the grant was revoked while this was queued', now }
    for (const revoked of await query.returning(['id', 'grantee_agent_id']).execute()) {
      await rejectQueued(inside, { grant_id: revoked.id }, rejection)
      await notify(relay, inside, revoked.grantee_agent_id, 'grant_revoked', { grant_id: revoked.id, reason })
    }
  }
}

export function showGrant(caller: Caller, grant: Grant, now: number): ShownGrant {
  const { granter, grantee, capability } = grant
  return {
    id: grant.id,
    grant_id: grant.id,
    status: statusOf(grant, now),
    granter: summaryOf(granter),
    grantee: summaryOf(grantee),
    granter_agent_id: granter.id,
    granter_display_name: granter.display_name,
    grantee_agent_id: grantee.id,
    grantee_display_name: grantee.display_name,
    capability_id: grant.capability_id,
    capability_name: capability.name,
    capability_visibility: capability.visibility,
    purpose: grant.purpose,
    granted_at: isoTime(grant.granted_at),
    expires_at: isoTimeOrNull(grant.expires_at),
    revoked_at: isoTimeOrNull(grant.revoked_at),
    revoke_reason: grant.revoke_reason,
    i_granted: manages(caller, granter),
    i_received: manages(caller, grantee),
  }
}
