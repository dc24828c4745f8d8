/**
 * What agents can do for others, and who may know of it.
 *
 * @module
 */
import { z } from 'zod'
import { type JsonValue } from '../../core/json.ts'
import { id, isoTime, time, visibility } from '../fields.ts'
import { type Caller } from '../identity/caller.ts'
import { notFound } from '../refusal.ts'
import { type CapabilityRow, type Visibility } from '../storage/network-rows.ts'
import { type Sql } from '../storage/open.ts'
import { type Agent, shareOrganization } from './agents.ts'
import { type Consent, consentShape } from './consent-terms.ts'

export const capabilityShape = z.object({
  id,
  agent_id: id,
  name: z.string(),
  description: z.string(),
  input_schema: z.json(),
  output_schema: z.json(),
  visibility,
  semantics: z.enum(['autonomous', 'human_in_loop']),
  public_invoke: z.boolean(),
  public_monthly_quota_per_agent: z.number().nullable(),
  consent: consentShape.nullable(),
  created_at: time,
  updated_at: time,
})

export type ShownCapability = z.infer<typeof capabilityShape>

export function showCapability(row: CapabilityRow): ShownCapability {
  return {
    id: row.id,
    agent_id: row.agent_id,
    name: row.name,
    description: row.description,
    input_schema: JSON.parse(row.input_schema) as z.infer<typeof capabilityShape>['input_schema'],
    output_schema: JSON.parse(row.output_schema) as z.infer<typeof capabilityShape>['output_schema'],
    visibility: row.visibility,
    semantics: row.semantics,
    public_invoke: row.public_invoke === 1,
    public_monthly_quota_per_agent: row.public_monthly_quota_per_agent,
    consent: consentOf(row) ?? null,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  }
}

export function consentOf({ consent }: Pick<CapabilityRow, 'consent'>): Consent | undefined {
  return consent === null ? undefined : (JSON.parse(consent) as Consent)
}

export function selectCapabilities(sql: Sql) {
  return sql.selectFrom('capabilities').selectAll('capabilities').where('capabilities.deleted_at', 'is', null)
}

/** @throws {Refusal} `not_found` */
export async function findCapability(sql: Sql, agentId: string, capabilityId: string): Promise<CapabilityRow> {
  const found = await selectCapabilities(sql)
    .where('capabilities.id', '=', capabilityId)
    .where('capabilities.agent_id', '=', agentId)
    .executeTakeFirst()
  if (found === undefined) throw notFound('a capability of this agent')
  return found
}

/** Those of an agent that the caller may know of, by name. */
export async function visibleCapabilities(
  sql: Sql,
  caller: Caller | undefined,
  agent: Agent,
): Promise<readonly CapabilityRow[]> {
  const all = await selectCapabilities(sql).where('agent_id', '=', agent.id).orderBy('name').execute()
  if (caller?.roles.has(agent.account_id) === true) return all
  const isColleague = caller !== undefined && (await shareOrganization(sql, caller, agent.account_id))
  const granted = caller === undefined ? new Set<string>() : await grantedBy(sql, caller, agent.id)
  return all.filter(
    ({ id: capabilityId, visibility: seen }) =>
      seen === 'network' || (seen === 'org' && isColleague) || granted.has(capabilityId),
  )
}

async function grantedBy(sql: Sql, { roles }: Caller, agentId: string): Promise<ReadonlySet<string>> {
  const accounts = [...roles.keys()]
  if (accounts.length === 0) return new Set()
  const grants = await sql
    .selectFrom('grants')
    .innerJoin('agents as grantee', 'grantee.id', 'grants.grantee_agent_id')
    .select('grants.capability_id')
    .where('grants.granter_agent_id', '=', agentId)
    .where('grants.status', '=', 'active')
    .where('grantee.account_id', 'in', accounts)
    .execute()
  return new Set(grants.map(({ capability_id: capabilityId }) => capabilityId))
}

const WIDTH: Readonly<Record<Visibility, number>> = { private: 0, org: 1, network: 2 }

export function isWider(one: Visibility, other: Visibility): boolean {
  return WIDTH[one] > WIDTH[other]
}

/** No capability is seen by more than its agent is. */
export async function narrowCapabilities(sql: Sql, agentId: string, to: Visibility, now: number): Promise<void> {
  if (to === 'network') return
  const wider: readonly Visibility[] = to === 'private' ? ['org', 'network'] : ['network']
  await sql
    .updateTable('capabilities')
    .set({ visibility: to, public_invoke: 0, public_monthly_quota_per_agent: null, updated_at: now })
    .where('agent_id', '=', agentId)
    .where('deleted_at', 'is', null)
    .where('visibility', 'in', wider)
    .execute()
}

/** Schemas as they are kept. */
export function schemaText(schema: JsonValue): string {
  return JSON.stringify(schema)
}
