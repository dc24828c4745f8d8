/**
 * Calls that survive their link: a queue, a number for every call, and a new link whenever the old one ends.
 *
 * Holds: every call ends once, in the peer's answer or in one error. A call that may have reached the peer is sent
 * again with its number and marked so; the peer executes it at most once. Calls are first sent in the order of their
 * numbers, whatever became of earlier ones: that, and the mark, is all that the peer's ledger relies on. A refusal that will not change by itself stops everything at once, and
 * what had been sent by then is reported as unknown, not as refused.
 *
 * @module
 */
import { CtError, isCtError } from '../../core/errors.ts'
import { type InstanceId } from '../../core/ids.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Port } from '../port.ts'
import { MAX_UNACKNOWLEDGED_CALLS } from '../serving/call-ledger.ts'
import { MAX_IN_FLIGHT } from '../serving/server.ts'
import { type Answer } from '../wire/answer.ts'
import { cancelled, outcomeUnknown } from '../wire/call-end.ts'
import { type Params, requestText } from '../wire/envelope.ts'
import { createMcpClient, type McpClient, type RequestOptions, UNCOUNTED_ID } from './client.ts'
import { LinkOpening, type LinkSource } from './link-opening.ts'
import { isGivenUp, wait } from './patience.ts'
import { type PeerHandlers } from './peer-requests.ts'
import { mayHaveRun, numberCall, type Pending } from './pending-call.ts'

/** Calls that wait for a link or for room on it; more are refused so that a stuck peer cannot fill the memory. */
export const MAX_PENDING_CALLS = 1_024

export interface ResumableCallerOptions extends LinkSource {
  /** Names this run; never used by two callers. */
  readonly instance: InstanceId
  /** A refusal that will not change by itself may end otherwise all the same: what this side shows has changed. */
  readonly mayRetry?: (reason: CtError) => boolean
  /** Who hears what the peer asks and tells. */
  readonly handlers?: PeerHandlers | undefined
  readonly limits?: { readonly maxPending?: number; readonly maxInFlight?: number }
}

export interface ResumableCaller {
  /** Calls that have not ended. */
  readonly pending: number
  /** A call was sent on some link: a peer that does not know it must not take it for new. */
  readonly hasSent: boolean
  /** Resolves with the peer's answer, be it a result or an error; rejects with what kept it from coming. */
  readonly call: (method: string, params?: Params, options?: RequestOptions) => Promise<Answer>
  /**
   * Says who this is in the way of the older revisions, on this link and on each later one before anything else. The peer
   * may then ask what it is told here that this side can do.
   *
   * @param params of `initialize`
   */
  readonly introduce: (params: JsonObject) => void
  /** Tells the peer something, if there is a link. */
  readonly notify: (method: string, params: JsonObject) => void
  /** Connects now instead of at the first call. */
  readonly start: () => void
  /**
   * Goes on over this link, to the same peer from the same run, and sends there again what has no answer; the older link
   * is then the caller's to end. False when there is no link to move from.
   */
  readonly move: (port: Port) => boolean
  /** Rejects what is pending, sent tool calls with `ERR_CALL_OUTCOME_UNKNOWN`, and ends the link. */
  readonly close: () => void
  /** Resolves with the reason once no call will be made any more. */
  readonly stopped: Promise<CtError>
}

export function createResumableCaller(options: ResumableCallerOptions): ResumableCaller {
  return new Caller(options)
}

/** Ends of an exchange that a new link would not change. */
const FINAL = ['ERR_MESSAGE_TOO_LARGE', 'ERR_PROTOCOL', 'ERR_CALL_OUTCOME_UNKNOWN'] as const

class Caller implements ResumableCaller {
  readonly stopped: Promise<CtError>
  readonly #options: ResumableCallerOptions
  readonly #maxPending: number
  readonly #maxInFlight: number
  /** In the order of their numbers. */
  readonly #pending = new Map<number, Pending>()
  readonly #lifetime = new AbortController()
  readonly #opening: LinkOpening
  #announceStop: (reason: CtError) => void = () => {}
  #nextSequence = 1
  /** Calls from this number on were not sent on the current link. */
  #nextToSend = 1
  #client: McpClient | undefined
  /** Calls the current link may carry at once. */
  #roomOnLink = 0
  /** The peer refuses new calls until it is back. */
  #peerDraining = false
  #stopReason: CtError | undefined
  #hasSent = false
  #introduction: JsonObject | undefined

  constructor(options: ResumableCallerOptions) {
    this.#options = options
    this.#maxPending = options.limits?.maxPending ?? MAX_PENDING_CALLS
    this.#maxInFlight = options.limits?.maxInFlight ?? MAX_IN_FLIGHT
    this.#opening = new LinkOpening({
      ...options,
      signal: this.#lifetime.signal,
      isFinal: (reason) => this.#isFinal(reason),
      pending: () => this.#pending.size,
      onOpen: (port) => this.#use(port),
      onFinal: (reason) => this.#stop(reason),
    })
    this.stopped = new Promise((resolve) => {
      this.#announceStop = resolve
    })
  }

  get pending(): number {
    return this.#pending.size
  }

  get hasSent(): boolean {
    return this.#hasSent
  }

  async call(method: string, params?: Params, options: RequestOptions = {}): Promise<Answer> {
    if (this.#stopReason !== undefined) throw this.#stopReason
    if (isGivenUp(options)) throw cancelled()
    if (this.#pending.size >= this.#maxPending) {
      throw new CtError('ERR_PEER_BUSY', `at most ${this.#maxPending} calls may be pending`)
    }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const { onProgress } = options
    const call: Pending = { sequence: 0, method, params, text: '', onProgress, sent: false, resolve, reject }
    const stop = wait(options, this.#options.clock, {
      mayRun: () => mayHaveRun(call),
      giveUp: (reason) => this.#giveUp(call, reason),
    })
    try {
      this.#number(call)
      this.#pump()
      this.start()
      return await promise
    } finally {
      stop()
    }
  }

  /** Gives the call the next number, under which it has never been sent. */
  #number(call: Pending): void {
    numberCall(call, this.#nextSequence)
    this.#nextSequence += 1
    this.#pending.set(call.sequence, call)
  }

  introduce(params: JsonObject): void {
    this.#introduction = params
    if (this.#client !== undefined) this.#greet(this.#client)
  }

  notify(method: string, params: JsonObject): void {
    this.#client?.notify(method, params)
  }

  /** Messages of one link arrive in order, so nothing waits for the answer. */
  #greet(client: McpClient): void {
    if (this.#introduction === undefined) return
    const text = requestText(UNCOUNTED_ID, 'initialize', this.#introduction)
    client.exchange({ id: UNCOUNTED_ID, text }).catch((error: unknown) => {
      this.#options.log.debug('mcp.not_introduced', { reason: String(error) })
    })
    client.notify('notifications/initialized', {})
  }

  start(): void {
    if (this.#client === undefined && this.#stopReason === undefined) this.#opening.start()
  }

  move(port: Port): boolean {
    if (this.#client === undefined || this.#stopReason !== undefined) return false
    this.#use(port)
    return true
  }

  close(): void {
    this.#stop(new CtError('ERR_LINK_CLOSED', 'this side ended the session'))
  }

  #use(port: Port): void {
    const { clock, handlers, log } = this.#options
    const since = clock.monotonic()
    const client = createMcpClient(port, { log, clock, handlers })
    this.#client = client
    // At least one, or nothing would ever be asked of a peer that announces nonsense.
    this.#roomOnLink = Math.min(this.#maxInFlight, Math.max(1, port.peerInFlight))
    this.#peerDraining = false
    this.#nextToSend = 1
    this.#greet(client)
    void client.closed.then(async ({ reason }) => {
      // It was moved from before.
      if (this.#client !== client) return
      this.#client = undefined
      if (this.#isFinal(reason)) {
        // Answers that came before the end count.
        await Promise.all([...this.#pending.values()].flatMap(({ sending }) => sending ?? []))
        this.#stop(reason)
        return
      }
      this.#opening.postpone(clock.monotonic() - since, reason)
      if (this.#pending.size > 0) this.start()
    })
    this.#pump()
  }

  /** Sends what may be sent now, the oldest first. */
  #pump(): void {
    const client = this.#client
    if (client === undefined || this.#peerDraining) return
    const oldest = this.#acknowledgedBelow
    this.#nextToSend = Math.max(this.#nextToSend, oldest)
    const end = Math.min(this.#nextSequence, oldest + MAX_UNACKNOWLEDGED_CALLS)
    while (this.#nextToSend < end && client.inFlight < this.#roomOnLink) {
      const call = this.#pending.get(this.#nextToSend)
      this.#nextToSend += 1
      if (call !== undefined) call.sending = this.#send(client, call)
    }
  }

  get #acknowledgedBelow(): number {
    for (const sequence of this.#pending.keys()) return sequence
    return this.#nextSequence
  }

  async #send(client: McpClient, call: Pending): Promise<void> {
    const { sequence, text } = call
    const tag = {
      instance: this.#options.instance,
      sequence,
      acknowledgedBelow: this.#acknowledgedBelow,
      resent: call.sent,
    }
    call.sent = true
    this.#hasSent = true
    try {
      const answer = await client.exchange({ id: sequence, text, call: tag, onProgress: call.onProgress })
      // What the newer link was asked again, it answers; a refusal on the older one says nothing of what runs now.
      if (this.#isMovedFrom(client) && 'error' in answer) return
      if ('error' in answer && isCtError(answer.error, 'ERR_PEER_SHUTDOWN')) {
        this.#peerDraining = true
        if (!this.#pending.delete(sequence)) return
        // The peer did not start it, so it goes out anew when the peer is back: as new, and so after all that was sent.
        call.sent = false
        this.#number(call)
        return
      }
      if (this.#pending.delete(sequence)) call.resolve(answer)
    } catch (error) {
      // Anything else means that the link has ended: the call waits for the next one.
      if (!isCtError(error, ...FINAL) || this.#isMovedFrom(client)) return
      if (this.#pending.delete(sequence)) call.reject(error)
    }
    this.#pump()
  }

  #isMovedFrom(client: McpClient): boolean {
    return this.#client !== undefined && this.#client !== client
  }

  #giveUp(call: Pending, reason: CtError): void {
    const { sequence } = call
    if (!this.#pending.delete(sequence)) return
    call.reject(reason)
    this.#client?.cancel(sequence, reason)
    this.#pump()
  }

  #isFinal(reason: CtError): boolean {
    return !reason.facts.retryable && this.#options.mayRetry?.(reason) !== true
  }

  #stop(reason: CtError): void {
    if (this.#stopReason !== undefined) return
    this.#stopReason = reason
    this.#lifetime.abort(reason)
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const call of pending) call.reject(mayHaveRun(call) ? outcomeUnknown(reason) : reason)
    this.#client?.close()
    this.#announceStop(reason)
  }
}
