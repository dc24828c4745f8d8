/**
 * One MCP server that is started when it is needed, and again when it has ended.
 *
 * Holds: there is at most one process at a time; whoever needs it waits for one attempt, or learns at once that the next
 * one is not yet due. What its peers subscribed to, they are subscribed to again after a restart.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { Backoff, type BackoffPolicy, type Clock, pause, type Random } from '../../core/time.ts'
import { type PeerHandlers } from '../calling/peer-requests.ts'
import { type RunningServer, unavailable } from './running-server.ts'
import { ServerConnection } from './server-connection.ts'

export interface WrappedServerOptions {
  /** May throw. */
  readonly start: () => RunningServer
  /** What is declared to it. */
  readonly abilities: JsonObject
  readonly handlers: PeerHandlers
  /** Told when the tools are not what they were. */
  readonly onToolsChange: () => void
  readonly random: Random
  readonly clock: Clock
  readonly log: Log
}

const RESTART: BackoffPolicy = { baseMs: 500, capMs: 60_000, stableMs: 30_000 }
/** Whoever needs the server waits for its restart no longer. */
const MAX_WAIT_MS = 1_000

export class WrappedServer {
  readonly #options: WrappedServerOptions
  readonly #backoff: Backoff
  readonly #lifetime = new AbortController()
  #process: RunningServer | undefined
  #connection: ServerConnection | undefined
  #starting: Promise<ServerConnection> | undefined
  #notBefore = Number.NEGATIVE_INFINITY
  #lastEnd: CtError | undefined
  #lastTools: ServerConnection['tools'] | undefined
  #isLearning = false
  #isStale = false
  /** Asked again of a server that was restarted, by a name each. */
  readonly #standing = new Map<string, { readonly method: string; readonly params: JsonObject }>()

  constructor(options: WrappedServerOptions) {
    this.#options = options
    this.#backoff = new Backoff(RESTART, options.random)
  }

  /** The one that runs now. */
  get running(): ServerConnection | undefined {
    return this.#connection
  }

  /** @throws {CtError} `ERR_SERVER_UNAVAILABLE` */
  ready(): Promise<ServerConnection> {
    if (this.#connection !== undefined) return Promise.resolve(this.#connection)
    if (this.#starting !== undefined) return this.#starting
    if (this.#lifetime.signal.aborted) return Promise.reject(stopped())
    const wait = this.#notBefore - this.#options.clock.monotonic()
    if (wait > MAX_WAIT_MS) {
      const message = `${this.#lastEnd?.message ?? 'the MCP server ended'}; it is started again in ${Math.ceil(wait / 1_000)} s`
      return Promise.reject(new CtError('ERR_SERVER_UNAVAILABLE', message, { detail: { retryAfterMs: wait } }))
    }
    const starting = this.#start(wait).finally(() => (this.#starting = undefined))
    this.#starting = starting
    return starting
  }

  /** Kept to be asked again after a restart, until nobody wants it. */
  keep(name: string, method: string, params: JsonObject): void {
    this.#standing.set(name, { method, params })
  }

  forget(name: string): void {
    this.#standing.delete(name)
  }

  async close(): Promise<void> {
    this.#lifetime.abort(stopped())
    this.#process?.stop()
    await this.#starting?.catch(() => {})
    await this.#process?.ended
  }

  async #start(waitMs: number): Promise<ServerConnection> {
    const { clock, log } = this.#options
    const { signal } = this.#lifetime
    if (waitMs > 0) await pause(clock, waitMs, signal)
    if (signal.aborted) throw stopped()
    const began = clock.monotonic()
    const server = this.#options.start()
    this.#process = server
    void server.ended.then((reason) => this.#ended(server, reason, clock.monotonic() - began))
    try {
      const connection = await this.#connect(server)
      log.info('server.started', { tools: connection.tools.length })
      return connection
    } catch (error) {
      server.stop()
      const reason = toCtError(error, 'ERR_SERVER_UNAVAILABLE')
      throw new CtError('ERR_SERVER_UNAVAILABLE', reason.message, {
        cause: error,
        detail: { lastWords: server.lastWords },
      })
    }
  }

  async #connect(server: RunningServer): Promise<ServerConnection> {
    const { abilities, clock, handlers, log } = this.#options
    let connection: ServerConnection | undefined
    const onNotification: PeerHandlers['onNotification'] = (method, params) => {
      if (method !== 'notifications/tools/list_changed') handlers.onNotification?.(method, params)
      else if (connection !== undefined) void this.#learnAgain(connection)
    }
    const before = JSON.stringify(this.#lastTools)
    connection = await ServerConnection.open({
      port: server.port,
      abilities,
      handlers: { ...handlers, onNotification },
      clock,
      log,
    })
    this.#connection = connection
    for (const { method, params } of this.#standing.values()) {
      connection.request(method, params, {}).catch((error: unknown) => {
        log.info('server.not_asked_again', { method, reason: toCtError(error).message })
      })
    }
    if (before !== undefined && before !== JSON.stringify(connection.tools)) this.#options.onToolsChange()
    this.#lastTools = connection.tools
    return connection
  }

  /** However often the server says so, it is asked once at a time. */
  async #learnAgain(connection: ServerConnection): Promise<void> {
    this.#isStale = true
    if (this.#isLearning) return
    this.#isLearning = true
    try {
      while (this.#isStale) {
        this.#isStale = false
        if (await connection.learn()) this.#options.onToolsChange()
        this.#lastTools = connection.tools
      }
    } catch (error) {
      this.#options.log.info('server.not_listed', { reason: toCtError(error).message })
    } finally {
      this.#isLearning = false
    }
  }

  #ended(server: RunningServer, reason: CtError, lastedMs: number): void {
    if (this.#process !== server) return
    this.#process = undefined
    this.#connection = undefined
    this.#lastEnd = reason
    if (this.#lifetime.signal.aborted) return
    this.#notBefore = this.#options.clock.monotonic() + this.#backoff.next(lastedMs)
    this.#options.log.warn('server.ended', { reason: reason.message })
  }
}

function stopped(): CtError {
  return unavailable('was stopped')
}
