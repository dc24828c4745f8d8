/**
 * What a person let a program do, and the tokens for it.
 *
 * Holds: tokens are kept as hashes. When a connection ends, all its tokens do.
 *
 * @module
 */

import { audit } from '../audit.ts'
import { makeSecret } from '../identity/secrets.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type AgentScope, type ConnectionRow } from '../storage/identity-rows.ts'
import { type Sql } from '../storage/open.ts'
import { SCOPE } from './clients.ts'

const ACCESS_SECS = 86_400
const REFRESH_SECS = 30 * 86_400

export interface NewConnection {
  readonly kind: ConnectionRow['kind']
  readonly clientId: string | null
  readonly userId: string
  readonly resource: string | null
  readonly agentScope: AgentScope
  readonly selected: readonly string[]
}

export async function insertConnection(
  relay: RelayContext,
  sql: Sql,
  { kind, clientId, userId, resource, agentScope, selected }: NewConnection,
): Promise<string> {
  const [id, now] = [newId(relay), relay.clock.now()]
  await sql
    .insertInto('connections')
    .values({
      id,
      kind,
      client_id: clientId,
      user_id: userId,
      scope: SCOPE,
      resource,
      agent_scope: agentScope,
      created_at: now,
      last_used_at: null,
      revoked_at: null,
    })
    .execute()
  for (const agentId of agentScope === 'selected' ? new Set(selected) : []) {
    await sql.insertInto('credential_agents').values({ credential_id: id, agent_id: agentId, added_at: now }).execute()
  }
  return id
}

/** The answer of the token endpoint. */
export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
}

export async function insertTokens(relay: RelayContext, sql: Sql, connectionId: string): Promise<TokenAnswer> {
  const now = relay.clock.now()
  const [access, refresh] = [makeSecret('access'), makeSecret('refresh')]
  await sql.deleteFrom('tokens').where('connection_id', '=', connectionId).where('expires_at', '<=', now).execute()
  const token = { connection_id: connectionId, created_at: now, rotated_at: null, replay: null, revoked_at: null }
  await sql
    .insertInto('tokens')
    .values([
      { ...token, id: newId(relay), kind: 'access', token_hash: access.hash, expires_at: now + ACCESS_SECS * 1_000 },
      { ...token, id: newId(relay), kind: 'refresh', token_hash: refresh.hash, expires_at: now + REFRESH_SECS * 1_000 },
    ])
    .execute()
  return {
    access_token: access.plaintext,
    token_type: 'Bearer',
    expires_in: ACCESS_SECS,
    refresh_token: refresh.plaintext,
    scope: SCOPE,
  }
}

/** @param why one line for the audit */
export async function endConnection(relay: RelayContext, sql: Sql, connectionId: string, why: string): Promise<void> {
  const ended = await sql
    .updateTable('connections')
    .set({ revoked_at: relay.clock.now() })
    .where('id', '=', connectionId)
    .where('revoked_at', 'is', null)
    .returning('user_id')
    .execute()
  for (const { user_id: userId } of ended) {
    const deed = { action: 'connection.end', resourceId: connectionId, targetId: userId, summary: why } as const
    await audit(relay, sql, undefined, deed)
  }
}
