/**
 * Where MCP is served: the network, the directory, and each agent.
 *
 * @module
 */
import { type Context, type Hono } from 'hono'
import { type JsonValue } from '../../core/json.ts'
import { isSlug } from '../fields.ts'
import { callerFrom, challenge } from '../http/bearer.ts'
import { clientAddress } from '../http/client-address.ts'
import { asRefusal } from '../http/failure.ts'
import { RateWindow } from '../http/rate-window.ts'
import { type Caller } from '../identity/caller.ts'
import { findAgent, findOwnAgent, refusePush } from '../network/agents.ts'
import { type Operation } from '../operation.ts'
import { notFound, Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { agentServer } from './agent-server.ts'
import { directoryServer } from './directory-server.ts'
import { answerMcp } from './endpoint.ts'
import { networkServer } from './network-server.ts'
import { type ToolCall } from './operation-tools.ts'

const MINUTE_MS = 60_000

export function mountMcp(app: Hono, relay: RelayContext, operations: readonly Operation[]): void {
  const { directoryRatePerMinute, trustedProxies, agentServersEnabled, discoveryEnabled } = relay.settings
  app.all('/mcp', (context) =>
    answerMcp(context, async () => {
      const call = callOf(relay, context, await signedIn(relay, context, '/mcp'))
      return { server: networkServer(operations, call), headers: call.asked.headers }
    }),
  )
  if (!(agentServersEnabled && discoveryEnabled)) return
  const visits = new RateWindow(relay.clock, directoryRatePerMinute, MINUTE_MS)
  app.all('/mcp/directory', (context) =>
    answerMcp(context, () => {
      const waitSecs = visits.take(clientAddress(context, trustedProxies))
      if (waitSecs !== undefined) return Promise.reject(askedTooOften(directoryRatePerMinute, waitSecs))
      const call = callOf(relay, context, undefined)
      return Promise.resolve({ server: directoryServer(operations, call), headers: call.asked.headers })
    }),
  )
  app.all('/agents/:account/:agent/mcp', (context) =>
    answerMcp(context, async () => {
      const { account, agent: slug } = context.req.param()
      // The path comes into a header of the answer, so it has to be one that an agent can have.
      if (!(isSlug(account) && isSlug(slug))) throw notFound('an agent')
      const caller = await signedIn(relay, context, `/agents/${account}/${slug}/mcp`)
      const agent = await findAgent(relay.database.sql, caller, `${account}/${slug}`)
      refusePush(agent)
      const as = context.req.query('as')
      if (as !== undefined) await findOwnAgent(relay.database.sql, caller, as)
      const call = { ...callOf(relay, context, caller), caller, agent, as }
      return { server: agentServer(call), headers: call.asked.headers }
    }),
  )
}

function askedTooOften(limit: number, waitSecs: number): Refusal {
  return new Refusal(
    'directory_rate_limited',
    `expected at most ${limit} requests a minute of one address; ask again in ${waitSecs} s`,
    { detail: { retry_after_secs: waitSecs }, headers: { 'retry-after': String(waitSecs) } },
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
