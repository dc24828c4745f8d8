/**
 * The calling side of MCP over one link.
 *
 * Holds: every request ends, in one answer or one error, when the peer answers, the link ends, or the caller gives up.
 * An answer is matched by its exact id. An answer that cannot be matched means that some request will never get its
 * own: with one request in flight it is that one's, with several none can be trusted any more and all of them fail.
 *
 * @module
 */
import { JSONRPCClient } from 'json-rpc-2.0'
import { decodeUtf8, encodeUtf8 } from '../../core/bytes.ts'
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { type JsonObject } from '../../core/json.ts'
import { type CallTag, type IncomingMessage, type LinkEnd, type OutgoingMessage } from '../../core/link.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type Port } from '../port.ts'
import { type Answer } from '../wire/answer.ts'
import { cancelled, outcomeUnknown } from '../wire/call-end.ts'
import {
  cancelledId,
  NO_ID,
  type Notification,
  notificationText,
  type Params,
  type Response,
  readEnvelopeText,
  requestText,
  type Single,
} from '../wire/envelope.ts'
import { readHead } from '../wire/head.ts'
import { type Progress, readProgress, withProgressToken } from '../wire/progress.ts'
import { RPC_UNKNOWN_METHOD, readRpcError } from '../wire/rpc-error.ts'
import { isGivenUp, type Patience, wait } from './patience.ts'
import { type PeerHandlers, PeerRequests } from './peer-requests.ts'
import { answerOf, protocolError, type Settlement, settlementOf, unmatched } from './settlement.ts'

export interface RequestOptions extends Patience {
  /** Asks the peer to tell how far it is, and is told until the request has ended. It must not throw. */
  readonly onProgress?: OnProgress
}

export type OnProgress = (progress: Progress) => void

/** A request whose text is fixed, so that it can be sent again to the byte. */
export interface PreparedRequest {
  /** Also the id within `text`; must not be in flight. */
  readonly id: number
  readonly text: string
  readonly call?: CallTag
  /** The text asks for it, with the id as token. */
  readonly onProgress?: OnProgress | undefined
}

export interface McpClient {
  /** Requests that are not answered yet. */
  readonly inFlight: number
  /**
   * Resolves with the peer's answer, be it a result or an error; rejects with what kept it from coming. When the link
   * ends while a tool may run, that is `ERR_CALL_OUTCOME_UNKNOWN`: whoever tried again would call the tool twice.
   */
  readonly request: (method: string, params?: Params, options?: RequestOptions) => Promise<Answer>
  /** As `request`, for callers who can send the same request again: the end of the link is reported as it is. */
  readonly exchange: (request: PreparedRequest) => Promise<Answer>
  /** Tells the peer something, best effort. */
  readonly notify: (method: string, params: JsonObject) => void
  /** Rejects the request with the reason and tells the peer that nobody waits. */
  readonly cancel: (id: number, reason: CtError) => void
  /** Rejects what is in flight. The port stays open. */
  readonly close: () => void
  /** Resolves when the link has ended and everything in flight was rejected. */
  readonly closed: Promise<LinkEnd>
}

export interface ClientOptions {
  readonly log: Log
  readonly clock: Clock
  /** Who hears what the peer asks and tells. */
  readonly handlers?: PeerHandlers | undefined
  /** What the peer sends that is no message is told here, and otherwise passed over: it may be a program that prints. */
  readonly onNoise?: ((text: string) => void) | undefined
}

export function createMcpClient(port: Port, options: ClientOptions): McpClient {
  return new Client(port, options)
}

/** No number that counting gets to: for a request that goes out beside those that are counted. */
export const UNCOUNTED_ID = Number.MAX_SAFE_INTEGER

/** What a peer says instead of admitting this side. */
const REFUSALS = ['ERR_PEER_REFUSED', 'ERR_PEER_BUSY', 'ERR_PEER_KEY_MISMATCH', 'ERR_VERSION_UNSUPPORTED'] as const

class Client implements McpClient {
  readonly closed: Promise<LinkEnd>
  readonly #port: Port
  readonly #log: Log
  readonly #clock: Clock
  readonly #inFlight = new Map<number, OnProgress | undefined>()
  readonly #onNoise: ClientOptions['onNoise']
  readonly #peer: PeerRequests
  readonly #correlator: JSONRPCClient<OutgoingMessage>
  #lastId = 0
  #ended: CtError | undefined

  constructor(port: Port, { log, clock, handlers = {}, onNoise }: ClientOptions) {
    this.#port = port
    this.#log = log
    this.#clock = clock
    this.#onNoise = onNoise
    this.#peer = new PeerRequests(handlers, (text) => port.send({ text }), log)
    // Not awaited: the library lets no answer through before its sender returns, and a slow link may never return.
    this.#correlator = new JSONRPCClient((request: { readonly id: number }, message) => {
      port.send(message).catch((error: unknown) => {
        const reason = toCtError(error, 'ERR_LINK_LOST')
        const tooLarge = isCtError(reason, 'ERR_MESSAGE_TOO_LARGE')
        this.#settle(request.id, tooLarge ? { failure: reason } : { linkEnd: reason })
      })
    })
    port.receive((message) => this.#receive(message))
    this.closed = port.closed.then((end) => {
      this.#end(end.reason)
      return end
    })
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  async request(method: string, params?: Params, options: RequestOptions = {}): Promise<Answer> {
    do this.#lastId += 1
    while (this.#inFlight.has(this.#lastId))
    const id = this.#lastId
    if (isGivenUp(options)) throw cancelled()
    const { onProgress } = options
    const mayRun = method === 'tools/call'
    const stop = wait(options, this.#clock, { mayRun: () => mayRun, giveUp: (reason) => this.cancel(id, reason) })
    try {
      const sent = onProgress === undefined ? params : withProgressToken(params, id)
      const settlement = await this.#ask({ id, text: requestText(id, method, sent), onProgress })
      if (mayRun && 'linkEnd' in settlement && !this.#wasRefused(settlement.linkEnd)) {
        throw outcomeUnknown(settlement.linkEnd)
      }
      return answerOf(settlement)
    } finally {
      stop()
    }
  }

  async exchange(request: PreparedRequest): Promise<Answer> {
    return answerOf(await this.#ask(request))
  }

  notify(method: string, params: JsonObject): void {
    if (this.#ended === undefined) this.#peer.say(notificationText(method, params))
  }

  async #ask({ id, text, call, onProgress }: PreparedRequest): Promise<Settlement> {
    if (this.#ended !== undefined) throw this.#ended
    if (this.#inFlight.has(id)) throw new RangeError(`expected an id that is not in flight, found ${id}`)
    this.#inFlight.set(id, onProgress)
    if (this.#inFlight.size === 1) this.#port.watch(true)
    if (id !== UNCOUNTED_ID) this.#lastId = Math.max(this.#lastId, id)
    const { result } = await this.#correlator.requestAdvanced(
      { jsonrpc: '2.0', id, method: '' },
      call === undefined ? { text } : { text, call },
    )
    return result
  }

  /** The link ended before the peer would do anything. */
  #wasRefused(reason: CtError): boolean {
    return !this.#port.isReady && isCtError(reason, ...REFUSALS)
  }

  cancel(id: number, reason: CtError): void {
    if (!this.#settle(id, { failure: reason })) return
    this.#peer.say(notificationText('notifications/cancelled', { reason: reason.code, requestId: id }))
  }

  close(): void {
    this.#end(new CtError('ERR_LINK_CLOSED', 'this side ended the session'))
  }

  #end(reason: CtError): void {
    this.#ended ??= reason
    for (const id of [...this.#inFlight.keys()]) this.#settle(id, { linkEnd: this.#ended })
    this.#peer.end(this.#ended)
  }

  #settle(id: number, result: Settlement): boolean {
    if (!this.#inFlight.delete(id)) return false
    if (this.#inFlight.size === 0) this.#port.watch(false)
    this.#correlator.receive({ jsonrpc: '2.0', id, result })
    return true
  }

  #receive(message: IncomingMessage): void {
    if (this.#ended !== undefined) return
    if (message.kind === 'oversize') {
      this.#oversize(message.head, message.totalBytes)
      return
    }
    const text = decodeUtf8(message.bytes)
    if (text === undefined) {
      if (this.#onNoise === undefined) this.#failUnmatched(protocolError('bytes that are not UTF-8'))
      else this.#onNoise('')
      return
    }
    const envelope = readEnvelopeText(text)
    if (envelope.kind !== 'batch') this.#single(envelope, text)
    else if (this.#onNoise === undefined) this.#failUnmatched(protocolError('a batch'))
    // Of one message of several there is no text; programs of one revision send them so.
    else for (const member of envelope.members) this.#single(member, undefined)
  }

  #single(message: Single, text: string | undefined): void {
    switch (message.kind) {
      case 'response':
        this.#response(message, text ?? responseText(message))
        break
      case 'request':
        this.#peer.asked(message)
        break
      case 'notification':
        this.#told(message)
        break
      case 'invalid':
        this.#unreadable(message.error.message, text ?? '')
    }
  }

  #unreadable(why: string, text: string): void {
    const failure = protocolError(`a message that cannot be read (${why})`)
    if (this.#onNoise === undefined) this.#failUnmatched(failure)
    else if (!this.#settle(Number(readHead(encodeUtf8(text)).id), { failure })) this.#onNoise(text)
  }

  #told(notification: Notification): void {
    const { method, params, source } = notification
    const about = readProgress(method, params)
    const withdrawn = cancelledId(notification)
    if (about !== undefined) this.#inFlight.get(about.token)?.(about.progress)
    else if (withdrawn !== undefined) this.#peer.withdrawn(withdrawn)
    else this.#peer.told(method, source('params') ?? '{}')
  }

  #response({ id, outcome }: Response, text: string): void {
    const number = /^\d+$/.test(id) ? Number(id) : 0
    if (this.#inFlight.has(number)) {
      this.#settle(number, settlementOf(outcome, text))
    } else if (number >= 1 && number <= this.#lastId) {
      this.#log.debug('mcp.answer_late', { peer: shortId(this.#port.peer.holder) })
    } else if (id === NO_ID && 'error' in outcome) {
      // The original program answers notifications, with this code and no id.
      if (outcome.error.code !== RPC_UNKNOWN_METHOD) this.#failUnmatched(readRpcError(outcome.error))
    } else {
      this.#failUnmatched(protocolError('an id that was never sent'))
    }
  }

  #oversize(head: Uint8Array, totalBytes: number): void {
    const limit = this.#port.receiveLimitBytes
    const message = `the peer's answer has ${totalBytes} bytes; this side accepts at most ${limit}`
    const failure = new CtError('ERR_MESSAGE_TOO_LARGE', message)
    if (!this.#settle(Number(readHead(head).id), { failure })) this.#failUnmatched(failure)
  }

  #failUnmatched(error: CtError): void {
    const ids = [...this.#inFlight.keys()]
    this.#log.warn('mcp.answer_unmatched', {
      peer: shortId(this.#port.peer.holder),
      code: error.code,
      inFlight: ids.length,
    })
    const failure = unmatched(error, ids.length)
    for (const id of ids) this.#settle(id, { failure })
  }
}

/** Of one message of a batch. */
function responseText({ id, outcome }: Response): string {
  return JSON.stringify({ id: JSON.parse(id), ...outcome })
}
