/**
 * Programs that ask people to let them in. They are public: what they know, everybody who has them knows.
 *
 * Holds: a client that somebody allowed something is never forgotten to make room.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7591
 * @module
 */
import { randomBytes } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { type RelayContext } from '../relay-context.ts'
import { type ClientRow } from '../storage/authorization-rows.ts'
import { type Sql } from '../storage/open.ts'
import { OAuthError } from './oauth-error.ts'
import { problemOfRedirectUri } from './redirect-uris.ts'

export const SCOPE = 'relay.full'
const CLIENT_ID_BYTES = 16
const MAX_REDIRECT_URIS = 10
const MAX_NAME_CHARS = 120
const MAX_CLIENT_URI_CHARS = 500
/** Clients that nobody allowed anything yet; who registered first goes first. */
const MAX_UNUSED = 10_000

export async function registerClient(relay: RelayContext, given: unknown): Promise<JsonObject> {
  if (!isJsonObject(given)) throw new OAuthError('invalid_client_metadata', 'expected a JSON object')
  const client = readClient(given)
  const now = relay.clock.now()
  const row: ClientRow = {
    client_id: `mcp_${randomBytes(CLIENT_ID_BYTES).toString('hex')}`,
    client_name: client.name,
    redirect_uris: JSON.stringify(client.redirectUris),
    client_uri: client.uri,
    created_at: now,
    allowed_at: null,
  }
  await relay.database.transaction(async (sql) => {
    const unused = sql.selectFrom('clients').where('allowed_at', 'is', null)
    const { count } = await unused.select((of) => of.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    if (Number(count) >= MAX_UNUSED) {
      const oldest = await unused.select('client_id').orderBy('created_at').executeTakeFirst()
      if (oldest !== undefined) await sql.deleteFrom('clients').where('client_id', '=', oldest.client_id).execute()
    }
    await sql.insertInto('clients').values(row).execute()
  })
  return {
    client_id: row.client_id,
    client_id_issued_at: Math.floor(now / 1_000),
    client_name: row.client_name,
    redirect_uris: [...client.redirectUris],
    ...(row.client_uri === null ? {} : { client_uri: row.client_uri }),
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: SCOPE,
  }
}

interface NewClient {
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly uri: string | null
}

/** What else a client says of itself is not looked at. @throws {OAuthError} */
function readClient(given: JsonObject): NewClient {
  const { redirect_uris: uris, client_name: name = 'A program', client_uri: uri } = given
  const auth = given['token_endpoint_auth_method'] ?? 'none'
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    throw new OAuthError('invalid_redirect_uri', `redirect_uris: expected 1 to ${MAX_REDIRECT_URIS}`)
  }
  const redirectUris = uris.map((one: unknown, index) => {
    const problem = typeof one === 'string' ? problemOfRedirectUri(one) : 'expected a text'
    if (problem !== undefined) throw new OAuthError('invalid_redirect_uri', `redirect_uris[${index}]: ${problem}`)
    return one as string
  })
  if (auth !== 'none') {
    throw new OAuthError(
      'invalid_client_metadata',
      'token_endpoint_auth_method: expected none: clients are public here',
    )
  }
  const { scope } = given
  if (scope !== undefined && (typeof scope !== 'string' || !scope.split(' ').includes(SCOPE))) {
    throw new OAuthError('invalid_client_metadata', `scope: expected ${SCOPE} among the scopes`)
  }
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME_CHARS) {
    throw new OAuthError('invalid_client_metadata', `client_name: expected 1 to ${MAX_NAME_CHARS} characters`)
  }
  return { name: name.trim(), redirectUris, uri: readClientUri(uri) }
}

function readClientUri(given: unknown): string | null {
  if (given === undefined || given === '') return null
  const url = typeof given === 'string' && given.length <= MAX_CLIENT_URI_CHARS ? URL.parse(given) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new OAuthError('invalid_client_metadata', 'client_uri: expected http or https')
  }
  return url.href
}

export interface Client {
  readonly id: string
  readonly name: string
  readonly uri: string | null
  readonly redirectUris: readonly string[]
}

export async function findClient(sql: Sql, clientId: string): Promise<Client | undefined> {
  if (!/^mcp_[0-9a-f]{32}$/.test(clientId)) return undefined
  const row = await sql.selectFrom('clients').selectAll().where('client_id', '=', clientId).executeTakeFirst()
  if (row === undefined) return undefined
  const { client_id: id, client_name: name, client_uri: uri, redirect_uris: uris } = row
  return { id, name, uri, redirectUris: JSON.parse(uris) as string[] }
}
