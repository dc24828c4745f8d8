/**
 * What a person has let in: programs by a browser, by a code, and by keys.
 *
 * @module
 */

import { type AgentScope } from '../storage/identity-rows.ts'
import { type Sql } from '../storage/open.ts'

export type PairingKind = 'oauth' | 'device_flow' | 'api_key'

export interface Pairing {
  readonly kind: PairingKind
  readonly id: string
  readonly name: string
  readonly agentScope: AgentScope
  readonly createdAt: number
  readonly lastUsedAt: number | null
}

const MAX_LISTED = 200

/** Newest first; those that are over are not among them. */
export async function pairingsOf(sql: Sql, userId: string, now: number): Promise<readonly Pairing[]> {
  const connections = await sql
    .selectFrom('connections')
    .leftJoin('clients', 'clients.client_id', 'connections.client_id')
    .select(['connections.id', 'kind', 'client_name', 'agent_scope', 'connections.created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .orderBy('connections.created_at', 'desc')
    .limit(MAX_LISTED)
    .execute()
  const keys = await sql
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where((or) => or.or([or('expires_at', 'is', null), or('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .limit(MAX_LISTED)
    .execute()
  return [
    ...connections.map(
      (row): Pairing => ({
        kind: row.kind === 'oauth' ? 'oauth' : 'device_flow',
        id: row.id,
        name: row.client_name ?? 'A device',
        agentScope: row.agent_scope,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
      }),
    ),
    ...keys.map(
      (row): Pairing => ({
        kind: 'api_key',
        id: row.id,
        name: `${row.name} (${row.key_prefix}…)`,
        agentScope: row.agent_scope,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
      }),
    ),
  ].sort((a, b) => b.createdAt - a.createdAt)
}

/** False where there is none of this person. */
export async function endPairing(
  sql: Sql,
  {
    userId,
    kind,
    id,
    now,
  }: { readonly userId: string; readonly kind: PairingKind; readonly id: string; readonly now: number },
): Promise<boolean> {
  const ended =
    kind === 'api_key'
      ? await sql
          .updateTable('api_keys')
          .set({ revoked_at: now })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .where('revoked_at', 'is', null)
          .returning('id')
          .execute()
      : await sql
          .updateTable('connections')
          .set({ revoked_at: now })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .where('kind', '=', kind === 'oauth' ? 'oauth' : 'device')
          .where('revoked_at', 'is', null)
          .returning('id')
          .execute()
  return ended.length > 0
}
