/**
 * One peer behind an MCP host: connected when the host first needs it, kept, and asked again what it serves whenever it
 * may have changed.
 *
 * Holds: whoever waits for the peer's tools waits for one attempt to connect and no longer; while the peer is away, calls
 * end at once in the reason. Only a refusal that a person must mend ends the attempts.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { parseIntegersExactly, toJsonValue } from '../../core/exact-json.ts'
import { isExactObject } from '../../core/json-shape.ts'
import { type Log } from '../../core/log.ts'
import { Backoff, type BackoffPolicy, type Clock, pause, type Random } from '../../core/time.ts'
import { type RemoteTool, readRemoteTools } from '../../mcp/adapter/index.ts'
import { type CallContext, type JsonValue, resultTextOf } from '../../mcp/index.ts'
import { type Caller } from '../calling/caller.ts'
import { listTools } from '../calling/tool-list.ts'

/** Told when the link is gone, with the reason, and with nothing when it is there again. */
export type OnTrouble = (reason: CtError | undefined) => void

export interface HostedPeerOptions {
  /** What it is called here. */
  readonly label: string
  /** One attempt to connect; the caller then reconnects by itself. */
  readonly open: (signal: AbortSignal, onTrouble: OnTrouble) => Promise<Caller>
  /** Its tools, or whether it is there, changed. */
  readonly onChange: () => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** How long calls that were under way wait for a peer that went away. */
const PATIENCE_MS = 10_000
const RETRY: BackoffPolicy = { baseMs: 1_000, capMs: 30_000, stableMs: 10_000 }

export class HostedPeer {
  readonly label: string
  readonly #options: HostedPeerOptions
  readonly #lifetime = new AbortController()
  readonly #tried = Promise.withResolvers<void>()
  #tools: readonly RemoteTool[] = []
  #caller: Caller | undefined
  #problem: CtError | undefined
  #running: Promise<void> | undefined
  /** Aborts when the peer has been away for too long for those who wait for it. */
  #gone = new AbortController()
  #cancelGone: (() => void) | undefined

  constructor(options: HostedPeerOptions) {
    this.label = options.label
    this.#options = options
  }

  get tools(): readonly RemoteTool[] {
    return this.#tools
  }

  /** Why it is not there, for whoever asks it something. */
  get absence(): CtError | undefined {
    return this.#problem === undefined ? undefined : this.#away()
  }

  /** Resolves when the peer was reached, or was not. */
  prepare(): Promise<void> {
    this.#running ??= this.#run()
    return this.#tried.promise
  }

  async call(name: string, { argumentsText, signal }: CallContext): Promise<JsonValue> {
    const caller = this.#caller
    if (caller === undefined || this.#problem !== undefined) throw this.#away()
    const args = parseIntegersExactly(argumentsText)
    const params = { name, arguments: isExactObject(args) ? toJsonValue(args) : {} }
    const gone = this.#gone.signal
    try {
      const answer = await caller.call('tools/call', params, { signal: AbortSignal.any([signal, gone]) })
      return toJsonValue(parseIntegersExactly(resultTextOf(answer)))
    } catch (error) {
      throw gone.aborted && !signal.aborted ? this.#away('; the call may have run') : error
    }
  }

  /** Says goodbye. */
  async close(): Promise<void> {
    this.#lifetime.abort(new CtError('ERR_LINK_CLOSED', 'the host is gone'))
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
      this.#is(reason)
      if (!reason.facts.retryable) return
      await pause(clock, backoff.next(clock.monotonic() - began), signal)
    }
  }

  /** From one connection to the end of its caller; resolves with why it ended. */
  async #useOnce(signal: AbortSignal): Promise<CtError> {
    let caller: Caller | undefined
    try {
      caller = await this.#options.open(signal, (reason) => this.#onTrouble(reason))
      await this.#learn(caller)
      this.#caller = caller
      this.#is(undefined)
      return await caller.stopped
    } catch (error) {
      return toCtError(error)
    } finally {
      this.#caller = undefined
      await caller?.finish()
    }
  }

  async #learn(caller: Caller): Promise<void> {
    const { tools, dropped } = readRemoteTools((await listTools(caller)).tools)
    if (dropped > 0) this.#options.log.warn('host.tools_dropped', { peer: this.label, dropped })
    const isSame = JSON.stringify(tools) === JSON.stringify(this.#tools)
    this.#tools = tools
    if (!isSame) this.#options.onChange()
  }

  #onTrouble(reason: CtError | undefined): void {
    if (this.#caller === undefined) return
    this.#is(reason)
    // It may be another run of the peer, which serves something else.
    if (reason === undefined) {
      this.#learn(this.#caller).catch((error: unknown) => {
        this.#options.log.info('host.not_listed', { peer: this.label, code: toCtError(error).code })
      })
    }
  }

  #is(problem: CtError | undefined): void {
    this.#problem = problem
    this.#tried.resolve()
    this.#boundWait(problem)
    if (problem !== undefined && !problem.facts.retryable && this.#tools.length > 0) {
      this.#tools = []
      this.#options.onChange()
    }
  }

  #boundWait(problem: CtError | undefined): void {
    if (problem === undefined) {
      this.#cancelGone?.()
      this.#cancelGone = undefined
      if (this.#gone.signal.aborted) this.#gone = new AbortController()
    } else {
      this.#cancelGone ??= this.#options.clock.after(PATIENCE_MS, () => this.#gone.abort())
    }
  }

  #away(more = ''): CtError {
    const { code, message } = this.#problem ?? new CtError('ERR_PEER_UNREACHABLE', 'it was not reached yet')
    return new CtError(code, `${this.label} is not there: ${message}${more}`, { cause: this.#problem })
  }
}
