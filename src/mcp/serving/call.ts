/**
 * One request under way: what was asked, by whom, and whether somebody still wants the answer.
 *
 * @module
 */
import { type CtError, type ErrorCode } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json.ts'
import { elementText, memberText } from '../../core/json-scan.ts'
import { type CallTag } from '../../core/link.ts'
import { type Log } from '../../core/log.ts'
import { type Rights } from '../../core/rights.ts'
import { type CallContext, type Tool, type ToolRegistry } from '../tool.ts'
import { type IdText, type Request } from '../wire/envelope.ts'
import { type Round, readRound } from '../wire/input-required.ts'
import { type Progress, progressText, progressToken } from '../wire/progress.ts'
import { boundAnswer } from './bounded-answer.ts'
import { type Execution } from './call-ledger.ts'
import { type CallObserver } from './call-observer.ts'
import { type ExtensionContext, type ExtensionMethods } from './extension.ts'
import { type Face, type ServerInfo } from './faces.ts'
import { type News } from './news.ts'
import { type Upstream, type UpstreamLink } from './upstream-link.ts'

/** What an agent serves on a link. */
export interface Service {
  readonly registry: ToolRegistry
  /**
   * Where the tools are not there from the start: waited for before they are looked at, all of them or the one that is
   * called. It must not reject.
   */
  readonly prepare?: (tool?: string) => Promise<void> | undefined
  readonly methods?: ExtensionMethods
  readonly serverInfo: ServerInfo
  readonly log: Log
  /** A fresh unguessable name, such as `crypto.randomUUID`. */
  readonly randomId: () => string
  readonly observer?: CallObserver | undefined
  /** What else answers here, such as a server that is handed on. */
  readonly upstream?: Upstream | undefined
  /** Of lists that change, for clients that ask to be told. */
  readonly news?: News | undefined
}

/** What requests of one link have in common. */
export interface CallScope extends Omit<Service, 'upstream'>, PeerLimits {
  readonly peer: HolderId
  readonly upstream?: UpstreamLink | undefined
  /** Tells the peer something, best effort. */
  readonly notify: (text: string) => void
  /** Largest answer the peer accepts, in bytes. */
  readonly limitBytes: number
}

/** What one peer may do. */
export interface PeerLimits {
  /** Of a member of a channel; all without. */
  readonly rights?: Rights | undefined
  /** Names of the only tools that it may call, beside those that everybody may; all without. */
  readonly allowedTools?: ReadonlySet<string> | undefined
  /** Names of methods beside those of MCP that need no right. */
  readonly freeMethods?: ReadonlySet<string> | undefined
}

export class Call implements ExtensionContext {
  readonly scope: CallScope
  readonly request: Request
  readonly face: Face
  readonly tag: CallTag | undefined
  /** Hands over the answer, or word that there will be none. */
  readonly respond: (text: string | undefined) => void
  /** Present for tagged calls that run, here or on the link that asked first. */
  execution: Execution | undefined
  /** Why it failed, if it did. */
  failure: ErrorCode | undefined
  // Most tools look at neither of these, and each costs more than a ping.
  #controller: AbortController | undefined
  #callId: string | undefined
  #argumentsText: string | undefined
  #progressed: Progressed | undefined
  #isOver = false

  constructor(
    scope: CallScope,
    request: Request,
    face: Face,
    tag: CallTag | undefined,
    respond: (text: string | undefined) => void,
  ) {
    this.scope = scope
    this.request = request
    this.face = face
    this.tag = tag
    this.respond = respond
  }

  get id(): IdText {
    return this.request.id
  }

  get peer(): HolderId {
    return this.scope.peer
  }

  get callId(): string {
    this.#callId ??= this.tag === undefined ? this.scope.randomId() : `${this.tag.instance}-${this.tag.sequence}`
    return this.#callId
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  abort(reason: CtError): void {
    this.#isOver = true
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }

  /** There is an answer: nothing more is told of the call. */
  conclude(): void {
    this.#isOver = true
  }

  get wantsProgress(): boolean {
    return this.#told().token !== undefined
  }

  get progress(): CallContext['progress'] {
    return (progress) => this.#progress(progress)
  }

  #progress(progress: Progress): void {
    if (this.#isOver) return
    const told = this.#told()
    const { token, last } = told
    if (token === undefined || !Number.isFinite(progress.progress) || progress.progress <= last) return
    told.last = progress.progress
    const text = progressText(token, progress)
    if (this.execution === undefined) this.scope.notify(text)
    else this.execution.notify(text)
  }

  get round(): Round | undefined {
    return this.face === 'modern' ? readRound(this.request.params, () => this.paramsText) : undefined
  }

  get paramsText(): string {
    const { params, source } = this.request
    return (params === undefined ? undefined : source('params')) ?? NOTHING_SENT
  }

  get argumentsText(): string {
    this.#argumentsText ??= this.#findArguments()
    return this.#argumentsText
  }

  #findArguments(): string {
    const { args } = this.asked
    // Sent as null counts as not sent.
    if (args === undefined || args === null) return NOTHING_SENT
    const { paramsText } = this
    if (isJsonObject(this.request.params)) return memberText(paramsText, 0, 'arguments') ?? NOTHING_SENT
    return elementText(paramsText, 0, 1)
  }

  /** Tool name and arguments, by name or by position: `{name, arguments}` or `[name, arguments]`. */
  get asked(): { readonly name: unknown; readonly args: unknown } {
    const { params } = this.request
    if (params === undefined) return { name: undefined, args: undefined }
    return isJsonObject(params)
      ? { name: params['name'], args: params['arguments'] }
      : { name: params[0], args: params[1] }
  }

  get tool(): Tool | undefined {
    const { name } = this.asked
    return typeof name === 'string' ? this.scope.registry.find(name) : undefined
  }

  /** True when executing the request twice does no harm. */
  get isIdempotent(): boolean {
    return this.request.method !== 'tools/call' || this.tool?.idempotent !== false
  }

  #told(): Progressed {
    this.#progressed ??= {
      token: progressToken(this.request.params, () => this.paramsText),
      last: Number.NEGATIVE_INFINITY,
    }
    return this.#progressed
  }

  /** The answer, or the error that takes its place when the peer would not accept one so large. */
  bound(text: string): string {
    return boundAnswer(this.id, text, this.scope.limitBytes)
  }
}

const NOTHING_SENT = '{}'

interface Progressed {
  readonly token: IdText | undefined
  last: number
}
