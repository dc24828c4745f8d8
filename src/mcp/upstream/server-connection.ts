/**
 * The agent as the client of one MCP server that runs.
 *
 * Holds: the server is asked nothing before it has agreed on a revision, and its lists are read to their end or to a
 * bound. What it prints beside the protocol is passed over, with one warning.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { VERSION } from '../../core/version.ts'
import { createMcpClient, type McpClient, type RequestOptions } from '../calling/client.ts'
import { type PeerHandlers } from '../calling/peer-requests.ts'
import { type Port } from '../port.ts'
import { type Answer, exactResultOf, resultOf } from '../wire/answer.ts'
import { LEGACY_VERSIONS } from '../wire/versions.ts'
import { readWrappedTools, type WrappedTool } from './wrapped-tools.ts'

/** What is there for a server that is fetched when it is first started, as npx does. */
const INITIALIZE_TIMEOUT_MS = 120_000
const LIST_TIMEOUT_MS = 30_000
/** Pages of a list; whoever has more never ends. */
const MAX_PAGES = 200

export interface ConnectionOptions {
  readonly port: Port
  /** What this side can do, as it declares it. */
  readonly abilities: JsonObject
  readonly handlers: PeerHandlers
  readonly clock: Clock
  readonly log: Log
}

export class ServerConnection {
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  readonly #client: McpClient
  readonly #log: Log
  #tools: readonly WrappedTool[] = []

  static async open({ port, abilities, handlers, clock, log }: ConnectionOptions): Promise<ServerConnection> {
    let isWarned = false
    const onNoise = (): void => {
      if (isWarned) return
      isWarned = true
      log.warn('server.prints', { hint: 'the MCP server prints lines on stdout that are no MCP: they are passed over' })
    }
    const client = createMcpClient(port, { clock, log, handlers, onNoise })
    const connection = new ServerConnection(client, log, await greet(client, abilities))
    client.notify('notifications/initialized', {})
    await connection.learn()
    return connection
  }

  private constructor(client: McpClient, log: Log, greeting: JsonObject) {
    this.#client = client
    this.#log = log
    const { capabilities, instructions } = greeting
    this.capabilities = isJsonObject(capabilities) ? capabilities : {}
    this.instructions = typeof instructions === 'string' ? instructions : undefined
  }

  get tools(): readonly WrappedTool[] {
    return this.#tools
  }

  /** Asks for the tools again; true when they are not what they were. */
  async learn(): Promise<boolean> {
    // Some that have tools do not say so.
    if (this.capabilities['tools'] === undefined && Object.keys(this.capabilities).length > 0) return false
    const { tools, dropped } = readWrappedTools(await this.#pages('tools/list', 'tools'))
    for (const [name, why] of [...dropped].slice(0, MAX_WARNED)) {
      this.#log.warn('server.tool_not_served', { tool: name.slice(0, MAX_SHOWN_CHARS), why, of: dropped.size })
    }
    const before = this.#tools
    this.#tools = tools
    return JSON.stringify(tools) !== JSON.stringify(before)
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<Answer> {
    return this.#client.request(method, params, options)
  }

  notify(method: string, params: JsonObject): void {
    this.#client.notify(method, params)
  }

  async #pages(method: string, member: string): Promise<readonly JsonValue[]> {
    const found: JsonValue[] = []
    const seen = new Set<string>()
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await this.#client.request(method, cursor === undefined ? {} : { cursor }, {
        timeoutMs: LIST_TIMEOUT_MS,
      })
      const result = exactResultOf(answer)
      const entries = isJsonObject(result) ? result[member] : undefined
      if (!isJsonObject(result) || !Array.isArray(entries)) {
        throw new CtError('ERR_SERVER_UNAVAILABLE', `the MCP server answered ${method} with something else`)
      }
      for (const entry of entries as readonly JsonValue[]) found.push(entry)
      const next = result['nextCursor']
      if (typeof next !== 'string' || seen.has(next)) break
      seen.add(next)
      cursor = next
    }
    return found
  }
}

const MAX_WARNED = 5
const MAX_SHOWN_CHARS = 100

/** The newest revision that both speak. A server that refuses instead of naming another one is offered older ones. */
async function greet(client: McpClient, abilities: JsonObject): Promise<JsonObject> {
  let refusal: CtError | undefined
  for (const protocolVersion of [...LEGACY_VERSIONS].reverse()) {
    const answer = await client.request(
      'initialize',
      { protocolVersion, capabilities: abilities, clientInfo: { name: 'ct-agent', version: VERSION } },
      { timeoutMs: INITIALIZE_TIMEOUT_MS },
    )
    if ('error' in answer) {
      refusal = answer.error
      continue
    }
    const result = resultOf(answer)
    if (isJsonObject(result)) return result
  }
  throw new CtError('ERR_SERVER_UNAVAILABLE', `the MCP server refused to begin: ${refusal?.message ?? 'no result'}`)
}
