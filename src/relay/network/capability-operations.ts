/**
 * Publishing, changing and withdrawing what an agent can do.
 *
 * @module
 */
import { z } from 'zod'
import { type JsonValue } from '../../core/json.ts'
import { audit } from '../audit.ts'
import { agentName, description, id, visibility } from '../fields.ts'
import { rejectQueued } from '../invoking/rejecting.ts'
import { type Operation, operation } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { newId } from '../relay-context.ts'
import { type CapabilityRow } from '../storage/network-rows.ts'
import { type Agent, findAgent, findOwnAgent } from './agents.ts'
import {
  capabilityShape,
  findCapability,
  isWider,
  schemaText,
  selectCapabilities,
  showCapability,
  visibleCapabilities,
} from './capabilities.ts'
import { OPEN_OBJECT, problemOfSchema } from './capability-schema.ts'
import { consentInput, resolveConsent } from './consent-terms.ts'
import { revokeGrants } from './grants.ts'
import { MESSAGE_OWNER, MESSAGE_OWNER_INPUT, MESSAGE_OWNER_OUTPUT } from './message-owner.ts'

const MAX_NAME_CHARS = 64
const MAX_CAPABILITIES = 200
const MAX_QUOTA = 1_000_000_000

const name = z
  .string()
  .min(1)
  .max(MAX_NAME_CHARS)
  .regex(/^[A-Za-z0-9_.]+$/, 'expected letters, digits, underscores and dots')

/** What may be said of one, at first and later. */
const described = {
  description: description.optional(),
  input_schema: z.json().optional().meta({ description: 'JSON Schema of the input' }),
  output_schema: z.json().optional().meta({ description: 'JSON Schema of the output' }),
  visibility: visibility.optional(),
  semantics: z.enum(['autonomous', 'human_in_loop']).optional(),
  public_invoke: z.boolean().optional(),
  public_monthly_quota_per_agent: z.int().min(1).max(MAX_QUOTA).nullable().optional(),
  consent: consentInput.nullable().optional(),
}

const listCapabilities = operation({
  name: 'list_capabilities',
  about: 'What an agent can do, as far as you may know of it',
  rest: { method: 'get', path: '/v1/agents/{agent_id}/capabilities' },
  tool: { title: 'List the capabilities of an agent', readOnly: true },
  input: z.object({ agent_id: agentName }),
  output: z.array(capabilityShape),
  run: async ({ database: { sql } }, caller, input) => {
    const agent = await findAgent(sql, caller, input.agent_id)
    return (await visibleCapabilities(sql, caller, agent)).map(showCapability)
  },
})

const publishCapability = operation({
  name: 'publish_capability',
  about: 'Publish something that an agent of yours can do for others',
  rest: { method: 'post', path: '/v1/agents/{agent_id}/capabilities', status: 201 },
  tool: { title: 'Publish a capability' },
  input: z.object({ agent_id: agentName, name, ...described }),
  output: capabilityShape,
  run: async (relay, caller, input) => {
    const isMessage = input.name === MESSAGE_OWNER
    const inputSchema = readSchema(
      'input_schema',
      input.input_schema ?? (isMessage ? MESSAGE_OWNER_INPUT : OPEN_OBJECT),
    )
    const outputSchema = readSchema(
      'output_schema',
      input.output_schema ?? (isMessage ? MESSAGE_OWNER_OUTPUT : OPEN_OBJECT),
    )
    return relay.database.transaction(async (sql) => {
      const agent = await findOwnAgent(sql, caller, input.agent_id)
      const siblings = selectCapabilities(sql).where('agent_id', '=', agent.id)
      if ((await siblings.where('name', '=', input.name).executeTakeFirst()) !== undefined) {
        throw new Refusal('conflict', `expected a name that is new for this agent, found ${input.name} published`)
      }
      if ((await siblings.execute()).length >= MAX_CAPABILITIES) {
        throw new Refusal('conflict', `expected at most ${MAX_CAPABILITIES} capabilities of an agent`)
      }
      const now = relay.clock.now()
      const capability: CapabilityRow = {
        id: newId(relay),
        agent_id: agent.id,
        name: input.name,
        description: input.description ?? '',
        input_schema: inputSchema,
        output_schema: outputSchema,
        visibility: input.visibility ?? agent.visibility,
        semantics: input.semantics ?? (isMessage ? 'human_in_loop' : 'autonomous'),
        public_invoke: input.public_invoke === true ? 1 : 0,
        public_monthly_quota_per_agent: input.public_monthly_quota_per_agent ?? null,
        consent: await consentText(input.consent, agent),
        created_at: now,
        updated_at: now,
        deleted_at: null,
      }
      refuseUnfit(agent, capability)
      await sql.insertInto('capabilities').values(capability).execute()
      await audit(relay, sql, caller, {
        action: 'capability.create',
        resourceId: capability.id,
        targetId: agent.id,
        accountId: agent.account_id,
        summary: `published ${input.name} of the agent ${agent.slug}`,
      })
      return showCapability(capability)

      async function consentText(consent: typeof input.consent, { account_id: accountId }: Agent) {
        return consent === undefined || consent === null
          ? null
          : JSON.stringify(await resolveConsent(sql, accountId, consent))
      }
    })
  },
})

const updateCapability = operation({
  name: 'update_capability',
  about: 'Change a capability of an agent of yours; what is not given stays as it is',
  rest: { method: 'patch', path: '/v1/agents/{agent_id}/capabilities/{capability_id}' },
  tool: { title: 'Change a capability' },
  input: z.object({ agent_id: agentName, capability_id: id, ...described }),
  output: capabilityShape,
  run: async (relay, caller, input) => {
    const inputSchema = input.input_schema === undefined ? undefined : readSchema('input_schema', input.input_schema)
    const outputSchema =
      input.output_schema === undefined ? undefined : readSchema('output_schema', input.output_schema)
    return relay.database.transaction(async (sql) => {
      const agent = await findOwnAgent(sql, caller, input.agent_id)
      const before = await findCapability(sql, agent.id, input.capability_id)
      const isPublic = input.public_invoke ?? before.public_invoke === 1
      const quota = input.public_monthly_quota_per_agent
      const after: CapabilityRow = {
        ...before,
        description: input.description ?? before.description,
        input_schema: inputSchema ?? before.input_schema,
        output_schema: outputSchema ?? before.output_schema,
        visibility: input.visibility ?? before.visibility,
        semantics: input.semantics ?? before.semantics,
        public_invoke: isPublic ? 1 : 0,
        public_monthly_quota_per_agent: isPublic
          ? quota === undefined
            ? before.public_monthly_quota_per_agent
            : quota
          : null,
        updated_at: relay.clock.now(),
      }
      if (input.consent !== undefined) {
        after.consent =
          input.consent === null ? null : JSON.stringify(await resolveConsent(sql, agent.account_id, input.consent))
      }
      refuseUnfit(agent, after)
      await sql.updateTable('capabilities').set(after).where('id', '=', before.id).execute()
      await audit(relay, sql, caller, {
        action: 'capability.update',
        resourceId: before.id,
        targetId: agent.id,
        accountId: agent.account_id,
        summary: `changed ${before.name} of the agent ${agent.slug}`,
      })
      return showCapability(after)
    })
  },
})

const deleteCapability = operation({
  name: 'delete_capability',
  about: 'Withdraw a capability of an agent of yours; its grants are revoked',
  rest: { method: 'delete', path: '/v1/agents/{agent_id}/capabilities/{capability_id}', status: 204 },
  tool: { title: 'Delete a capability', destructive: true },
  input: z.object({ agent_id: agentName, capability_id: id }),
  output: z.object({ deleted: z.literal(true) }),
  run: async (relay, caller, input) => {
    await relay.database.transaction(async (sql, wake) => {
      const agent = await findOwnAgent(sql, caller, input.agent_id)
      const capability = await findCapability(sql, agent.id, input.capability_id)
      const now = relay.clock.now()
      await sql
        .updateTable('capabilities')
        .set({ deleted_at: now, updated_at: now })
        .where('id', '=', capability.id)
        .execute()
      await revokeGrants(relay, { sql, wake }, caller, [{ capability_id: capability.id }], 'capability deleted')
      const rejection = { code: 'not_found', message: 'the capability was withdrawn while this was queued', now }
      await rejectQueued({ sql, wake }, { capability_id: capability.id }, rejection)
      await audit(relay, sql, caller, {
        action: 'capability.delete',
        resourceId: capability.id,
        targetId: agent.id,
        accountId: agent.account_id,
        summary: `withdrew ${capability.name} of the agent ${agent.slug}`,
      })
    })
    return { deleted: true as const }
  },
})

/** @throws {Refusal} `invalid_request` */
function readSchema(member: string, schema: JsonValue): string {
  const problem = problemOfSchema(schema)
  if (problem !== undefined) throw new Refusal('invalid_request', `${member}: ${problem}`)
  return schemaText(schema)
}

/** @throws {Refusal} `invalid_request` for what contradicts itself or the agent */
function refuseUnfit(agent: Agent, capability: CapabilityRow): void {
  const { visibility: seen, public_invoke: isPublic, public_monthly_quota_per_agent: quota } = capability
  if (isWider(seen, agent.visibility)) {
    throw new Refusal(
      'invalid_request',
      `visibility: expected none wider than that of the agent, ${agent.visibility}, found ${seen}`,
    )
  }
  if (isPublic === 1 && seen !== 'network') {
    throw new Refusal('invalid_request', `public_invoke: expected the visibility network with it, found ${seen}`)
  }
  if (isPublic === 1 && quota === null) {
    throw new Refusal(
      'invalid_request',
      'public_monthly_quota_per_agent: expected at least 1 with public_invoke, found none',
    )
  }
  if (isPublic === 0 && quota !== null) {
    throw new Refusal('invalid_request', 'public_monthly_quota_per_agent: expected public_invoke with it')
  }
  if (capability.name === MESSAGE_OWNER && capability.semantics !== 'human_in_loop') {
    throw new Refusal('invalid_request', `semantics: expected human_in_loop for ${MESSAGE_OWNER}`)
  }
}

export const CAPABILITY_OPERATIONS: readonly Operation[] = [
  publishCapability,
  listCapabilities,
  updateCapability,
  deleteCapability,
]
