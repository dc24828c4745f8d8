/**
 * JSON-RPC error objects: their numbers, and the way from our errors to the wire and back.
 *
 * Holds: errors the original program also has carry only `code` and `message`; all others carry
 * `data: {code: 'ERR_…', retryable}`, so that our own caller can tell them apart. Numbers of our own lie outside the
 * range that JSON-RPC and MCP reserve. Nothing a peer sends is trusted beyond its shape.
 *
 * @module
 */
import { CtError, type ErrorCode } from '../../core/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { isPeerErrorCode } from '../../core/peer-codes.ts'
import { printable } from '../../core/printable.ts'

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue
}

export const RPC_PARSE_ERROR = -32700
export const RPC_INVALID_REQUEST = -32600
export const RPC_UNKNOWN_METHOD = -32601
export const RPC_INVALID_PARAMS = -32602
export const RPC_INTERNAL_ERROR = -32603
export const RPC_TOOL_FAILED = -32000
export const RPC_UNSUPPORTED_VERSION = -32022

/** Numbers of the errors that only we have. */
const OWN_NUMBERS: Partial<Record<ErrorCode, number>> = {
  ERR_INTERNAL: RPC_INTERNAL_ERROR,
  ERR_MESSAGE_INVALID: RPC_INVALID_REQUEST,
  ERR_CALL_INVALID: RPC_INVALID_REQUEST,
  ERR_PEER_BUSY: -31001,
  ERR_PEER_SHUTDOWN: -31002,
  ERR_CALL_OUTCOME_UNKNOWN: -31003,
  ERR_CALL_INTERRUPTED: -31004,
  ERR_CALL_CANCELLED: -31005,
  ERR_MESSAGE_TOO_LARGE: -31006,
}

/** An error of ours with its code in `data`; `number` overrides the usual one. */
export function codedError(error: CtError, number?: number, extra: JsonObject = {}): RpcError {
  return {
    code: number ?? OWN_NUMBERS[error.code] ?? RPC_TOOL_FAILED,
    message: error.message,
    data: { code: error.code, retryable: error.facts.retryable, ...extra },
  }
}

/** The error of a message that is no request we accept. */
export function invalidRequest(message: string): RpcError {
  return codedError(new CtError('ERR_MESSAGE_INVALID', message))
}

/** What a tool reported. Plain failures look exactly like the original's, which has no reason to refuse a call for. */
export function toolError(error: CtError, extra: JsonObject = {}): RpcError {
  const { reason } = reasonOf(error)
  if (error.code === 'ERR_CALL_INVALID' && reason !== undefined) {
    return codedError(error, RPC_TOOL_FAILED, { reason, ...extra })
  }
  if (error.code === 'ERR_TOOL_FAILED' || error.code === 'ERR_CALL_INVALID') {
    return { code: RPC_TOOL_FAILED, message: error.message }
  }
  return error.code === 'ERR_INTERNAL' ? codedError(error, undefined, extra) : codedError(error, RPC_TOOL_FAILED, extra)
}

/** What a method beside those of MCP reported. */
export function extensionError(error: CtError, extra: JsonObject): RpcError {
  const number = error.code === 'ERR_INTERNAL' ? undefined : RPC_TOOL_FAILED
  return codedError(error, number, { ...reasonOf(error), ...extra })
}

/** The reason that programs tell failures of one code apart by, if there is one. */
export function reasonOf({ detail: { reason } }: CtError): { readonly reason?: string } {
  return typeof reason === 'string' ? { reason } : {}
}

/** An error object, if it is one. */
export function asRpcError(value: JsonValue): RpcError | undefined {
  if (!isJsonObject(value)) return undefined
  const { code, message, data } = value
  if (typeof code !== 'number' || typeof message !== 'string') return undefined
  return data === undefined ? { code, message } : { code, message, data }
}

/** The error object a peer answered with, as an error of ours. */
export function readRpcError(error: RpcError): CtError {
  const message = printable(error.message, MAX_MESSAGE_CHARS)
  return new CtError(codeOf(error), message === '' ? 'the peer gave no reason' : message, {
    detail: { rpcCode: error.code },
  })
}

/** Enough for any honest reason; a peer must not flood a terminal or a log. */
const MAX_MESSAGE_CHARS = 2_000

function codeOf({ code, message, data }: RpcError): ErrorCode {
  const named = isJsonObject(data) ? data['code'] : undefined
  if (isPeerErrorCode(named)) return named
  switch (code) {
    case RPC_INVALID_PARAMS:
      return message.toLowerCase().startsWith('unknown tool') ? 'ERR_TOOL_UNKNOWN' : 'ERR_CALL_INVALID'
    case RPC_UNKNOWN_METHOD:
      return 'ERR_CALL_INVALID'
    case RPC_PARSE_ERROR:
    case RPC_INVALID_REQUEST:
      return 'ERR_PROTOCOL'
    case RPC_UNSUPPORTED_VERSION:
      return 'ERR_VERSION_UNSUPPORTED'
    default:
      return 'ERR_TOOL_FAILED'
  }
}
