/**
 * The endpoints of OAuth that programs ask. Whatever they refuse is JSON.
 *
 * @module
 */
import { type Context, type Hono } from 'hono'
import { isJsonObject } from '../../core/json.ts'
import { isSlug } from '../fields.ts'
import { clientAddress } from '../http/client-address.ts'
import { asRefusal } from '../http/failure.ts'
import { RateWindow } from '../http/rate-window.ts'
import { notFound } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { findClient, registerClient } from './clients.ts'
import { beginDevice, tokensByDevice } from './device-flow.ts'
import { OAuthError } from './oauth-error.ts'
import { resourceMetadata, serverMetadata } from './resources.ts'
import { type Form, revokeToken, tokensByCode, tokensByRefresh } from './token-grants.ts'

const MAX_FORM_BYTES = 16_384
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Of one address. Hosts of many people register and refresh from few addresses. */
const MAX_REGISTRATIONS = 100
const MAX_TOKEN_REQUESTS = 600
const MAX_DEVICES = 60

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

export function mountAuthorization(app: Hono, relay: RelayContext): void {
  const { clock, settings } = relay
  const { publicUrl, trustedProxies } = settings
  const limit = (count: number, windowMs: number) => {
    const window = new RateWindow(clock, count, windowMs)
    return (context: Context): void => {
      const secs = window.take(clientAddress(context, trustedProxies))
      if (secs !== undefined) throw new OAuthError('temporarily_unavailable', `ask again in ${secs} s`, 429, secs)
    }
  }
  const [registrations, tokens, devices] = [
    limit(MAX_REGISTRATIONS, HOUR_MS),
    limit(MAX_TOKEN_REQUESTS, MINUTE_MS),
    limit(MAX_DEVICES, HOUR_MS),
  ]
  for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']) {
    app.get(path, (context) => context.json(serverMetadata(publicUrl)))
  }
  app.get(WELL_KNOWN, (context) => context.json(resourceMetadata(publicUrl, '/mcp')))
  app.get(`${WELL_KNOWN}/mcp`, (context) => context.json(resourceMetadata(publicUrl, '/mcp')))
  app.get(`${WELL_KNOWN}/agents/:account/:agent/mcp`, (context) => {
    const { account, agent } = context.req.param()
    if (!(isSlug(account) && isSlug(agent))) throw notFound('an agent')
    return context.json(resourceMetadata(publicUrl, `/agents/${account}/${agent}/mcp`))
  })
  app.post('/oauth/register', (context) =>
    answer(relay, context, 201, async () => {
      registrations(context)
      return JSON.stringify(await registerClient(relay, await jsonOf(context)))
    }),
  )
  app.get('/oauth/clients/:client_id', (context) =>
    answer(relay, context, 200, async () => {
      const client = await findClient(relay.database.sql, context.req.param('client_id'))
      if (client === undefined) throw new OAuthError('invalid_client', 'expected a client that is registered', 401)
      const { id, name, uri, redirectUris } = client
      return JSON.stringify({ client_id: id, client_name: name, client_uri: uri, redirect_uris: redirectUris })
    }),
  )
  app.post('/oauth/token', (context) =>
    answer(relay, context, 200, async () => {
      tokens(context)
      const { form, resources } = await formOf(context)
      switch (form('grant_type')) {
        case 'authorization_code':
          return tokensByCode(relay, form, resources)
        case 'refresh_token':
          return tokensByRefresh(relay, form, resources)
        case 'urn:ietf:params:oauth:grant-type:device_code':
          return tokensByDevice(relay, form)
        case undefined:
          throw new OAuthError('invalid_request', 'grant_type: expected one, found none')
        default:
          throw new OAuthError('unsupported_grant_type', 'grant_type: expected one that the metadata names')
      }
    }),
  )
  app.post('/oauth/revoke', (context) =>
    answer(relay, context, 200, async () => {
      tokens(context)
      const { form } = await formOf(context)
      const token = form('token')
      if (token === undefined) throw new OAuthError('invalid_request', 'token: expected one, found none')
      await revokeToken(relay, token)
      return '{}'
    }),
  )
  app.post('/oauth/device_authorization', (context) =>
    answer(relay, context, 200, async () => {
      devices(context)
      const isForm = context.req.header('content-type')?.startsWith('application/x-www-form-urlencoded') === true
      if (!isForm) return JSON.stringify(await beginDevice(relay, (await jsonOf(context)) ?? {}))
      const { all } = await formOf(context)
      return JSON.stringify(await beginDevice(relay, Object.fromEntries(all)))
    }),
  )
}

async function answer(
  relay: RelayContext,
  context: Context,
  status: 200 | 201,
  work: () => Promise<string>,
): Promise<Response> {
  context.header('cache-control', 'no-store')
  context.header('content-type', 'application/json')
  try {
    return context.body(await work(), status)
  } catch (error) {
    const known = error instanceof OAuthError ? error : unexpected(relay, error)
    if (known.retryAfterSecs !== undefined) context.header('retry-after', String(known.retryAfterSecs))
    return context.body(JSON.stringify({ error: known.code, error_description: known.message }), known.status)
  }
}

/** Clients give up a sign-in over errors that they do not know; this one they wait for. */
function unexpected(relay: RelayContext, error: unknown): OAuthError {
  const { code, message } = asRefusal(relay, error)
  if (code === 'invalid_request') return new OAuthError(code, message)
  return new OAuthError('temporarily_unavailable', message, 503, RETRY_SECS)
}

const RETRY_SECS = 5

async function jsonOf(context: Context): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await textOf(context)
  if (text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // Told below.
  }
  throw new OAuthError('invalid_request', 'expected a JSON object')
}

interface Posted {
  readonly form: Form
  readonly resources: readonly string[]
  readonly all: URLSearchParams
}

/** @throws {OAuthError} `invalid_request` also for what comes twice */
async function formOf(context: Context): Promise<Posted> {
  if (context.req.header('content-type')?.startsWith('application/x-www-form-urlencoded') !== true) {
    throw new OAuthError('invalid_request', 'expected Content-Type: application/x-www-form-urlencoded')
  }
  const all = new URLSearchParams(await textOf(context))
  for (const name of new Set(all.keys())) {
    if (name !== 'resource' && all.getAll(name).length > 1) {
      throw new OAuthError('invalid_request', `${name.slice(0, MAX_SHOWN_CHARS)}: expected it once`)
    }
  }
  const form = (name: string): string | undefined => {
    const value = all.get(name)
    return value === null || value === '' ? undefined : value
  }
  return { form, resources: all.getAll('resource'), all }
}

const MAX_SHOWN_CHARS = 40

async function textOf(context: Context): Promise<string> {
  const text = await context.req.text()
  if (Buffer.byteLength(text) <= MAX_FORM_BYTES) return text
  throw new OAuthError('invalid_request', `expected at most ${MAX_FORM_BYTES} bytes`, 413)
}
