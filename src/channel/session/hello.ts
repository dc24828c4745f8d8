/**
 * The first and the last frame of each side: `hello` says who speaks and within which limits, `bye` says why it stops.
 * Both are CBOR maps with text keys; unknown keys are ignored, so either may grow.
 *
 * @module
 */
import { encode } from 'cborg'
import { toHex } from '../../core/bytes.ts'
import { CtError, type ErrorCode } from '../../core/errors.ts'
import { INSTANCE_BYTES, type InstanceId } from '../../core/ids.ts'
import { isPeerErrorCode } from '../../core/peer-codes.ts'
import { printable } from '../../core/printable.ts'
import { type Credentials } from '../membership/credentials.ts'
import { encodeSuccession, parseSuccessions, type SignedSuccession } from '../membership/succession.ts'
import { decodeStrictly, isCount, retryAfter } from '../strict-cbor.ts'
import { credentialFields, parseCredentials, wellFormed } from './credential-fields.ts'

/** Version of the session protocol this program speaks. */
export const SESSION_VERSION = 1
/** Room for a grant with a chain of delegations and attestations; no stranger needs more to introduce itself. */
export const MAX_HELLO_BYTES = 8_192
/** Longest reason taken from a peer, in characters. */
const MAX_REASON_CHARS = 300
/** A reason of that length, and as much again for keys to come. */
export const MAX_BYE_BYTES = 4_096
const PROOF_BYTES = 32
const MAX_AGENT_CHARS = 100

/** What a side does on this session. A caller needs a server, a pipe needs a pipe. */
export type SessionMode = 'serve' | 'call' | 'pipe'

export type TaggedCalls = 'fresh' | 'resumed'

export interface SessionLimits {
  /** Largest message this side accepts, in bytes. */
  readonly messageBytes: number
  /** Requests this side works on at once; 0 when it takes none. */
  readonly inFlight: number
  /** The side ends a session unused for so long, in seconds; 0 when it does not. */
  readonly idleSeconds: number
}

export interface Hello {
  readonly version: number
  readonly mode: SessionMode
  /** This run of the program: the name of a caller in its call tags, and what tells a restart from a reconnect. */
  readonly run: InstanceId
  readonly limits: SessionLimits
  /** Program and version, for people. */
  readonly agent: string
  /** Set by a caller whose calls carry tags: whether it has sent any before this session. */
  readonly calls?: TaggedCalls
  /** Proof that the sender holds the ticket, bound to both keys; see ticket.ts. */
  readonly proof?: Uint8Array
  /** What makes the sender a member of the channel. */
  readonly credentials?: Credentials
  /** Of the sender's key, and of the operator's: for those who know older ones. */
  readonly successions?: readonly SignedSuccession[]
}

export function encodeHello(hello: Hello): Uint8Array {
  const { version, mode, run, limits, agent, calls, proof, credentials, successions = [] } = hello
  return encode({
    v: version,
    mode,
    run: Buffer.from(run, 'hex'),
    agent,
    limits: { message: limits.messageBytes, inFlight: limits.inFlight, idle: limits.idleSeconds },
    ...(calls === undefined ? {} : { calls }),
    ...(proof === undefined ? {} : { proof }),
    ...(credentials === undefined ? {} : credentialFields(credentials)),
    ...(successions.length === 0 ? {} : { succ: successions.map(encodeSuccession) }),
  })
}

/**
 * @throws {CtError} `ERR_PROTOCOL` when it is no hello, `ERR_VERSION_UNSUPPORTED` when it is one of another version,
 * `ERR_GRANT_INVALID` when its credentials are none
 */
export function parseHello(payload: Uint8Array): Hello {
  if (payload.length > MAX_HELLO_BYTES)
    throw malformed(`expected at most ${MAX_HELLO_BYTES} bytes, found ${payload.length}`)
  const map = decodeMap(payload, 'hello')
  const version = map['v']
  if (version !== SESSION_VERSION) {
    if (typeof version !== 'number') throw malformed('expected a version number')
    throw new CtError('ERR_VERSION_UNSUPPORTED', `expected session version ${SESSION_VERSION}, found ${version}`)
  }
  const proof = map['proof']
  if (proof !== undefined && !(proof instanceof Uint8Array && proof.length === PROOF_BYTES)) {
    throw malformed(`expected a proof of ${PROOF_BYTES} bytes`)
  }
  const credentials = parseCredentials(map['grants'], map['att'], map['staple'])
  const successions = wellFormed(() => parseSuccessions(map['succ']))
  return {
    version,
    mode: parseMode(map['mode']),
    run: parseRun(map['run']),
    limits: parseLimits(map['limits']),
    agent: typeof map['agent'] === 'string' ? printable(map['agent'], MAX_AGENT_CHARS) : 'unknown',
    ...(map['calls'] === 'fresh' || map['calls'] === 'resumed' ? { calls: map['calls'] } : {}),
    ...(proof === undefined ? {} : { proof }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(successions.length === 0 ? {} : { successions }),
  }
}

export interface Bye {
  readonly code: ErrorCode
  readonly reason: string
  /** The sender will not take up this session again by itself. */
  readonly final: boolean
  /** When trying again may make sense, in milliseconds. */
  readonly retryAfterMs?: number
  /** Of a refusal, as the original program names it, such as `grant-verify`. */
  readonly category?: string
}

export function encodeBye({ code, reason, final, retryAfterMs, category }: Bye): Uint8Array {
  return encode({
    code,
    reason: printable(reason, MAX_REASON_CHARS),
    final,
    ...(retryAfterMs === undefined ? {} : { retry: retryAfterMs }),
    ...(category === undefined ? {} : { category }),
  })
}

/** What a peer said; codes that a peer has no business to give become `ERR_LINK_CLOSED`, its words are cut and stripped of control characters. */
export function parseBye(payload: Uint8Array): Bye {
  if (payload.length > MAX_BYE_BYTES) {
    throw new CtError('ERR_PROTOCOL', `malformed bye: expected at most ${MAX_BYE_BYTES} bytes, found ${payload.length}`)
  }
  const map = decodeMap(payload, 'bye')
  const { category } = map
  return {
    code: isPeerErrorCode(map['code']) ? map['code'] : 'ERR_LINK_CLOSED',
    reason: typeof map['reason'] === 'string' ? printable(map['reason'], MAX_REASON_CHARS) : 'no reason given',
    final: map['final'] === true,
    ...retryAfter(map['retry']),
    ...(typeof category === 'string' && CATEGORY.test(category) ? { category } : {}),
  }
}

/** Readers of the original program take no longer ones either. */
const CATEGORY = /^[a-z0-9-]{1,24}$/
function decodeMap(payload: Uint8Array, what: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = decodeStrictly(payload)
  } catch (error) {
    throw new CtError('ERR_PROTOCOL', `expected a ${what} in CBOR`, { cause: error })
  }
  return fromMap(value, what)
}

// Maps first, so that no key of a peer, such as __proto__, ever touches a prototype.
function fromMap(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!(value instanceof Map)) throw new CtError('ERR_PROTOCOL', `expected a ${what} that is a CBOR map`)
  const record: Record<string, unknown> = Object.create(null)
  for (const [key, entry] of value) if (typeof key === 'string') record[key] = entry
  return record
}

function parseMode(value: unknown): SessionMode {
  if (value === 'serve' || value === 'call' || value === 'pipe') return value
  throw malformed('expected the mode serve, call or pipe')
}

function parseRun(value: unknown): InstanceId {
  if (value instanceof Uint8Array && value.length === INSTANCE_BYTES) return toHex(value) as InstanceId
  throw malformed(`expected a run of ${INSTANCE_BYTES} bytes`)
}

function parseLimits(value: unknown): SessionLimits {
  const map = fromMap(value, 'limits')
  const [messageBytes, inFlight, idleSeconds] = [map['message'], map['inFlight'], map['idle']]
  if (!isCount(messageBytes) || !isCount(inFlight) || !isCount(idleSeconds) || messageBytes < 1) {
    throw malformed('expected limits that are whole numbers')
  }
  return { messageBytes, inFlight, idleSeconds }
}

function malformed(problem: string): CtError {
  return new CtError('ERR_PROTOCOL', `malformed hello: ${problem}`)
}
