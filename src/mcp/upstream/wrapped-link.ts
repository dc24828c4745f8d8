/**
 * One link's view of a wrapped MCP server.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { readJsonValue } from '../../core/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { abortable } from '../../core/time.ts'
import { type RequestOptions } from '../calling/client.ts'
import { abilitiesOf } from '../serving/abilities.ts'
import { type ExtensionContext } from '../serving/extension.ts'
import { handedParams } from '../serving/handed-params.ts'
import { relayedAnswer } from '../serving/relaying.ts'
import { type ServedClient, type UpstreamLink } from '../serving/upstream-link.ts'
import { type CallContext, type Tool } from '../tool.ts'
import { type Relayed } from '../wire/relayed.ts'
import { RPC_UNKNOWN_METHOD } from '../wire/rpc-error.ts'
import { type ServerConnection } from './server-connection.ts'
import { type ServerPool } from './server-pool.ts'
import { type ServerUser, type SharedServer } from './shared-server.ts'
import { type WrappedTool } from './wrapped-tools.ts'

export interface WrappedLinkOptions {
  readonly pool: ServerPool
  /** What there was when the agent started, for before a server of the link's own runs. */
  readonly known: Pick<ServerConnection, 'tools' | 'capabilities' | 'instructions'>
  readonly isAllowed: (tool: WrappedTool) => boolean
  /** Everything is served, not tools alone. */
  readonly isWhole: boolean
  readonly roots: boolean
}

/** Resources that one link may want to be told of. */
const MAX_SUBSCRIPTIONS = 1_024

export class WrappedLink implements UpstreamLink {
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  readonly tools: NonNullable<UpstreamLink['tools']>
  readonly #client: ServedClient
  readonly #options: WrappedLinkOptions
  readonly #subscriptions = new Set<string>()
  readonly #user: ServerUser
  #server: SharedServer | undefined
  #from: readonly WrappedTool[] | undefined
  #byName: ReadonlyMap<string, Tool> = new Map()
  #list: readonly Tool[] = []
  #isClosed = false

  constructor(client: ServedClient, options: WrappedLinkOptions) {
    this.#client = client
    this.#options = options
    this.#user = { client, subscriptions: this.#subscriptions }
    this.capabilities = options.known.capabilities
    this.instructions = options.known.instructions
    const [list, find] = [() => this.#toolList(), (name: string) => this.#findTool(name)]
    this.tools = {
      get list() {
        return list()
      },
      find,
    }
  }

  async prepare(): Promise<void> {
    try {
      await this.#join().ready()
    } catch {
      // What was known before is listed; whoever calls learns why it does not run.
    }
  }

  /** A server to which this is declared is another one. */
  initialized(): void {
    this.#leave()
  }

  notified(method: string): void {
    if (method !== 'notifications/roots/list_changed' || !this.#options.roots) return
    this.#server?.running?.notify(method, {})
  }

  async request(method: string, context: ExtensionContext): Promise<Relayed> {
    const { isWhole, pool } = this.#options
    if (!isWhole || (method === 'logging/setLevel' && pool.isShared)) return noMethod(method)
    const params = handedParams(context.paramsText)
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
      return this.#subscription(method, params, context)
    }
    const relayed = await this.#hand(method, params, context)
    if (method === 'logging/setLevel' && 'resultText' in relayed) this.#server?.levelSet(params)
    return relayed
  }

  close(): void {
    this.#isClosed = true
    this.#leave()
  }

  async #subscription(method: string, params: JsonObject, context: CallContext): Promise<Relayed> {
    const uri = typeof params['uri'] === 'string' ? params['uri'] : ''
    const server = this.#join()
    if (method === 'resources/unsubscribe') {
      this.#subscriptions.delete(uri)
      return server.unsubscribed(this.#user, uri) ? { resultText: '{}' } : this.#hand(method, params, context)
    }
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      throw new CtError('ERR_PEER_BUSY', `at most ${MAX_SUBSCRIPTIONS} resources may be subscribed to`)
    }
    // From now on: the server may tell of it before it answers.
    this.#subscriptions.add(uri)
    const relayed = await this.#hand(method, params, context)
    if ('resultText' in relayed && !this.#isClosed) server.subscribed(uri)
    else this.#subscriptions.delete(uri)
    return relayed
  }

  async #hand(method: string, params: JsonObject, context: CallContext): Promise<Relayed> {
    const { signal } = context
    const options: RequestOptions =
      context.wantsProgress === true ? { signal, onProgress: (progress) => context.progress(progress) } : { signal }
    signal.throwIfAborted()
    const shared = this.#join()
    const isRunning = shared.running !== undefined
    const work = shared.use(this.#user, async (server) => {
      signal.throwIfAborted()
      return relayedAnswer(await server.request(method, params, options))
    })
    // A request ends with its signal by itself; the start of a server, which others may wait for too, does not.
    return isRunning ? work : abortable(work, signal)
  }

  #callTool(name: string, context: CallContext, paramsText: string): Promise<Relayed> {
    const params = handedParams(paramsText)
    const args = readJsonValue(context.argumentsText)
    return this.#hand('tools/call', { ...params, name, arguments: isJsonObject(args) ? args : {} }, context)
  }

  #join(): SharedServer {
    if (this.#server === undefined) {
      const { pool, roots } = this.#options
      this.#server = pool.get(this.#client, abilitiesOf(this.#client.capabilities, { roots }))
      if (!this.#isClosed) this.#server.join(this.#user)
    }
    return this.#server
  }

  #leave(): void {
    this.#server?.leave(this.#user)
    this.#server = undefined
    this.#subscriptions.clear()
  }

  #toolList(): readonly Tool[] {
    this.#readTools()
    return this.#list
  }

  #findTool(name: string): Tool | undefined {
    this.#readTools()
    return this.#byName.get(name)
  }

  #readTools(): void {
    const { known, isAllowed } = this.#options
    const tools = this.#server?.running?.tools ?? this.#from ?? known.tools
    if (tools === this.#from) return
    this.#from = tools
    this.#list = tools.filter(isAllowed).map((tool) => this.#toolOf(tool))
    this.#byName = new Map(this.#list.map((tool) => [tool.name, tool]))
  }

  #toolOf({ name, listed }: WrappedTool): Tool {
    const { description } = listed
    return {
      name,
      listed,
      description: typeof description === 'string' ? description : '',
      inputSchema: { type: 'object', properties: {} },
      idempotent: false,
      relay: (context, params) => this.#callTool(name, context, params),
      call: () => {
        throw new CtError('ERR_INTERNAL', 'expected the tool of another server to be handed on')
      },
    }
  }
}

function noMethod(method: string): Relayed {
  return { error: { code: RPC_UNKNOWN_METHOD, message: `unknown method \`${method}\`` } }
}
