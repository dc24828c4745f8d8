/**
 * Who may ask at all.
 *
 * A web page can make a browser send requests here, under a name that it has resolve to this machine: so the name that
 * was asked for must be one of ours, and the page one that is listed. Whoever is no browser sends no origin.
 *
 * Holds: what the check of a token takes says nothing about how much of it was right. An identity is a hash of the
 * token, never the token.
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { type Headers, type HttpRequest } from './http.ts'
import { type Refusal, refuse } from './refusal.ts'

export interface AccessRules {
  /** Names and addresses, in lower case and without ports, that clients may ask for. */
  readonly hosts: ReadonlySet<string>
  /** They may also ask for any address that is no name, which no page can have resolved. */
  readonly anyAddress: boolean
  /** Of pages, such as `https://app.example.org`, in lower case. */
  readonly origins: ReadonlySet<string>
  /** Any of them is asked for; with none, nobody needs one. */
  readonly tokens: readonly string[]
}

export const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '::1']

/** Of those who need no token. */
export const NOBODY = ''

export interface Access {
  /** The same for the same token. */
  readonly identity: string
  /** For the answer: what lets a page read it. */
  readonly headers: Headers
  /** The browser asks whether the page may ask; nothing else is to be done. */
  readonly isPreflight: boolean
}

export type AccessCheck = { readonly access: Access } | { readonly refusal: Refusal; readonly headers: Headers }

export function checkAccess(rules: AccessRules, request: HttpRequest): AccessCheck {
  const host = request.header('host')
  const name = host === undefined ? undefined : hostName(host)
  if (host === undefined || name === undefined || !isOurs(rules, name)) {
    return refused(refuse(403, 'ERR_ORIGIN_REFUSED', 'the `Host` that was asked for is not one of this gateway'))
  }
  const origin = request.header('origin')?.toLowerCase()
  const isListed = origin !== undefined && rules.origins.has(origin)
  if (origin !== undefined && !isListed && origin !== `http://${host.toLowerCase()}`) {
    return refused(refuse(403, 'ERR_ORIGIN_REFUSED', 'the `Origin` of the page is not one that may ask here'))
  }
  const headers = isListed ? sharedWith(origin, request) : {}
  if (request.method === 'OPTIONS' && isListed) return { access: { identity: NOBODY, headers, isPreflight: true } }
  if (rules.tokens.length === 0) return { access: { identity: NOBODY, headers, isPreflight: false } }
  const given = bearer(request.header('authorization'))
  const identity = given === undefined ? undefined : identify(rules.tokens, given)
  if (identity === undefined) {
    const challenge = given === undefined ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`
    const message = given === undefined ? 'expected a bearer token' : 'the bearer token is not one of this gateway'
    return refused(refuse(401, 'ERR_TOKEN_REFUSED', message, { headers: { 'www-authenticate': challenge } }), headers)
  }
  return { access: { identity, headers, isPreflight: false } }
}

const CHALLENGE = 'Bearer realm="ct-agent"'

function refused(refusal: Refusal, headers: Headers = {}): AccessCheck {
  return { refusal, headers }
}

/** Without port and brackets, in lower case; a name may end in the dot of the root. */
export function hostName(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^[\]:/@\s]+))(?::\d{1,5})?$/i.exec(host.trim())
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '')
}

/** The port is not looked at: it is another one where somebody forwards it, and no page can lie about it to its use. */
function isOurs({ hosts, anyAddress }: AccessRules, name: string): boolean {
  return hosts.has(name) || (anyAddress && isIP(name) !== 0)
}

function bearer(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

function identify(tokens: readonly string[], given: string): string | undefined {
  const found = digest(given)
  let identity: string | undefined
  // All of them are compared, whichever it is.
  for (const token of tokens) if (timingSafeEqual(digest(token), found)) identity = found.toString('hex')
  return identity
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** How long a browser remembers what it was told, in seconds. */
const PREFLIGHT_AGE = '600'
const METHODS = 'GET, POST, DELETE'
const ASKED = [
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
]

function sharedWith(origin: string, request: HttpRequest): Headers {
  const shared = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'mcp-session-id, www-authenticate',
    vary: 'Origin',
  }
  if (request.method !== 'OPTIONS') return shared
  const wished = (request.header('access-control-request-headers') ?? '').toLowerCase().split(',')
  // Parameters of tools that are mirrored in headers have names of their own.
  const parameters = wished.map((name) => name.trim()).filter((name) => /^mcp-param-[a-z0-9-]{1,64}$/.test(name))
  return {
    ...shared,
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': [...ASKED, ...parameters.slice(0, MAX_PARAMETERS)].join(', '),
    'access-control-max-age': PREFLIGHT_AGE,
    ...(request.header('access-control-request-private-network') === 'true'
      ? { 'access-control-allow-private-network': 'true' }
      : {}),
  }
}

/** More than any tool mirrors. */
const MAX_PARAMETERS = 32
