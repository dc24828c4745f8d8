/**
 * What the newest revision asks of a POST: its headers repeat what the body says, so that whoever stands in between
 * need not read that, and nobody may be told two things.
 *
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { metaOf, type Notification, type Params, type Request } from '../wire/envelope.ts'
import { RPC_INVALID_PARAMS, RPC_UNKNOWN_METHOD, RPC_UNSUPPORTED_VERSION, type RpcError } from '../wire/rpc-error.ts'
import { MODERN_VERSIONS, readModern, VERSION_KEY } from '../wire/versions.ts'

export const RPC_HEADER_MISMATCH = -32020
const RPC_MISSING_CAPABILITY = -32021

type Header = (name: string) => string | undefined

export const VERSION_HEADER = 'mcp-protocol-version'

export function namesModern(header: Header): boolean {
  const version = header(VERSION_HEADER)
  return MODERN_VERSIONS.some((known) => known === version)
}

/** The message says itself that it speaks the newest revision, or one that is newer still. */
export function claimsModern(params: Params): boolean {
  return claimOf(params) !== undefined
}

function claimOf(params: Params): JsonValue | undefined {
  return metaOf(params)?.[VERSION_KEY]
}

/** What is wrong with the request, if anything is. */
export function checkModern(request: Request, header: Header): RpcError | undefined {
  const { method, params } = request
  const claim = claimOf(params)
  const version = header(VERSION_HEADER)
  if (claim === undefined) {
    return { code: RPC_INVALID_PARAMS, message: `expected \`_meta["${VERSION_KEY}"]\`, as the header says ${version}` }
  }
  const { error } = readModern(params)
  if (error?.code === RPC_INVALID_PARAMS) return error
  if (version !== undefined && version !== claim) return mismatch(VERSION_HEADER)
  if (error !== undefined) return error
  if (version === undefined) return mismatch(VERSION_HEADER, 'nothing')
  return checkMethod(method, header) ?? checkName(method, params, header)
}

export function checkModernNotification({ method, params }: Notification, header: Header): RpcError | undefined {
  const claim = claimOf(params)
  const version = header(VERSION_HEADER)
  if (claim !== undefined && version !== undefined && claim !== version) return mismatch(VERSION_HEADER)
  return header('mcp-method') === undefined ? undefined : checkMethod(method, header)
}

function checkMethod(method: string, header: Header): RpcError | undefined {
  const named = header('mcp-method')
  if (named === undefined) return mismatch('mcp-method', 'nothing')
  return named === method ? undefined : mismatch('mcp-method')
}

/** The member of the parameters that the header repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

function checkName(method: string, params: Params, header: Header): RpcError | undefined {
  const member = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  if (member === undefined || !isJsonObject(params)) return undefined
  const name = params[member]
  const given = header('mcp-name')
  if (given === undefined) return typeof name === 'string' ? mismatch('mcp-name', 'nothing') : undefined
  const decoded = decodeHeader(given)
  if (decoded === undefined) return mismatch('mcp-name', 'what is not Base64')
  return typeof name !== 'string' || decoded === name ? undefined : mismatch('mcp-name')
}

/** Values that a header cannot have stand there in Base64. */
export function decodeHeader(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  if (encoded === undefined) return value
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined
}

export function mismatch(name: string, found = 'something else'): RpcError {
  return {
    code: RPC_HEADER_MISMATCH,
    message: `expected the header ${name} to repeat what the body says, found ${found}`,
  }
}

/** Errors of the protocol itself are also said in HTTP; what a call came to is not. */
export function statusOf(answer: string): number {
  const code = /^\{"jsonrpc":"2\.0","id":(?:-?\d+|"(?:[^"\\]|\\.)*"),"error":\{"code":(-?\d+)/.exec(answer)?.[1]
  if (code === undefined) return 200
  switch (Number(code)) {
    case RPC_UNKNOWN_METHOD:
      return 404
    case RPC_UNSUPPORTED_VERSION:
    case RPC_HEADER_MISMATCH:
    case RPC_MISSING_CAPABILITY:
      return 400
    default:
      return 200
  }
}

/** Arguments of a tool that its schema wants repeated in a header. */
export function checkParameters(schema: JsonObject, args: JsonValue | undefined, header: Header): RpcError | undefined {
  const { properties } = schema
  if (!isJsonObject(properties) || !isJsonObject(args)) return undefined
  for (const [key, property] of Object.entries(properties)) {
    if (!isJsonObject(property) || !Object.hasOwn(args, key)) continue
    const name = property['x-mcp-header']
    const error =
      typeof name === 'string'
        ? checkParameter(`mcp-param-${name.toLowerCase()}`, args[key], header)
        : checkParameters(property, args[key], header)
    if (error !== undefined) return error
  }
  return undefined
}

function checkParameter(name: string, value: JsonValue | undefined, header: Header): RpcError | undefined {
  if (typeof value !== 'string' && typeof value !== 'boolean' && typeof value !== 'number') return undefined
  const given = header(name)
  if (given === undefined) return mismatch(name, 'nothing')
  const decoded = decodeHeader(given)
  if (decoded === undefined) return mismatch(name, 'what is not Base64')
  const isSame =
    typeof value === 'number' ? DECIMAL.test(decoded) && Number(decoded) === value : decoded === String(value)
  return isSame ? undefined : mismatch(name)
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/
