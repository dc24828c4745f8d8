/**
 * API keys: what programs show instead of a person.
 *
 * Holds: the key itself is shown once; what is kept tells it apart and checks it.
 *
 * @module
 */
import { z } from 'zod'
import { SECONDS_PER_DAY } from '../../core/time.ts'
import { audit } from '../audit.ts'
import { displayName, id, isoTime, isoTimeOrNull, time, whole } from '../fields.ts'
import { type Operation, operation } from '../operation.ts'
import { notFound, Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type ApiKeyRow } from '../storage/identity-rows.ts'
import { type Sql } from '../storage/open.ts'
import { type Caller, requireMember } from './caller.ts'
import { makeSecret } from './secrets.ts'

const MAX_TTL_DAYS = 3_650
const DAY_MS = SECONDS_PER_DAY * 1_000
/** Of one person. */
const MAX_KEYS = 200
const MAX_SELECTED = 200
const MAX_LISTED = 500

const apiKeyShape = z.object({
  id,
  name: z.string(),
  key_prefix: z.string(),
  account_id: id.nullable(),
  agent_scope: z.enum(['all', 'own', 'selected']),
  last_used_at: time.nullable(),
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  created_at: time,
})

const madeKeyShape = z.object({ api_key: apiKeyShape, plaintext: z.string() })

export interface NewApiKey {
  readonly userId: string
  readonly accountId: string | null
  readonly name: string
  readonly agentScope: ApiKeyRow['agent_scope']
  readonly selected: readonly string[]
  readonly ttlDays?: number | undefined
}

export interface MadeApiKey {
  readonly row: ApiKeyRow
  readonly plaintext: string
}

export async function insertApiKey(relay: RelayContext, sql: Sql, key: NewApiKey): Promise<MadeApiKey> {
  const secret = makeSecret('api_key')
  const now = relay.clock.now()
  const row: ApiKeyRow = {
    id: newId(relay),
    user_id: key.userId,
    account_id: key.accountId,
    name: key.name,
    key_hash: secret.hash,
    key_prefix: secret.prefix,
    agent_scope: key.agentScope,
    last_used_at: null,
    expires_at: key.ttlDays === undefined ? null : now + key.ttlDays * DAY_MS,
    revoked_at: null,
    created_at: now,
  }
  await sql.insertInto('api_keys').values(row).execute()
  for (const agentId of new Set(key.selected)) {
    await sql
      .insertInto('credential_agents')
      .values({ credential_id: row.id, agent_id: agentId, added_at: now })
      .execute()
  }
  return { row, plaintext: secret.plaintext }
}

function show({ user_id: _user, key_hash: _hash, ...row }: ApiKeyRow): z.infer<typeof apiKeyShape> {
  return {
    ...row,
    last_used_at: isoTimeOrNull(row.last_used_at),
    expires_at: isoTimeOrNull(row.expires_at),
    revoked_at: isoTimeOrNull(row.revoked_at),
    created_at: isoTime(row.created_at),
  }
}

/** A narrow credential must not make itself a wide one. @throws {Refusal} `forbidden` */
function requireWide({ kind, agentScope }: Caller): void {
  if (agentScope !== 'all')
    throw new Refusal('forbidden', `expected a credential for all agents, found one of kind ${kind} for ${agentScope}`)
}

const listKeys = operation({
  name: 'list_api_keys',
  about: 'Your API keys, newest first; the keys themselves are not kept',
  rest: { method: 'get', path: '/v1/api-keys' },
  input: z.object({}),
  output: z.array(apiKeyShape),
  run: async ({ database: { sql } }, caller) => {
    const rows = await selectOwn(sql, caller).orderBy('id', 'desc').limit(MAX_LISTED).execute()
    return rows.map(show)
  },
})

const createKey = operation({
  name: 'create_api_key',
  about: 'Make an API key; it is shown this once',
  rest: { method: 'post', path: '/v1/api-keys', status: 201 },
  input: z.object({
    name: displayName,
    account_id: id.optional(),
    expires_in_days: whole(1, MAX_TTL_DAYS).optional(),
    agent_scope: z.enum(['all', 'own', 'selected']).default('all'),
    selected_agent_ids: z.array(id).max(MAX_SELECTED).default([]),
  }),
  output: madeKeyShape,
  run: async (relay, caller, input) => {
    requireWide(caller)
    if (input.account_id !== undefined) requireMember(caller, input.account_id)
    const { row, plaintext } = await relay.database.transaction(async (sql) => {
      await refuseForeign(sql, caller, input.selected_agent_ids)
      await refuseTooMany(sql, caller.userId)
      const made = await insertApiKey(relay, sql, {
        userId: caller.userId,
        accountId: input.account_id ?? caller.accountId,
        name: input.name,
        agentScope: input.agent_scope,
        selected: input.agent_scope === 'selected' ? input.selected_agent_ids : [],
        ttlDays: input.expires_in_days,
      })
      await audit(relay, sql, caller, {
        action: 'api_key.create',
        resourceId: made.row.id,
        summary: `made the key ${input.name}`,
      })
      return made
    })
    return { api_key: show(row), plaintext }
  },
})

async function refuseForeign(sql: Sql, caller: Caller, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const agents = await sql.selectFrom('agents').select(['id', 'account_id']).where('id', 'in', ids).execute()
  const own = new Set(agents.filter((agent) => caller.roles.has(agent.account_id)).map((agent) => agent.id))
  if (ids.some((agentId) => !own.has(agentId))) throw notFound('an agent of yours')
}

async function refuseTooMany(sql: Sql, userId: string): Promise<void> {
  const { count } = await sql
    .selectFrom('api_keys')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(count) >= MAX_KEYS) throw new Refusal('conflict', `expected at most ${MAX_KEYS} keys; revoke one first`)
}

/** One that the credential may see: a key of one account knows only of keys of that account. */
async function ownKey(sql: Sql, caller: Caller, keyId: string): Promise<ApiKeyRow> {
  const row = await selectOwn(sql, caller).where('id', '=', keyId).where('revoked_at', 'is', null).executeTakeFirst()
  if (row === undefined) throw notFound('a key of yours')
  return row
}

function selectOwn(sql: Sql, { userId, accountId }: Caller) {
  const own = sql.selectFrom('api_keys').selectAll().where('user_id', '=', userId)
  return accountId === null ? own : own.where('account_id', '=', accountId)
}

const revokeKey = operation({
  name: 'revoke_api_key',
  about: 'End an API key at once',
  rest: { method: 'delete', path: '/v1/api-keys/{key_id}', status: 204 },
  input: z.object({ key_id: id }),
  output: z.object({ revoked: z.literal(true) }),
  run: async (relay, caller, input) => {
    requireWide(caller)
    await relay.database.transaction(async (sql) => {
      const { id: resourceId, name } = await ownKey(sql, caller, input.key_id)
      await sql.updateTable('api_keys').set({ revoked_at: relay.clock.now() }).where('id', '=', resourceId).execute()
      await audit(relay, sql, caller, { action: 'api_key.revoke', resourceId, summary: `revoked the key ${name}` })
    })
    return { revoked: true as const }
  },
})

const rotateKey = operation({
  name: 'rotate_api_key',
  about: 'End an API key and make one that may do the same; it is shown this once',
  rest: { method: 'post', path: '/v1/api-keys/{key_id}/rotate', status: 201 },
  input: z.object({ key_id: id }),
  output: madeKeyShape,
  run: async (relay, caller, input) => {
    requireWide(caller)
    const { row, plaintext } = await relay.database.transaction(async (sql) => {
      const old = await ownKey(sql, caller, input.key_id)
      const agents = await sql
        .selectFrom('credential_agents')
        .select('agent_id')
        .where('credential_id', '=', old.id)
        .execute()
      const now = relay.clock.now()
      const made = await insertApiKey(relay, sql, {
        userId: old.user_id,
        accountId: old.account_id,
        name: old.name,
        agentScope: old.agent_scope,
        selected: agents.map(({ agent_id: agentId }) => agentId),
        ttlDays:
          old.expires_at === null ? undefined : Math.max(1, Math.ceil((old.expires_at - old.created_at) / DAY_MS)),
      })
      await sql.updateTable('api_keys').set({ revoked_at: now }).where('id', '=', old.id).execute()
      // What the old key made stays the new key's own.
      await sql
        .updateTable('agents')
        .set({ created_by_credential: made.row.id })
        .where('created_by_credential', '=', old.id)
        .execute()
      await audit(relay, sql, caller, {
        action: 'api_key.rotate',
        resourceId: made.row.id,
        targetId: old.id,
        summary: `replaced the key ${old.name}`,
      })
      return made
    })
    return { api_key: show(row), plaintext }
  },
})

export const API_KEY_OPERATIONS: readonly Operation[] = [listKeys, createKey, revokeKey, rotateKey]
