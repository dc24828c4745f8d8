/**
 * One peer behind an MCP host: connected when the host first needs it, kept, and asked again what it serves whenever it
 * may have changed.
 *
 * Holds: whoever waits for the peer's tools waits for one attempt to connect, and for its list no longer than a bound;
 * while the peer is away, calls end at once in the reason. Only a refusal that a person must mend ends the attempts.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { isRawInteger, readJsonValue } from '../../core/exact-json.ts'
import { isJsonObject } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { abortable, Backoff, type BackoffPolicy, type Clock, pause, type Random } from '../../core/time.ts'
import { type RemoteTool, readRemoteTools } from '../../mcp/adapter/index.ts'
import {
  type Answer,
  type CallContext,
  exactResultOf,
  type JsonObject,
  type JsonValue,
  type PeerHandlers,
  type Relayed,
  relayedAnswer,
} from '../../mcp/index.ts'
import { type Caller, type CallOptions } from '../calling/caller.ts'
import { greeting, offeredBy } from '../calling/offered.ts'
import { listTools } from '../calling/tool-list.ts'
import { AbsenceWait } from './absence-wait.ts'
import { foreignError } from './foreign-error.ts'
import { type PeerHost } from './peer-host.ts'

/** Told when the link is gone, with the reason, and with nothing when it is there again. */
export type OnTrouble = (reason: CtError | undefined) => void

export interface HostedPeerOptions {
  /** What it is called here. */
  readonly label: string
  /** One attempt to connect; the caller then reconnects by itself. */
  readonly open: (signal: AbortSignal, onTrouble: OnTrouble, handlers: PeerHandlers) => Promise<Caller>
  /** Its tools, or whether it is there, changed. */
  readonly onChange: () => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** A peer that is there says what it serves within this time, or counts as one that is not. */
const LEARN_LIMIT_MS = 10_000
const RETRY: BackoffPolicy = { baseMs: 1_000, capMs: 30_000, stableMs: 10_000 }

export class HostedPeer {
  readonly label: string
  readonly #options: HostedPeerOptions
  readonly #lifetime = new AbortController()
  #tried = Promise.withResolvers<void>()
  #wasTried = false
  /** Resolves when somebody asks for it again, while its link was let go. */
  #wanted: PromiseWithResolvers<void> | undefined
  #underWay = 0
  /** Undefined until it has listed them, and again when it is gone for good. */
  #tools: readonly RemoteTool[] | undefined
  /** Ends the wait for a list that a newer one replaces. */
  #learning = new AbortController()
  #isLearning = false
  /** It said meanwhile that its list has changed. */
  #isStale = false
  #caller: Caller | undefined
  #problem: CtError | undefined
  #running: Promise<void> | undefined
  readonly #absence: AbsenceWait
  #host: PeerHost | undefined
  #offers: JsonObject | undefined
  /** It does so again by itself on each link. */
  #introducedTo: Caller | undefined
  /** Asked again whenever it may be another run of the peer, by a name each. */
  readonly #standing = new Map<string, { readonly method: string; readonly params: JsonObject }>()

  constructor(options: HostedPeerOptions) {
    this.label = options.label
    this.#options = options
    this.#absence = new AbsenceWait(options.clock)
  }

  get tools(): readonly RemoteTool[] {
    return this.#tools ?? []
  }

  /** It has said what it serves, in this connection or in one before. */
  get isListed(): boolean {
    return this.#tools !== undefined
  }

  /** Why it is not there, for whoever asks it something. */
  get absence(): CtError | undefined {
    return this.#problem === undefined && this.isListed ? undefined : this.#away()
  }

  /** What a server that stands behind it has beside tools, such as `resources`; nothing where there is none. */
  get offers(): JsonObject | undefined {
    return this.#offers
  }

  /** Who hears what a server behind the peer asks and tells. */
  serveTo(host: PeerHost): void {
    this.#host = host
  }

  /** Resolves when the peer was reached, or was not; nothing when that is known already. */
  prepare(): Promise<void> | undefined {
    this.#wanted?.resolve()
    this.#running ??= this.#run()
    return this.#wasTried ? undefined : this.#tried.promise
  }

  /** Lets the link go until somebody asks for the peer again. False while something is under way. */
  rest(): boolean {
    if (this.#underWay > 0) return false
    if (this.#caller === undefined || this.#problem !== undefined) return true
    this.#tried = Promise.withResolvers()
    this.#wasTried = false
    this.#wanted = Promise.withResolvers()
    this.#caller.close()
    return true
  }

  async call(name: string, context: CallContext): Promise<JsonValue> {
    const args = readJsonValue(context.argumentsText)
    const params = { name, arguments: isJsonObject(args) && !isRawInteger(args) ? args : {} }
    const answer = await this.#ask('tools/call', params, context)
    const foreign = this.#offers === undefined ? undefined : foreignError(answer)
    if (foreign !== undefined) throw foreign
    return exactResultOf(answer)
  }

  /** Hands a request on to the server behind the peer. */
  async relay(method: string, params: JsonObject, context: CallContext): Promise<Relayed> {
    return relayedAnswer(await this.#ask(method, params, context))
  }

  /** Asks now if it is there, and again whenever it comes back. */
  keep(name: string, method: string, params: JsonObject): void {
    this.#standing.set(name, { method, params })
  }

  forget(name: string): void {
    this.#standing.delete(name)
  }

  notify(method: string, params: JsonObject): void {
    if (this.#offers !== undefined) this.#caller?.notify?.(method, params)
  }

  async #ask(method: string, params: JsonObject, context: CallContext): Promise<Answer> {
    const { signal, wantsProgress } = context
    const caller = this.#caller
    if (caller === undefined || this.#problem !== undefined) throw this.#away()
    const gone = this.#absence.signal
    const options: CallOptions = {
      signal,
      shared: gone,
      ...(wantsProgress === true ? { onProgress: (progress) => context.progress(progress) } : {}),
    }
    this.#underWay += 1
    try {
      return await caller.call(method, params, options)
    } catch (error) {
      throw gone.aborted && !signal.aborted ? this.#away('; the call may have run') : error
    } finally {
      this.#underWay -= 1
    }
  }

  /** Says goodbye. */
  async close(): Promise<void> {
    const gone = new CtError('ERR_LINK_CLOSED', 'the host is gone')
    for (const waiting of [this.#lifetime, this.#learning]) waiting.abort(gone)
    this.#caller?.close()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options
    const { signal } = this.#lifetime
    const backoff = new Backoff(RETRY, random)
    while (!signal.aborted) {
      const began = clock.monotonic()
      const reason = await this.#useOnce(signal)
      if (signal.aborted) return
      if (this.#wanted !== undefined) {
        await abortable(this.#wanted.promise, signal).catch(() => {})
        this.#wanted = undefined
        continue
      }
      this.#is(reason)
      if (!reason.facts.retryable) return
      await pause(clock, backoff.next(clock.monotonic() - began), signal)
    }
  }

  /** From one connection to the end of its caller; resolves with why it ended. */
  async #useOnce(signal: AbortSignal): Promise<CtError> {
    let caller: Caller | undefined
    try {
      caller = await this.#options.open(signal, (reason) => this.#onTrouble(reason), this.#handlers)
      await this.#learn(caller)
      this.#caller = caller
      this.#askStanding(caller)
      this.#is(undefined)
      return await caller.stopped
    } catch (error) {
      return toCtError(error)
    } finally {
      this.#caller = undefined
      await caller?.finish()
    }
  }

  readonly #handlers: PeerHandlers = {
    onNotification: (method, params) => {
      if (method === 'notifications/tools/list_changed') this.#learnAgain(true)
      else this.#host?.onNotification(this, method, params)
    },
    onRequest: (method, params, signal) => this.#host?.onRequest(this, method, params, signal),
  }

  async #learn(caller: Caller): Promise<void> {
    const { tools, dropped } = readRemoteTools(await this.#list(caller))
    if (dropped > 0) this.#options.log.warn('host.tools_dropped', { peer: this.label, dropped })
    const isSame = JSON.stringify(tools) === JSON.stringify(this.tools)
    this.#tools = tools
    if (!isSame) this.#options.onChange()
  }

  async #list(caller: Caller): Promise<readonly JsonValue[]> {
    this.#learning.abort(new CtError('ERR_CALL_CANCELLED', 'it is asked again'))
    const learning = new AbortController()
    this.#learning = learning
    const late = new CtError('ERR_PEER_UNRESPONSIVE', `it did not list its tools within ${LEARN_LIMIT_MS / 1_000} s`)
    const cancel = this.#options.clock.after(LEARN_LIMIT_MS, () => learning.abort(late))
    const { signal } = learning
    try {
      return await abortable(this.#meet(caller, signal), signal)
    } finally {
      cancel()
    }
  }

  /** Before the tools are asked for, a server behind the peer must know what it may ask: they may depend on it. */
  async #meet(caller: Caller, signal: AbortSignal): Promise<readonly JsonValue[]> {
    const offers = this.#host === undefined ? undefined : await offeredBy(caller, { signal })
    if (offers !== undefined && this.#introducedTo !== caller) {
      this.#introducedTo = caller
      caller.introduce?.(greeting(this.#host?.abilities() ?? {}))
    }
    const { tools } = await listTools(caller, { signal })
    const isSame = JSON.stringify(offers) === JSON.stringify(this.#offers)
    this.#offers = offers
    if (!isSame) this.#host?.onOffersChange(this)
    return tools
  }

  #onTrouble(reason: CtError | undefined): void {
    if (this.#caller === undefined) return
    this.#is(reason)
    // It may be another run of the peer, which serves something else.
    if (reason !== undefined) return
    this.#learnAgain()
    this.#askStanding(this.#caller)
  }

  #askStanding(caller: Caller): void {
    for (const { method, params } of this.#offers === undefined ? [] : this.#standing.values())
      caller.call(method, params).catch(() => {})
  }

  /** @param isNews the peer says so; however often it does, it is asked once at a time */
  #learnAgain(isNews = false): void {
    if (this.#caller === undefined) return
    this.#isStale = isNews && this.#isLearning
    if (this.#isStale) return
    this.#isLearning = true
    this.#learn(this.#caller)
      .catch((error: unknown) => {
        this.#options.log.info('host.not_listed', { peer: this.label, code: toCtError(error).code })
      })
      .finally(() => {
        this.#isLearning = false
        if (this.#isStale) this.#learnAgain()
      })
  }

  #is(problem: CtError | undefined): void {
    this.#problem = problem
    this.#wasTried = true
    this.#tried.resolve()
    this.#absence.is(problem !== undefined)
    if (problem?.facts.retryable !== false) return
    const hadTools = this.tools.length > 0
    this.#tools = undefined
    if (hadTools) this.#options.onChange()
  }

  #away(more = ''): CtError {
    const { code, message } = this.#problem ?? new CtError('ERR_PEER_UNREACHABLE', 'it was not reached yet')
    return new CtError(code, `${this.label} is not there: ${message}${more}`, { cause: this.#problem })
  }
}
