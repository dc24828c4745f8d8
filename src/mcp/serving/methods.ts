/**
 * The methods a peer can call.
 *
 * Holds: every request yields exactly one answer, whatever a tool throws or returns. What a tool did not mean for the
 * peer stays in the log; the peer gets a reference to find it by. A tool that answers at once costs no turn of the
 * event loop.
 *
 * @module
 */
import { createJSONRPCErrorResponse, type JSONRPCResponse, JSONRPCServer } from 'json-rpc-2.0'
import { CtError, type ErrorCode, isCtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue, MAX_NESTING, nestsTooDeep } from '../../core/json.ts'
import { type LogFacts } from '../../core/log.ts'
import { printable } from '../../core/printable.ts'
import { type Tool } from '../tool.ts'
import { errorText, resultText } from '../wire/envelope.ts'
import { InputRequired } from '../wire/input-required.ts'
import { type Relayed, RelayedError } from '../wire/relayed.ts'
import {
  codedError,
  extensionError,
  RPC_INTERNAL_ERROR,
  RPC_INVALID_PARAMS,
  RPC_UNKNOWN_METHOD,
  type RpcError,
  toolError,
} from '../wire/rpc-error.ts'
import { LISTEN_METHOD } from '../wire/subscriptions.ts'
import { VERSION_KEY } from '../wire/versions.ts'
import { type Call } from './call.ts'
import { type Asked } from './call-observer.ts'
import { type ExtensionMethod } from './extension.ts'
import {
  callResultText,
  discoverResult,
  type Face,
  failureResult,
  initializeResult,
  inputRequiredText,
  listResultText,
} from './faces.ts'
import { listenFor } from './listening.ts'
import { modernResult } from './relaying.ts'
import { besideFor } from './rights.ts'
import { isCacheable, isUpstreamMethod } from './upstream-link.ts'

/** The response to the call, within the peer's limit. */
export function dispatch(call: Call): PromiseLike<string> {
  const { method } = call.request
  const { methods, observer } = call.scope
  const extension = methods?.get(method)
  const began = observer?.began() ?? 0
  // The library sees an id of ours: the peer's may be one that it would not keep to the digit.
  const answered =
    extension === undefined
      ? (relayMethod(call) ?? dispatcher.receive({ jsonrpc: '2.0', id: 0, method }, call))
      : extend(call, extension)
  return answered.then((response) => {
    call.conclude()
    observer?.ended(began, askedOf(call), outcomeOf(call, response))
    if (response === null) return errorText(call.id, INTERNAL)
    return call.bound(
      response.error === undefined ? resultText(call.id, String(response.result)) : errorText(call.id, response.error),
    )
  })
}

const INTERNAL: RpcError = { code: RPC_INTERNAL_ERROR, message: 'internal error' }

const dispatcher = new JSONRPCServer<Call>({ errorListener: () => {} })
dispatcher.mapErrorToJSONRPCErrorResponse = (id) => createJSONRPCErrorResponse(id, INTERNAL.code, INTERNAL.message)
dispatcher.handleMethodNotFound = ({ method }) => Promise.resolve(unknownMethod(method))

dispatcher.addMethodAdvanced('initialize', (_, { request: { params }, scope }) => {
  const requested = isJsonObject(params) ? params['protocolVersion'] : undefined
  return Promise.resolve(result(initializeResult(requested, scope.serverInfo, besideFor(scope))))
})

dispatcher.addMethodAdvanced('ping', (_, { face }) =>
  Promise.resolve(face === 'modern' ? unknownMethod('ping') : result({})),
)

dispatcher.addMethodAdvanced('server/discover', (_, { face, scope }) =>
  Promise.resolve(
    face === 'modern'
      ? result(discoverResult(scope.serverInfo, besideFor(scope)))
      : failure({ code: RPC_INVALID_PARAMS, message: `expected \`_meta["${VERSION_KEY}"]\`` }),
  ),
)

/** It has no answer: it lasts until the client ends it, or is gone. */
dispatcher.addMethodAdvanced(LISTEN_METHOD, (_, call) => {
  const { news } = call.scope
  if (call.face !== 'modern' || news === undefined) return Promise.resolve(unknownMethod(LISTEN_METHOD))
  const over = listenFor(call, news)
  return over?.then((reason) => failedMethod(call, reason)) ?? refuse('expected `notifications` to be an object')
})

dispatcher.addMethodAdvanced('tools/list', (_, call) => {
  const {
    face,
    scope,
    request: { params },
  } = call
  const page = { cursor: isJsonObject(params) ? params['cursor'] : undefined, limitBytes: roomFor(call) }
  const list = (): JSONRPCResponse => textResult(listResultText(scope.registry, face, scope.serverInfo, page))
  return scope.prepare?.()?.then(list) ?? Promise.resolve(list())
})

dispatcher.addMethodAdvanced(
  'tools/call',
  (_, call) => call.scope.prepare?.(String(call.asked.name))?.then(() => callTool(call)) ?? callTool(call),
)

function callTool(call: Call): Promise<JSONRPCResponse> {
  const { name, args = {} } = call.asked
  if (typeof name !== 'string') return refuse('tools/call requires a string `name`')
  const { tool } = call
  if (tool === undefined) return refuse(`unknown tool \`${shown(name)}\``)
  if (call.face !== 'bare' && args !== null && !isJsonObject(args)) {
    return refuse('expected `arguments` to be an object')
  }
  const fail = (error: unknown): JSONRPCResponse => failedTool(call, tool, toShow(call, error, { tool: tool.name }))
  const { relay } = tool
  if (relay !== undefined)
    return settle(
      () => relay(call, call.paramsText),
      (answer) => relayed(call, answer),
      fail,
    )
  return settle(
    () => tool.call(args ?? {}, call),
    (value) => (value instanceof InputRequired ? asking(call, value) : succeeded(call, value, call.face)),
    fail,
  )
}

/** There is no result before the caller has answered. */
function asking({ scope }: Call, { result }: InputRequired): JSONRPCResponse {
  return textResult(shallow(inputRequiredText(result, scope.serverInfo)))
}

/** Hands the request on, if it is one for what stands behind the agent. */
function relayMethod(call: Call): Promise<JSONRPCResponse> | undefined {
  const { scope, face, request } = call
  const { method } = request
  const { upstream } = scope
  if (upstream === undefined || !isUpstreamMethod(method, face === 'modern')) return undefined
  return settle(
    () => upstream.request(method, call),
    (answer) => relayed(call, answer),
    (thrown) => failedMethod(call, thrown),
  )
}

function relayed(call: Call, answer: Relayed): JSONRPCResponse {
  if ('error' in answer) {
    call.failure = 'ERR_TOOL_FAILED'
    return failure(answer.error)
  }
  const text = shallow(answer.resultText)
  return textResult(call.face === 'modern' ? modernResult(text, isCacheable(call.request.method)) : text)
}

function extend(call: Call, extension: ExtensionMethod): Promise<JSONRPCResponse> {
  return settle(
    () => extension(call.request.params, call),
    (value) => succeeded(call, value, 'bare'),
    (thrown) => failedMethod(call, thrown),
  )
}

function failedMethod(call: Call, thrown: unknown): JSONRPCResponse {
  const { error, extra } = toShow(call, thrown, { method: shown(call.request.method) })
  return failure(extensionError(error, extra))
}

/** @throws {RangeError} when one of the names is taken */
export function refuseBuiltIn(names: Iterable<string>): void {
  for (const name of names) {
    if (dispatcher.hasMethod(name)) throw new RangeError(`expected a method that is not built in, found \`${name}\``)
  }
}

/** At once, if the value is there at once. */
function settle<Value>(
  run: () => Promise<Value> | Value,
  succeed: (value: Value) => JSONRPCResponse,
  fail: (error: unknown) => JSONRPCResponse,
): Promise<JSONRPCResponse> {
  try {
    const value = run()
    return value instanceof Promise ? value.then(succeed).catch(fail) : Promise.resolve(succeed(value))
  } catch (error) {
    return Promise.resolve(fail(error))
  }
}

function succeeded(call: Call, value: JsonValue, face: Face): JSONRPCResponse {
  const { scope } = call
  // A tool that returns nothing, against its type, still answers.
  return textResult(shallow(callResultText(value ?? null, face, scope.serverInfo, roomFor(call))))
}

function shallow(text: string): string {
  if (nestsTooDeep(text)) throw new RangeError(`expected a result nested at most ${MAX_NESTING} deep, found more`)
  return text
}

/** Bytes that a result may have. */
function roomFor({ id, scope }: Call): number {
  return scope.limitBytes - Buffer.byteLength(resultText(id, ''))
}

/** An error fit for the peer, and facts beside it. */
interface Shown {
  readonly error: CtError
  readonly extra: JsonObject
}

function toShow(call: Call, thrown: unknown, what: LogFacts): Shown {
  const { face, scope } = call
  call.failure = isCtError(thrown) ? thrown.code : 'ERR_INTERNAL'
  if (isCtError(thrown)) return { error: thrown, extra: {} }
  const reference = scope.randomId().slice(0, REFERENCE_CHARS)
  scope.log.error('mcp.tool_crashed', {
    ...what,
    peer: shortId(scope.peer),
    reference,
    face,
    reason: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
  })
  return { error: new CtError('ERR_INTERNAL', `internal error, reference ${reference}`), extra: { reference } }
}

/** Enough to find one line in a log. */
const REFERENCE_CHARS = 8

function failedTool({ face, scope }: Call, { outputSchema }: Tool, { error, extra }: Shown): JSONRPCResponse {
  if (error instanceof RelayedError) return failure(error.rpc)
  if (face === 'bare') return failure(toolError(error, extra))
  const hasOutputSchema = outputSchema !== undefined
  return result(failureResult(error, face, scope.serverInfo, { extra, hasOutputSchema }))
}

/** The answer to a call that was stopped or never started. */
export function refusalText(call: Call, error: CtError): string {
  return call.bound(errorText(call.id, codedError(error)))
}

function outcomeOf(call: Call, response: JSONRPCResponse | null): ErrorCode | 'ok' {
  if (call.failure !== undefined) return call.failure
  if (response === null) return 'ERR_INTERNAL'
  if (response.error === undefined) return 'ok'
  // Looked up for failures alone: nearly every call goes well.
  return call.request.method === 'tools/call' && call.tool === undefined ? 'ERR_TOOL_UNKNOWN' : 'ERR_CALL_INVALID'
}

/** Answers a call of which nothing was started. */
export function refuseCall(call: Call, error: CtError): void {
  call.scope.observer?.refused(askedOf(call), error.code)
  call.respond(refusalText(call, error))
}

/** What was asked for, as far as there is such a thing here. */
function askedOf(call: Call): Asked {
  const { method } = call.request
  if (method === 'tools/call') {
    const { tool } = call
    return tool === undefined ? { kind: 'tool' } : { kind: 'tool', name: tool.name }
  }
  const { methods, upstream } = call.scope
  const isKnown =
    methods?.has(method) === true ||
    dispatcher.hasMethod(method) ||
    (upstream !== undefined && isUpstreamMethod(method))
  return isKnown ? { kind: 'method', name: method } : { kind: 'method' }
}

function result(value: JsonValue): JSONRPCResponse {
  return textResult(JSON.stringify(value))
}

/** @param text JSON */
function textResult(text: string): JSONRPCResponse {
  return { jsonrpc: '2.0', id: 0, result: text }
}

function failure(error: RpcError): JSONRPCResponse {
  return { jsonrpc: '2.0', id: 0, error }
}

function refuse(message: string): Promise<JSONRPCResponse> {
  return Promise.resolve(failure({ code: RPC_INVALID_PARAMS, message }))
}

function unknownMethod(method: string): JSONRPCResponse {
  return failure({ code: RPC_UNKNOWN_METHOD, message: `unknown method \`${shown(method)}\`` })
}

/** A name from a peer, repeated to it: long enough to recognise. */
function shown(name: string): string {
  return printable(name, MAX_SHOWN_CHARS)
}

const MAX_SHOWN_CHARS = 200
