/**
 * From a code or a refresh token to new tokens.
 *
 * Holds: what has not the form of a secret of ours costs no query. A code is good once, and its second use ends what came
 * of the first. A refresh token is good once; the same request again within two minutes has the same answer, byte for
 * byte, and later it ends the connection.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { audit } from '../audit.ts'
import { type Caller } from '../identity/caller.ts'
import { hashSecret, makeSecret, secretKind } from '../identity/secrets.ts'
import { type RelayContext } from '../relay-context.ts'
import { type AgentScope } from '../storage/identity-rows.ts'
import { type Sql } from '../storage/open.ts'
import { type AuthorizationRequest } from './authorization-request.ts'
import { endConnection, insertConnection, insertTokens } from './connections.ts'
import { OAuthError } from './oauth-error.ts'
import { readResources } from './resources.ts'
import { seal, unseal } from './sealing.ts'

const CODE_MS = 600_000
const REPLAY_MS = 120_000
/** After its time, so that a second use is still known for one. */
const CODE_KEPT_MS = 86_400_000

interface Allowed {
  readonly caller: Caller
  readonly agentScope: AgentScope
  readonly selected: readonly string[]
}

/** A code for what a person allowed. */
export async function issueCode(
  relay: RelayContext,
  { client, redirectUri, codeChallenge, resource }: AuthorizationRequest,
  { caller, agentScope, selected }: Allowed,
): Promise<string> {
  const { plaintext, hash } = makeSecret('code')
  const now = relay.clock.now()
  await relay.database.transaction(async (sql) => {
    await sql.updateTable('clients').set({ allowed_at: now }).where('client_id', '=', client.id).execute()
    await sql
      .deleteFrom('codes')
      .where('expires_at', '<=', now - CODE_KEPT_MS)
      .execute()
    await audit(relay, sql, caller, {
      action: 'connection.allow',
      resourceId: client.id,
      summary: `let in ${client.name} for ${agentScope} agents`,
    })
    await sql
      .insertInto('codes')
      .values({
        code_hash: hash,
        client_id: client.id,
        user_id: caller.userId,
        redirect_uri: redirectUri,
        code_challenge: codeChallenge,
        resource,
        agent_scope: agentScope,
        selected: JSON.stringify(selected),
        created_at: now,
        expires_at: now + CODE_MS,
        used_at: null,
        connection_id: null,
      })
      .execute()
  })
  return plaintext
}

/** Of a form: each once. */
export type Form = (name: string) => string | undefined

/** An answer's text, or why there is none; what was done about it is kept in both cases. */
type Outcome = { readonly text: string } | { readonly error: OAuthError }

/** @throws {OAuthError} */
export async function tokensByCode(relay: RelayContext, form: Form, resources: readonly string[]): Promise<string> {
  const code = required(form, 'code')
  const clientId = required(form, 'client_id')
  const verifier = required(form, 'code_verifier')
  if (secretKind(code) !== 'code') throw unknownGrant('code')
  readResources(relay.settings.publicUrl, resources)
  const now = relay.clock.now()
  return answerOf(
    await relay.database.transaction(async (sql): Promise<Outcome> => {
      const row = await sql.selectFrom('codes').selectAll().where('code_hash', '=', hashSecret(code)).executeTakeFirst()
      if (row === undefined || row.client_id !== clientId) return { error: unknownGrant('code') }
      if (row.used_at !== null) {
        if (row.connection_id !== null)
          await endConnection(relay, sql, row.connection_id, 'its code came a second time')
        return { error: unknownGrant('code') }
      }
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      if (row.expires_at <= now) return { error: unknownGrant('code') }
      if (row.redirect_uri !== (form('redirect_uri') ?? row.redirect_uri) || challenge !== row.code_challenge) {
        return {
          error: new OAuthError('invalid_grant', 'expected the address and the verifier that the code was asked with'),
        }
      }
      const connectionId = await insertConnection(relay, sql, {
        kind: 'oauth',
        clientId,
        userId: row.user_id,
        resource: row.resource,
        agentScope: row.agent_scope,
        selected: JSON.parse(row.selected) as string[],
      })
      const used = { used_at: now, connection_id: connectionId }
      await sql.updateTable('codes').set(used).where('code_hash', '=', row.code_hash).execute()
      return { text: JSON.stringify(await insertTokens(relay, sql, connectionId)) }
    }),
  )
}

/** @throws {OAuthError} */
export async function tokensByRefresh(relay: RelayContext, form: Form, resources: readonly string[]): Promise<string> {
  const token = required(form, 'refresh_token')
  const clientId = required(form, 'client_id')
  if (secretKind(token) !== 'refresh') throw unknownGrant('refresh token')
  readResources(relay.settings.publicUrl, resources)
  const now = relay.clock.now()
  return answerOf(
    await relay.database.transaction(async (sql): Promise<Outcome> => {
      const row = await findRefresh(sql, token)
      if (row === undefined || row.revoked_at !== null || row.ended_at !== null || row.client_id !== clientId) {
        return { error: unknownGrant('refresh token') }
      }
      if (row.rotated_at !== null) {
        if (now - row.rotated_at <= REPLAY_MS && row.replay !== null) return { text: unseal(token, row.replay) }
        await endConnection(relay, sql, row.connection_id, 'its refresh token came again after its time')
        return { error: unknownGrant('refresh token') }
      }
      if (row.expires_at <= now) return { error: unknownGrant('refresh token') }
      const text = JSON.stringify(await insertTokens(relay, sql, row.connection_id))
      const rotated = { rotated_at: now, replay: seal(token, text) }
      await sql.updateTable('tokens').set(rotated).where('id', '=', row.id).execute()
      await sql.updateTable('connections').set({ last_used_at: now }).where('id', '=', row.connection_id).execute()
      return { text }
    }),
  )
}

function findRefresh(sql: Sql, token: string) {
  return sql
    .selectFrom('tokens')
    .innerJoin('connections', 'connections.id', 'tokens.connection_id')
    .selectAll('tokens')
    .select(['connections.client_id', 'connections.revoked_at as ended_at'])
    .where('token_hash', '=', hashSecret(token))
    .where('tokens.kind', '=', 'refresh')
    .executeTakeFirst()
}

/** Whatever it is, it is good for nothing afterwards. Nobody is told whether it was. */
export async function revokeToken(relay: RelayContext, token: string): Promise<void> {
  const kind = secretKind(token)
  if (kind !== 'access' && kind !== 'refresh') return
  await relay.database.transaction(async (sql) => {
    const row = await sql
      .selectFrom('tokens')
      .select('connection_id')
      .where('token_hash', '=', hashSecret(token))
      .executeTakeFirst()
    if (row !== undefined) await endConnection(relay, sql, row.connection_id, 'the program gave it back')
  })
}

function answerOf(outcome: Outcome): string {
  if ('error' in outcome) throw outcome.error
  return outcome.text
}

function required(form: Form, name: string): string {
  const value = form(name)
  if (value === undefined) throw new OAuthError('invalid_request', `${name}: expected one, found none`)
  return value
}

function unknownGrant(what: string): OAuthError {
  return new OAuthError('invalid_grant', `expected a ${what} that is good and of this client, found none`)
}
