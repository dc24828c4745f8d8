/**
 * The MCP servers that run for peers: one for all, or one for each peer; a program of a peer that may be asked something
 * has one of its own, so that what is asked reaches no other.
 *
 * Holds: at most so many serve; one that nobody uses ends after a while, and sooner when its place is needed. Peers share
 * nothing but what the operator has them share.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Random } from '../../core/time.ts'
import { withoutAgentVariables } from '../programs/own-variables.ts'
import { type ServedClient } from '../serving/upstream-link.ts'
import { type UpstreamConfig } from './config.ts'
import { HttpServer } from './http-server.ts'
import { type RunningServer } from './running-server.ts'
import { ServerProcess, type ServerProcessDeps } from './server-process.ts'
import { SharedServer } from './shared-server.ts'

/** Longer than a link that broke takes to come back. */
const IDLE_MS = 60_000
/** Of one peer, which may come with several programs; as many as it may have sessions, unless the operator says otherwise. */
const MAX_PER_PEER = 6
/** No peer has this holder key: the server that was started to see what there is. */
const NOBODY = ''
/** What a client can do that can do nothing, as a text. */
const NOTHING = '{}'

export interface ServerPoolDeps extends ServerProcessDeps {
  readonly random: Random
}

export class ServerPool {
  readonly #config: UpstreamConfig
  readonly #environment: Env
  readonly #deps: ServerPoolDeps
  /** Those used last come last. */
  readonly #servers = new Map<string, SharedServer>()
  readonly #ending = new Set<Promise<void>>()
  #clients = 0
  #isClosed = false

  constructor(config: UpstreamConfig, env: Env, deps: ServerPoolDeps) {
    this.#config = config
    this.#environment = withoutAgentVariables(env)
    this.#deps = deps
  }

  get isShared(): boolean {
    return this.#config.mode === 'shared'
  }

  /** The first one, for nobody in particular; the first peer that has nothing to declare gets it. */
  first(): SharedServer {
    return this.get({ holder: NOBODY as HolderId, run: undefined }, {})
  }

  /** @throws {CtError} `ERR_PEER_BUSY`, `ERR_SERVER_UNAVAILABLE` */
  get(client: Pick<ServedClient, 'holder' | 'run'>, abilities: JsonObject): SharedServer {
    if (this.#isClosed) throw new CtError('ERR_SERVER_UNAVAILABLE', 'the serving agent is shutting down')
    const key = this.#key(client, abilities)
    const found = this.#servers.get(key) ?? this.#adopt(key) ?? this.#create(client.holder, abilities)
    this.#servers.delete(key)
    this.#servers.set(key, found)
    return found
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const key of [...this.#servers.keys()]) this.#end(key)
    await Promise.all(this.#ending)
  }

  #key({ holder, run }: Pick<ServedClient, 'holder' | 'run'>, abilities: JsonObject): string {
    if (this.isShared) return 'shared'
    const asked = JSON.stringify(abilities)
    return `${holder} ${asked === NOTHING ? asked : `${run ?? this.#unnamed()} ${asked}`}`
  }

  /** Nobody else's. */
  #unnamed(): string {
    this.#clients += 1
    return `client-${this.#clients}`
  }

  #adopt(key: string): SharedServer | undefined {
    const spare = `${NOBODY} ${NOTHING}`
    const server = key.endsWith(` ${NOTHING}`) ? this.#servers.get(spare) : undefined
    if (server !== undefined) this.#servers.delete(spare)
    return server
  }

  /** @throws {CtError} `ERR_PEER_BUSY` */
  #create(holder: HolderId, abilities: JsonObject): SharedServer {
    const own = [...this.#servers.keys()].filter((key) => key.startsWith(`${holder} `))
    if (own.length >= MAX_PER_PEER) this.#makeRoom(own, `a peer has at most ${MAX_PER_PEER} MCP servers`)
    const { most } = this.#config
    if (this.#servers.size >= most) this.#makeRoom([...this.#servers.keys()], `all ${most} MCP servers are taken`)
    const server: SharedServer = new SharedServer({
      ...this.#deps,
      start: () => this.#start(),
      abilities: this.isShared ? {} : abilities,
      isShared: this.isShared,
      idleMs: this.isShared ? undefined : IDLE_MS,
      onIdle: () => {
        for (const [name, one] of this.#servers) if (one === server) this.#end(name)
      },
    })
    return server
  }

  #start(): RunningServer {
    const { where } = this.#config
    if ('url' in where) return new HttpServer({ ...where, clock: this.#deps.clock })
    return new ServerProcess(where.command, this.#environment, this.#deps)
  }

  /** Ends one of them that nobody uses; the longest unused comes first. @throws {CtError} `ERR_PEER_BUSY` */
  #makeRoom(keys: readonly string[], busy: string): void {
    const idle = keys.find((key) => this.#servers.get(key)?.isUsed === false)
    if (idle === undefined) throw new CtError('ERR_PEER_BUSY', busy)
    this.#end(idle)
  }

  #end(key: string): void {
    const server = this.#servers.get(key)
    this.#servers.delete(key)
    if (server === undefined) return
    const ending: Promise<void> = server.close().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}
