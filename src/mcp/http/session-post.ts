/**
 * A POST of the revisions that have sessions.
 *
 * @module
 */
import { isJsonObject } from '../../core/json.ts'
import { type IdText, type Request } from '../wire/envelope.ts'
import { invalidRequest, RPC_UNSUPPORTED_VERSION } from '../wire/rpc-error.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS, negotiateVersion } from '../wire/versions.ts'
import { EventBudget } from './event-budget.ts'
import { HostLink } from './host-link.ts'
import { type Posted } from './incoming.ts'
import { MAX_SESSION_EVENT_CHARS } from './limits.ts'
import { VERSION_HEADER } from './modern.ts'
import { type Asking } from './posting.ts'
import { type Refusal, refuse } from './refusal.ts'
import { type Session } from './sessions.ts'

export const SESSION_HEADER = 'mcp-session-id'
/** What the official SDKs say for a session that is not there; some hosts begin a new one at that. */
const RPC_SESSION_UNKNOWN = -32001

export function answerLegacy(posted: Posted, asking: Asking): Refusal | undefined {
  const { request, reply, headers } = asking
  const first = posted.members[0]?.single
  const initialize = !posted.isBatch && first?.kind === 'request' && first.method === 'initialize' ? first : undefined
  const id = !posted.isBatch && first?.kind === 'request' ? first.id : undefined
  if (initialize !== undefined && request.header(SESSION_HEADER) === undefined) {
    return identified(beginSession(posted, initialize, asking), id)
  }
  const found = findSession(asking)
  if ('refusal' in found) return identified(found.refusal, id)
  const { link, version } = found.session
  if (initialize !== undefined) {
    return identified({ status: 400, error: invalidRequest('the session is initialized already') }, id)
  }
  if (posted.isBatch && version > NEWEST_WITH_BATCHES) {
    return { status: 400, error: invalidRequest(`expected one message: revision ${version} has no batches`) }
  }
  if (!link.post(posted, postOptions(asking, version))) reply.answer(202, headers)
  return undefined
}

const NEWEST_WITH_BATCHES = LEGACY_VERSIONS[1]

function identified(refusal: Refusal | undefined, id: IdText | undefined): Refusal | undefined {
  return refusal === undefined || id === undefined ? refusal : { ...refusal, id }
}

function postOptions({ reply, accepts, headers }: Asking, version: string) {
  return { reply, accepts, headers, statusOf: () => 200, primed: takesPriming(version) }
}

/** Clients of earlier revisions take an event without data for a broken message. */
export function takesPriming(version: string): boolean {
  return version >= LEGACY_VERSIONS[3]
}

function beginSession(posted: Posted, { params }: Request, asking: Asking): Refusal | undefined {
  const { sessions, identity, serve, randomId, budget, clock, log, headers } = asking
  if (!sessions.makeRoom()) {
    const message = 'all sessions of this gateway are in use'
    return refuse(503, 'ERR_PEER_BUSY', message, { headers: { 'retry-after': '5' } })
  }
  const version = negotiateVersion(isJsonObject(params) ? params['protocolVersion'] : undefined)
  const own = new EventBudget(MAX_SESSION_EVENT_CHARS, budget)
  const link = new HostLink({ isSession: true, budget: own, clock, log })
  const name = randomId()
  const declares = isJsonObject(params) ? params['capabilities'] : undefined
  const served = serve(link, { identity, declares: isJsonObject(declares) ? declares : undefined })
  sessions.add({
    name,
    identity,
    version,
    link,
    end: (reason) => {
      served.close(reason)
      link.end(reason)
    },
  })
  link.post(posted, postOptions({ ...asking, headers: { ...headers, [SESSION_HEADER]: name } }, version))
  return undefined
}

export function findSession({
  request,
  sessions,
  identity,
}: Pick<Asking, 'request' | 'sessions' | 'identity'>): { readonly session: Session } | { readonly refusal: Refusal } {
  const version = request.header(VERSION_HEADER)
  // Hosts name another than was agreed on, or none: any that is known will do.
  if (version !== undefined && !KNOWN_VERSIONS.includes(version)) {
    const error = {
      code: RPC_UNSUPPORTED_VERSION,
      message: 'unsupported protocol version in `MCP-Protocol-Version`',
      data: { supported: KNOWN_VERSIONS, requested: version.slice(0, MAX_SHOWN_CHARS) },
    }
    return { refusal: { status: 400, error } }
  }
  const name = request.header(SESSION_HEADER)
  if (name === undefined) {
    const message = 'expected `Mcp-Session-Id`, as the answer to `initialize` had it'
    return { refusal: refuse(400, 'ERR_MESSAGE_INVALID', message) }
  }
  const session = sessions.find(name, identity)
  if (session !== undefined) return { session }
  const message = 'there is no such session: begin a new one with `initialize`'
  return { refusal: refuse(404, 'ERR_SESSION_UNKNOWN', message, { number: RPC_SESSION_UNKNOWN }) }
}

const KNOWN_VERSIONS: readonly string[] = [...LEGACY_VERSIONS, ...MODERN_VERSIONS]
/** Longer than any version there will be. */
const MAX_SHOWN_CHARS = 40
