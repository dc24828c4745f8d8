/**
 * From what a request carries to who asks.
 *
 * Holds: what has not the form of a secret of ours costs no query.
 *
 * @module
 */

import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type AgentScope, type CredentialKind, type Role } from '../storage/identity-rows.ts'
import { type Sql } from '../storage/open.ts'
import { type Caller } from './caller.ts'
import { hashSecret, secretKind } from './secrets.ts'

/** `last_used_at` of a key is as fresh as this. */
const USED_FRESHNESS_MS = 60_000

interface Credential {
  readonly kind: CredentialKind
  readonly id: string
  readonly userId: string
  readonly origin: string
  readonly accountId: string | null
  readonly agentScope: AgentScope
}

/** @throws {Refusal} `unauthorized`, the same for whatever is wrong with it */
export async function callerOf(relay: RelayContext, bearer: string): Promise<Caller> {
  const credential = await find(relay, bearer)
  if (credential === undefined) throw invalid()
  return callerFor(relay.database.sql, credential)
}

function invalid(): Refusal {
  return new Refusal(
    'unauthorized',
    'expected a credential that is valid, found one that is unknown, expired or revoked',
  )
}

async function find(relay: RelayContext, bearer: string): Promise<Credential | undefined> {
  switch (secretKind(bearer)) {
    case 'api_key':
      return byApiKey(relay, hashSecret(bearer))
    case 'session':
      return bySession(relay, hashSecret(bearer))
    case 'access':
      return byAccessToken(relay, hashSecret(bearer))
    default:
      return undefined
  }
}

async function byApiKey({ database, clock }: RelayContext, hash: string): Promise<Credential | undefined> {
  const now = clock.now()
  const key = await database.sql.selectFrom('api_keys').selectAll().where('key_hash', '=', hash).executeTakeFirst()
  if (key === undefined || key.revoked_at !== null || (key.expires_at ?? Infinity) <= now) return undefined
  if (now - (key.last_used_at ?? 0) > USED_FRESHNESS_MS) {
    await database.sql.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', key.id).execute()
  }
  const { id, user_id: userId, account_id: accountId, agent_scope: agentScope } = key
  return { kind: 'api_key', id, userId, origin: id, accountId, agentScope }
}

async function bySession({ database, clock }: RelayContext, hash: string): Promise<Credential | undefined> {
  const session = await database.sql
    .selectFrom('sessions')
    .selectAll()
    .where('token_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .executeTakeFirst()
  if (session === undefined) return undefined
  const { id, user_id: userId } = session
  return { kind: 'session', id, userId, origin: id, accountId: null, agentScope: 'all' }
}

async function byAccessToken({ database, clock }: RelayContext, hash: string): Promise<Credential | undefined> {
  const found = await database.sql
    .selectFrom('tokens')
    .innerJoin('connections', 'connections.id', 'tokens.connection_id')
    .select(['connections.id', 'connections.kind', 'client_id', 'user_id', 'agent_scope'])
    .where('token_hash', '=', hash)
    .where('tokens.kind', '=', 'access')
    .where('tokens.revoked_at', 'is', null)
    .where('connections.revoked_at', 'is', null)
    .where('tokens.expires_at', '>', clock.now())
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { id, kind, user_id: userId, client_id: clientId, agent_scope: agentScope } = found
  return { kind, id, userId, origin: clientId ?? id, accountId: null, agentScope }
}

async function callerFor(sql: Sql, { userId, accountId, ...credential }: Credential): Promise<Caller> {
  const user = await sql.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()
  if (user === undefined) throw invalid()
  const memberships = await sql
    .selectFrom('memberships')
    .innerJoin('accounts', 'accounts.id', 'memberships.account_id')
    .select(['account_id', 'role'])
    .where('user_id', '=', userId)
    .where('tombstoned_at', 'is', null)
    .execute()
  const roles = new Map<string, Role>()
  for (const { account_id: id, role } of memberships) if (accountId === null || accountId === id) roles.set(id, role)
  const selected =
    credential.agentScope === 'selected'
      ? await sql
          .selectFrom('credential_agents')
          .select('agent_id')
          .where('credential_id', '=', credential.id)
          .execute()
      : []
  return {
    userId,
    email: user.email,
    displayName: user.display_name,
    // Only a person at the browser administers; a program that was let in never does.
    isAdmin: user.is_admin === 1 && credential.kind === 'session',
    kind: credential.kind,
    credentialId: credential.id,
    origin: credential.origin,
    accountId,
    roles,
    agentScope: credential.agentScope,
    selected: new Set(selected.map(({ agent_id: id }) => id)),
  }
}
