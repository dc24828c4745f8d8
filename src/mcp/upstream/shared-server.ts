/**
 * One MCP server and the links that use it.
 *
 * Holds: what the server says goes only to links it is meant for, and what it asks goes to one: the link whose call is
 * under way, or was last. A server that several peers share asks none of them, and its log messages go nowhere.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type JsonObject } from '../../core/json.ts'
import { abilitiesOf, abilityFor } from '../serving/abilities.ts'
import { isAbout, uriIn } from '../serving/subscribed.ts'
import { type ServedClient } from '../serving/upstream-link.ts'
import { type Relayed } from '../wire/relayed.ts'
import { RPC_UNKNOWN_METHOD } from '../wire/rpc-error.ts'
import { type ServerConnection } from './server-connection.ts'
import { WrappedServer, type WrappedServerOptions } from './wrapped-server.ts'

export interface SharedServerOptions extends Omit<WrappedServerOptions, 'handlers' | 'onToolsChange'> {
  readonly isShared: boolean
  /** How long it lives unused; for ever without. */
  readonly idleMs: number | undefined
  readonly onIdle: () => void
}

/** One link, as its server sees it. */
export interface ServerUser {
  readonly client: ServedClient
  /** What it wants to be told of. */
  readonly subscriptions: ReadonlySet<string>
}

/** A person may have to decide. */
const ASK_LIMIT_MS = 600_000

export class SharedServer {
  readonly #options: SharedServerOptions
  readonly #server: WrappedServer
  /** Those that called last come last. */
  readonly #users = new Set<ServerUser>()
  #busy = 0
  #cancelIdle: (() => void) | undefined

  constructor(options: SharedServerOptions) {
    this.#options = options
    this.#server = new WrappedServer({
      ...options,
      handlers: {
        onNotification: (method, params) => this.#tell(method, params),
        onRequest: (method, params, signal) => this.#ask(method, params, signal),
      },
      onToolsChange: () => this.#tell('notifications/tools/list_changed', '{}'),
    })
    this.#watchIdle()
  }

  get isUsed(): boolean {
    return this.#users.size > 0 || this.#busy > 0
  }

  get running(): ServerConnection | undefined {
    return this.#server.running
  }

  /** @throws {CtError} `ERR_SERVER_UNAVAILABLE` */
  ready(): Promise<ServerConnection> {
    return this.#server.ready()
  }

  join(user: ServerUser): void {
    this.#users.add(user)
    this.#watchIdle()
  }

  leave(user: ServerUser): void {
    if (!this.#users.delete(user)) return
    for (const uri of user.subscriptions) this.unsubscribed(user, uri)
    this.#watchIdle()
  }

  /** Does something with the server for the user, who then counts as the one that called last. */
  async use<Value>(user: ServerUser, work: (server: ServerConnection) => Promise<Value>): Promise<Value> {
    this.#busy += 1
    if (this.#users.delete(user)) this.#users.add(user)
    this.#watchIdle()
    try {
      return await work(await this.#server.ready())
    } finally {
      this.#busy -= 1
      this.#watchIdle()
    }
  }

  /** After a restart the server is asked again. */
  subscribed(uri: string): void {
    this.#server.keep(`subscription ${uri}`, 'resources/subscribe', { uri })
  }

  /** True when somebody else still wants to be told. */
  unsubscribed(user: ServerUser, uri: string): boolean {
    const isWanted = [...this.#users].some((other) => other !== user && other.subscriptions.has(uri))
    if (isWanted) return true
    this.#server.forget(`subscription ${uri}`)
    if (!this.#users.has(user)) {
      this.running?.request('resources/unsubscribe', { uri }, {}).catch(() => {})
    }
    return false
  }

  levelSet(params: JsonObject): void {
    this.#server.keep('level', 'logging/setLevel', params)
  }

  async close(): Promise<void> {
    this.#cancelIdle?.()
    await this.#server.close()
  }

  #tell(method: string, params: string): void {
    if (!isTold(method, this.#options.isShared)) return
    const uri = method === 'notifications/resources/updated' ? uriIn(params) : undefined
    for (const { client, subscriptions } of this.#users) {
      // Who has not said hello in the way of the older revisions is told nothing unasked.
      if (client.capabilities === undefined) continue
      if (uri === undefined || isAbout(uri, subscriptions)) client.notify(method, params)
    }
  }

  #ask(method: string, params: string, signal: AbortSignal): Promise<Relayed> | undefined {
    const ability = abilityFor(method)
    if (ability === undefined || this.#options.abilities[ability] === undefined) return undefined
    const asked = [...this.#users].findLast(
      ({ client }) => abilitiesOf(client.capabilities, { roots: true })[ability] !== undefined,
    )
    if (asked === undefined) {
      const message = `nobody is there who could answer ${method}`
      return Promise.resolve({ error: { code: RPC_UNKNOWN_METHOD, message } })
    }
    const limit = new AbortController()
    const cancel = this.#options.clock.after(ASK_LIMIT_MS, () =>
      limit.abort(new CtError('ERR_TIMEOUT', `the peer did not answer within ${ASK_LIMIT_MS / 1_000} s`)),
    )
    return asked.client.ask(method, params, AbortSignal.any([signal, limit.signal])).finally(cancel)
  }

  #watchIdle(): void {
    this.#cancelIdle?.()
    const { idleMs, clock, onIdle } = this.#options
    this.#cancelIdle = idleMs === undefined || this.isUsed ? undefined : clock.after(idleMs, onIdle)
  }
}

const TOLD: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/updated',
])
/** What is about one peer alone. */
const TOLD_ALONE: ReadonlySet<string> = new Set(['notifications/message', 'notifications/elicitation/complete'])

function isTold(method: string, isShared: boolean): boolean {
  return TOLD.has(method) || (!isShared && TOLD_ALONE.has(method))
}
