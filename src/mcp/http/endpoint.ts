/**
 * MCP over Streamable HTTP, in all its revisions, on one address.
 *
 * The older revisions begin a session with `initialize` and may listen with GET; the newest one has neither: each POST
 * stands for itself.
 *
 * Holds: a request is checked from the cheapest to the dearest, and nothing of it is read before it may ask. Every error
 * is JSON-RPC. A host that goes away ends its request in the newest revision, and in no other.
 *
 * @module
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
import { decodeUtf8 } from '../../core/bytes.ts'
import { CtError } from '../../core/errors.ts'
import { NO_ID } from '../wire/envelope.ts'
import { readHead } from '../wire/head.ts'
import { RPC_INVALID_REQUEST, RPC_PARSE_ERROR } from '../wire/rpc-error.ts'
import { type Access, type AccessRules, checkAccess } from './access.ts'
import { EventBudget } from './event-budget.ts'
import { STREAM_TYPE } from './exchange.ts'
import { type HostLink } from './host-link.ts'
import { type HttpReply, type HttpRequest } from './http.ts'
import { type Posted, readPosted } from './incoming.ts'
import { MAX_BODY_BYTES, MAX_EVENT_CHARS, MAX_POSTS } from './limits.ts'
import { isJsonType, readAccept } from './media.ts'
import { claimsModern, namesModern } from './modern.ts'
import { answerModern } from './modern-post.ts'
import { type Asking, type Serving } from './posting.ts'
import { answerRefusal, type Refusal, refuse } from './refusal.ts'
import { answerLegacy, findSession, SESSION_HEADER, takesPriming } from './session-post.ts'
import { Sessions } from './sessions.ts'
import { parseEventId } from './sse.ts'

/** Where it is served. */
export const MCP_PATH = '/mcp'
export const HEALTH_PATH = '/healthz'

export interface EndpointOptions extends Serving {
  readonly rules: AccessRules
  /** More sessions than this are not kept. */
  readonly maxSessions?: number
}

export class Endpoint {
  readonly #options: EndpointOptions
  readonly #sessions: Sessions
  readonly #budget = new EventBudget(MAX_EVENT_CHARS)
  readonly #brief = new Set<HostLink>()
  #posts = 0
  /** Why nothing new is taken. */
  #stopping: CtError | undefined

  constructor(options: EndpointOptions) {
    this.#options = options
    this.#sessions = new Sessions(options.clock, options.maxSessions)
  }

  get sessions(): number {
    return this.#sessions.size
  }

  /** Answers every request, and never rejects. */
  async handle(request: HttpRequest, reply: HttpReply): Promise<void> {
    if (request.path === HEALTH_PATH) {
      this.#tellHealth(request, reply)
      return
    }
    const check = checkAccess(this.#options.rules, request)
    if ('refusal' in check) {
      this.#options.log.info('gateway.refused', { status: check.refusal.status, reason: check.refusal.error.message })
      answerRefusal(reply, check.refusal, check.headers)
      return
    }
    const { access } = check
    if (access.isPreflight) {
      reply.answer(204, access.headers)
      return
    }
    const refusal = await this.#answer(request, reply, access).catch((error: unknown) => this.#crashed(error))
    if (refusal !== undefined) answerRefusal(reply, refusal, access.headers)
  }

  /** Ends every session and stream; nothing new is taken. */
  stop(reason: CtError): void {
    this.#stopping = reason
    this.#sessions.close(reason)
    for (const link of [...this.#brief]) link.end(reason)
  }

  #crashed(error: unknown): Refusal {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#options.log.error('gateway.crashed', { reason })
    return refuse(500, 'ERR_INTERNAL', 'internal error')
  }

  #tellHealth({ method }: HttpRequest, reply: HttpReply): void {
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
    if (method !== 'GET' && method !== 'HEAD') reply.answer(405, { ...headers, allow: 'GET, HEAD' }, 'expected GET\n')
    else if (this.#stopping !== undefined) reply.answer(503, headers, 'stopping\n')
    else reply.answer(200, headers, 'ok\n')
  }

  /** What it is refused with, if it is. */
  async #answer(request: HttpRequest, reply: HttpReply, access: Access): Promise<Refusal | undefined> {
    const { path, method } = request
    if (path !== MCP_PATH) return refuse(404, 'ERR_MESSAGE_INVALID', `expected ${MCP_PATH}`)
    if (this.#stopping !== undefined) return refuse(503, 'ERR_PEER_SHUTDOWN', 'the gateway is stopping')
    switch (method) {
      case 'POST':
        return this.#post(request, reply, access)
      case 'GET':
      case 'DELETE':
        if (isSessionless(request)) {
          return refuse(405, 'ERR_MESSAGE_INVALID', 'this revision has POST alone', { headers: { allow: 'POST' } })
        }
        return method === 'GET' ? this.#listen(request, reply, access) : this.#endSession(request, reply, access)
      default:
        return refuse(405, 'ERR_MESSAGE_INVALID', 'expected POST, GET or DELETE', { headers: { allow: ALLOWED } })
    }
  }

  async #post(request: HttpRequest, reply: HttpReply, access: Access): Promise<Refusal | undefined> {
    if (!isJsonType(request.header('content-type'))) {
      return refuse(415, 'ERR_MESSAGE_INVALID', 'expected `Content-Type` to be application/json')
    }
    const accepts = readAccept(request.header('accept'))
    if (!accepts.json && !accepts.events) {
      return refuse(406, 'ERR_MESSAGE_INVALID', 'expected `Accept` to have application/json and text/event-stream')
    }
    if (this.#posts >= MAX_POSTS) return crowded(`at most ${MAX_POSTS} requests may be under way`)
    this.#posts += 1
    reply.onEnd(() => {
      this.#posts -= 1
    })
    const body = await request.body()
    if (body.kind === 'cut') return undefined
    if (body.kind === 'crowded') return crowded('more is being sent to this gateway than it reads at once')
    if (body.kind === 'oversize') {
      const message = `expected a message of at most ${MAX_BODY_BYTES} bytes, found ${body.totalBytes}`
      const refusal = refuse(413, 'ERR_MESSAGE_TOO_LARGE', message, { number: RPC_INVALID_REQUEST })
      return { ...refusal, id: readHead(body.head).id ?? NO_ID }
    }
    const text = decodeUtf8(body.bytes)
    if (text === undefined) {
      return refuse(400, 'ERR_MESSAGE_INVALID', 'expected UTF-8, found other bytes', { number: RPC_PARSE_ERROR })
    }
    return this.#answerPosted(readPosted(text), { ...this.#asking(request, reply, access), accepts })
  }

  #answerPosted(posted: Posted, asking: Asking): Refusal | undefined {
    const [member] = posted.members
    const single = posted.isBatch ? undefined : member?.single
    if (single?.kind === 'invalid') return { status: 400, error: single.error, id: single.id }
    const says = single?.kind === 'request' || single?.kind === 'notification'
    const isModern =
      says && (claimsModern(single.params) || (isSessionless(asking.request) && single.method !== 'initialize'))
    return isModern || (!says && isSessionless(asking.request))
      ? answerModern(posted, asking)
      : answerLegacy(posted, asking)
  }

  #asking(request: HttpRequest, reply: HttpReply, { identity, headers }: Access): Omit<Asking, 'accepts'> {
    const { serve, schemaOf, randomId, clock, log } = this.#options
    const shared = { serve, schemaOf, randomId, clock, log, budget: this.#budget }
    return { ...shared, request, reply, identity, headers, sessions: this.#sessions, brief: this.#brief }
  }

  #listen(request: HttpRequest, reply: HttpReply, access: Access): Refusal | undefined {
    if (!readAccept(request.header('accept')).events) {
      return refuse(406, 'ERR_MESSAGE_INVALID', 'expected `Accept` to have text/event-stream')
    }
    const found = findSession(this.#asking(request, reply, access))
    if ('refusal' in found) return found.refusal
    const { link, version } = found.session
    const last = request.header('last-event-id')
    const headers = { ...access.headers, ...STREAM_TYPE }
    if (last === undefined) {
      link.listen(reply.stream(headers), takesPriming(version))
      return undefined
    }
    const id = parseEventId(last)
    const stream = id === undefined ? undefined : link.find(id)
    if (id === undefined || stream === undefined) {
      return refuse(400, 'ERR_MESSAGE_INVALID', 'what came after the event of `Last-Event-ID` is not kept here')
    }
    // The word by which a client is told not to come back once more.
    if (stream.endsAt(id.sequence)) reply.answer(204, access.headers)
    else stream.read(reply.stream(headers), id.sequence)
    return undefined
  }

  #endSession(request: HttpRequest, reply: HttpReply, access: Access): Refusal | undefined {
    const found = findSession(this.#asking(request, reply, access))
    if ('refusal' in found) return found.refusal
    this.#sessions.end(found.session, new CtError('ERR_LINK_CLOSED', 'the host ended the session'))
    reply.answer(204, access.headers)
    return undefined
  }
}

/** It speaks the newest revision, and knows of no session. Hosts that have one are asked for no more, whatever they name. */
function isSessionless({ header }: HttpRequest): boolean {
  return namesModern(header) && header(SESSION_HEADER) === undefined
}

const ALLOWED = 'POST, GET, DELETE'

function crowded(message: string): Refusal {
  return refuse(503, 'ERR_PEER_BUSY', message, { headers: { 'retry-after': '1' } })
}
