/**
 * A gateway of the built program, a peer behind it, and requests to it as a client makes them that has no library.
 *
 * @module
 */
import { type Env } from '../../src/core/env.ts'
import { type JsonObject } from '../../src/core/json.ts'
import { type Agent } from './agent.ts'
import { PROGRAM, type Stage, stateOf } from './stage.ts'

export const MODERN = '2026-07-28'
export const HANDLER = 'read -r line; [ "$line" = bad ] && exit 3; echo "$line" | tr a-z A-Z'
const ACCEPT = 'application/json, text/event-stream'

export interface Gateway {
  readonly agent: Agent
  readonly peer: Agent
  readonly url: string
}

export interface GatewaySetup {
  /** More words for `ct-agent serve` and `ct-agent gateway`. */
  readonly serve?: readonly string[]
  readonly gateway?: readonly string[]
  readonly env?: Env
  /** Flags of the engine that runs the gateway. */
  readonly node?: readonly string[]
}

export async function startGateway(
  stage: Stage,
  { serve = [], gateway = [], env = {}, node = [] }: GatewaySetup = {},
): Promise<Gateway> {
  const served = ['serve', '--listen', '127.0.0.1:0', '--handler', HANDLER, '--services', 'echo', ...serve]
  const peer = stage.start(served, { env: stateOf(stage, 'peer') })
  const ticket = await peer.line()
  const agent = stage.run([...node, PROGRAM, 'gateway', '--addr', '127.0.0.1:0', ...gateway], {
    env: stateOf(stage, 'gateway', { CT_TICKET: ticket, ...env }),
  })
  return { agent, peer, url: await agent.line() }
}

export type Named = Readonly<Record<string, string>>

export function post(url: string, body: unknown, headers: Named = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** Begins a session; resolves with the headers that it is used with. */
export async function beginSession(url: string, protocolVersion = '2025-11-25', headers: Named = {}): Promise<Named> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '0' } }
  const response = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers)
  await response.body?.cancel()
  return { ...headers, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
}

/** A call of the service, which repeats the word in capitals. */
export function echo(word: string, more: JsonObject = {}): JsonObject {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'service_echo', arguments: { input: word }, ...more },
  }
}

/** The same in the newest revision, with its headers. */
export function modernEcho(word: string): { readonly body: JsonObject; readonly headers: Named } {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return {
    body: echo(word, { _meta: meta }),
    headers: { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'service_echo' },
  }
}

/** Messages of an answer, whichever way it came. */
export async function messagesOf(response: Response): Promise<readonly Record<string, unknown>[]> {
  const text = await response.text()
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const all = isStream ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data) : [text]
  return all.map((message) => JSON.parse(message) as Record<string, unknown>)
}
