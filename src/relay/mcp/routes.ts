/**
 * Where MCP is served.
 *
 * @module
 */
import { type Context, type Hono } from 'hono'
import { type JsonValue } from '../../core/json.ts'
import { callerFrom, challenge } from '../http/bearer.ts'
import { asRefusal } from '../http/failure.ts'
import { type Caller } from '../identity/caller.ts'
import { type Operation } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { answerMcp } from './endpoint.ts'
import { networkServer } from './network-server.ts'
import { type ToolCall } from './operation-tools.ts'

export function mountMcp(app: Hono, relay: RelayContext, operations: readonly Operation[]): void {
  app.all('/mcp', (context) =>
    answerMcp(context, async () => {
      const call = callOf(relay, context, await signedIn(relay, context, '/mcp'))
      return { server: networkServer(operations, call), headers: call.asked.headers }
    }),
  )
}

/** @throws {Refusal} `unauthorized`, with where to sign in for this endpoint */
async function signedIn(relay: RelayContext, context: Context, path: string): Promise<Caller> {
  const metadata = `${relay.settings.publicUrl}/.well-known/oauth-protected-resource${path}`
  const refused = (message: string, wasSent: boolean): Refusal =>
    new Refusal('unauthorized', message, { headers: { 'www-authenticate': challenge(metadata, wasSent) } })
  try {
    const caller = await callerFrom(relay, context)
    if (caller !== undefined) return caller
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unauthorized') throw refused(error.message, true)
    throw error
  }
  throw refused('expected a credential, found none', false)
}

function callOf(relay: RelayContext, context: Context, caller: Caller | undefined): ToolCall {
  const asked = {
    surface: 'mcp',
    signal: context.req.raw.signal,
    headers: new Headers(),
    meta: new Map<string, JsonValue>(),
    idempotencyKey: undefined,
  } as const
  return { relay, caller, asked, asRefusal: (error) => asRefusal(relay, error) }
}
