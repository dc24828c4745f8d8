/**
 * The operations as routes of HTTP.
 *
 * @module
 */
import { type Context, type Hono } from 'hono'
import { type JsonValue } from '../../core/json.ts'
import { type Operation } from '../operation.ts'
import { perform } from '../perform.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { callerFrom } from './bearer.ts'

const MAX_IDEMPOTENCY_KEY_CHARS = 200

export function mountRest(app: Hono, relay: RelayContext, operations: readonly Operation[]): void {
  for (const operation of operations) {
    const { rest } = operation
    if (rest === undefined) continue
    app.on(rest.method.toUpperCase(), honoPath(rest.path), async (context) => {
      const caller = await callerFrom(relay, context)
      const headers = new Headers()
      const asked = {
        surface: 'rest',
        signal: context.req.raw.signal,
        headers,
        meta: new Map<string, JsonValue>(),
        idempotencyKey: idempotencyKey(context),
      } as const
      const result = await perform(operation, relay, caller, await inputOf(context), asked)
      for (const [name, value] of headers) context.header(name, value)
      return rest.status === 204 ? context.body(null, 204) : context.json(result as object, rest.status ?? 200)
    })
  }
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

/** The path says more than the body, and the body more than the query. */
async function inputOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  return { ...queryOf(context), ...(await bodyOf(context)), ...context.req.param() }
}

/** A name that comes several times is a list. */
function queryOf(context: Context): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null)
  for (const [name, values] of Object.entries(context.req.queries()))
    query[name] = values.length === 1 ? values[0] : values
  return query
}

async function bodyOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  if (context.req.method === 'GET') return {}
  const text = await context.req.text()
  if (text.trim() === '') return {}
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new Refusal('invalid_request', 'expected a body of JSON, found something else')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal('invalid_request', 'expected a JSON object as the body')
  }
  return body as Readonly<Record<string, unknown>>
}

function idempotencyKey(context: Context): string | undefined {
  const key = context.req.header('idempotency-key')
  if (key === undefined) return undefined
  if (key === '' || key.length > MAX_IDEMPOTENCY_KEY_CHARS) {
    throw new Refusal('invalid_request', `Idempotency-Key: expected 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} characters`)
  }
  return key
}
