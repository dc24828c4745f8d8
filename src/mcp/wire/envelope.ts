/**
 * The strict reading and the writing of JSON-RPC 2.0 messages.
 *
 * Holds: reading never throws and never recurses. Every text is exactly one of request, notification, response, batch
 * of these, or invalid with the error to answer. Ids are kept as the JSON text they were sent as, so that an id comes
 * back to the digit and `1` is not `"1"`.
 *
 * Departures, all lenient: `params: null` counts as absent (the original caller sends it), unknown members of the
 * envelope are ignored, an invalid request whose id can be read is answered under that id.
 *
 * @module
 * @see https://www.jsonrpc.org/specification
 */
import { decodeUtf8 } from '../../core/bytes.ts'
import { isJsonObject, type JsonObject, type JsonValue, MAX_NESTING, nestsTooDeep } from '../../core/json.ts'
import { memberText, skipBlanks, startsOfElements } from '../../core/json-scan.ts'
import { printable } from '../../core/printable.ts'
import { asRpcError, invalidRequest, RPC_PARSE_ERROR, type RpcError } from './rpc-error.ts'

/** An id as JSON text: `1`, `"a"`, `9007199254740993`; `null` where there is none. */
export type IdText = string

export const NO_ID: IdText = 'null'

/** Longest id, in characters: every answer repeats it, and must fit even when it is only an error. */
export const MAX_ID_CHARS = 1_024

/** Parameters by name or by position. */
export type Params = JsonObject | readonly JsonValue[] | undefined

export interface Request {
  readonly kind: 'request'
  readonly id: IdText
  readonly method: string
  readonly params: Params
  /** For who needs to the digit what was sent. */
  readonly source: MemberSource
}

/** Finds the text of a member of a message, by its name, as the peer sent it. */
export type MemberSource = (name: string) => string | undefined

export interface Notification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: Params
  /** As that of a request. */
  readonly source: MemberSource
}

export interface Response {
  readonly kind: 'response'
  readonly id: IdText
  readonly outcome: { readonly result: JsonValue } | { readonly error: RpcError } | { readonly problem: string }
}

export interface Invalid {
  readonly kind: 'invalid'
  readonly id: IdText
  readonly error: RpcError
}

export type Single = Request | Notification | Response | Invalid

export type Envelope = Single | { readonly kind: 'batch'; readonly members: readonly Single[] }

/** Members of one batch; each costs as much as a message of its own. */
export const MAX_BATCH_MEMBERS = 100

/** More than any reason of the parser. */
const MAX_REASON_CHARS = 200

/** The request that the peer does not want answered any more, if that is what it says. */
export function cancelledId({ method, params }: Notification): IdText | undefined {
  if (method !== 'notifications/cancelled' || !isJsonObject(params)) return undefined
  const { requestId } = params
  return typeof requestId === 'string' || Number.isSafeInteger(requestId) ? JSON.stringify(requestId) : undefined
}

/** Reads one message. */
export function readEnvelope(bytes: Uint8Array): Envelope {
  const text = decodeUtf8(bytes)
  return text === undefined ? NOT_UTF8 : readEnvelopeText(text)
}

/** Reads one message that is text already. */
export function readEnvelopeText(text: string): Envelope {
  if (nestsTooDeep(text)) {
    return malformed(`expected arrays and objects nested at most ${MAX_NESTING} deep, found more`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The parser quotes what it found, whatever that is.
    const reason = error instanceof Error ? printable(error.message, MAX_REASON_CHARS) : 'not JSON'
    return invalid({ code: RPC_PARSE_ERROR, message: `invalid JSON-RPC: ${reason}` })
  }
  const open = skipBlanks(text, 0)
  if (!Array.isArray(value)) return readSingle(value, (name) => memberText(text, open, name))
  if (value.length === 0) return malformed('expected at least one message in a batch, found none')
  if (value.length > MAX_BATCH_MEMBERS) {
    return malformed(`expected at most ${MAX_BATCH_MEMBERS} messages in a batch, found ${value.length}`)
  }
  let starts: readonly number[] | undefined
  const members = value.map((member: unknown, index) =>
    readSingle(member, (name) => {
      starts ??= startsOfElements(text, open, MAX_BATCH_MEMBERS)
      return memberText(text, starts[index] ?? text.length, name)
    }),
  )
  return { kind: 'batch', members }
}

/** @param source for what loses digits as a number */
function readSingle(value: unknown, source: MemberSource): Single {
  if (!isJsonObject(value)) return malformed('expected a JSON-RPC object')
  const { jsonrpc, method } = value
  if (method === undefined && (value['result'] !== undefined || value['error'] !== undefined)) {
    return readResponse(value, source)
  }
  const id = readId(value['id'], () => source('id'))
  const answerId = id ?? NO_ID
  if (value['id'] !== undefined && id === undefined) {
    return malformed(`expected \`id\` to be a string or an integer of at most ${MAX_ID_CHARS} characters`)
  }
  if (jsonrpc !== '2.0') return malformed('expected `jsonrpc` to be "2.0"', answerId)
  if (typeof method !== 'string') return malformed('expected `method` to be a string', answerId)
  const params = value['params'] ?? undefined
  if (params !== undefined && typeof params !== 'object') {
    return malformed('expected `params` to be an object or an array', answerId)
  }
  return id === undefined
    ? { kind: 'notification', method, params, source }
    : { kind: 'request', id, method, params, source }
}

function readResponse(value: JsonObject, source: MemberSource): Response {
  return { kind: 'response', id: readId(value['id'], () => source('id')) ?? NO_ID, outcome: readOutcome(value) }
}

function readOutcome({ jsonrpc, result, error }: JsonObject): Response['outcome'] {
  if (jsonrpc !== '2.0') return { problem: 'expected `jsonrpc` to be "2.0"' }
  if (error === undefined || error === null) {
    return result === undefined ? { problem: 'expected `result` or `error`' } : { result }
  }
  if (result !== undefined && result !== null) return { problem: 'expected `result` or `error`, found both' }
  if (!isJsonObject(error)) return { problem: 'expected `error` to be an object' }
  const read = asRpcError(error)
  return read === undefined
    ? { problem: 'expected `error` to hold a number `code` and a string `message`' }
    : { error: read }
}

/**
 * What a peer names something by: a string or an integer.
 *
 * @param source for what loses digits as a number
 */
export function readId(id: JsonValue | undefined, source: () => string | undefined): IdText | undefined {
  if (typeof id === 'string') return id.length > MAX_ID_CHARS ? undefined : JSON.stringify(id)
  if (Number.isSafeInteger(id)) return JSON.stringify(id)
  if (typeof id !== 'number') return undefined
  const digits = source()
  return digits !== undefined && digits.length <= MAX_ID_CHARS && /^-?\d+$/.test(digits) ? digits : undefined
}

/** What a peer says of the message itself. */
export function metaOf(params: Params): JsonObject | undefined {
  const meta = isJsonObject(params) ? params['_meta'] : undefined
  return isJsonObject(meta) ? meta : undefined
}

/** A member of a batch; what may not stand in one is answered, not carried out. */
export function batched(member: Single): Single {
  return member.kind === 'request' && member.method === 'initialize'
    ? malformed('expected `initialize` to be sent alone, found it in a batch', member.id)
    : member
}

const NOT_UTF8 = invalid({ code: RPC_PARSE_ERROR, message: 'invalid JSON-RPC: expected UTF-8, found other bytes' })

function malformed(message: string, id: IdText = NO_ID): Invalid {
  return invalid(invalidRequest(message), id)
}

function invalid(error: RpcError, id: IdText = NO_ID): Invalid {
  return { kind: 'invalid', id, error }
}

/** @param result JSON text */
export function resultText(id: IdText, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
}

export function errorText(id: IdText, { code, message, data }: RpcError): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`
}

/** A request in the form the original sends: keys in alphabetical order, absent parameters as null. */
export function requestText(id: number, method: string, params: Params): string {
  return `{"id":${id},"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${JSON.stringify(params ?? null)}}`
}

export function notificationText(method: string, params: JsonObject): string {
  return rawNotificationText(method, JSON.stringify(params))
}

/** @param params JSON text */
export function rawNotificationText(method: string, params: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`
}
