/**
 * What every server answers in the same way.
 *
 * @module
 */
import { type JsonObject } from '../../core/json.ts'
import { initializeResult, type ServerInfo, UNCACHED } from '../serving/faces.ts'
import { RPC_INVALID_PARAMS, RPC_UNKNOWN_METHOD } from '../wire/rpc-error.ts'
import { MODERN_VERSIONS, SERVER_INFO_KEY } from '../wire/versions.ts'
import { type Asked, answerError, answerResult } from './post.ts'

/** A server of tools. */
export interface ToolServer {
  readonly info: ServerInfo
  readonly instructions: string
  /** As `tools/list` has them. */
  readonly tools: () => Promise<readonly JsonObject[]>
  /** A result as `tools/call` has it; undefined where there is no such tool. What went wrong with the call is in it. */
  readonly call: (name: string, args: JsonObject) => Promise<JsonObject | undefined>
}

/** The answer to one request. It rejects only with what the server itself does. */
export async function serveAsked(asked: Asked, server: ToolServer): Promise<string> {
  const { method, params, isModern } = asked
  const { info, instructions } = server
  switch (method) {
    case 'initialize':
      if (isModern) break
      return answerResult(asked, initializeResult(params['protocolVersion'], info, { capabilities: {}, instructions }))
    case 'server/discover':
      if (!isModern) break
      return answer(asked, info, {
        capabilities: { tools: {} },
        instructions,
        supportedVersions: MODERN_VERSIONS,
        ...UNCACHED,
      })
    case 'ping':
      if (isModern) break
      return answerResult(asked, {})
    case 'tools/list':
      return answer(asked, info, { tools: await server.tools(), ...(isModern ? UNCACHED : {}) })
    case 'tools/call':
      return callTool(asked, server)
    default:
  }
  return answerError(asked, RPC_UNKNOWN_METHOD, `unknown method \`${method.slice(0, MAX_SHOWN_CHARS)}\``)
}

const MAX_SHOWN_CHARS = 100

async function callTool(asked: Asked, { info, call }: ToolServer): Promise<string> {
  const { name, arguments: args = {} } = asked.params
  if (typeof name !== 'string') {
    return answerError(asked, RPC_INVALID_PARAMS, 'tools/call requires a string `name`')
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return answerError(asked, RPC_INVALID_PARAMS, 'expected `arguments` to be an object')
  }
  const result = await call(name, args as JsonObject)
  return result === undefined
    ? answerError(asked, RPC_INVALID_PARAMS, `unknown tool \`${name.slice(0, MAX_SHOWN_CHARS)}\``)
    : answer(asked, info, result)
}

/** With what the newest revision asks of every result. */
function answer(asked: Asked, { name, version }: ServerInfo, result: JsonObject): string {
  if (!asked.isModern) return answerResult(asked, result)
  const meta = { ...(result['_meta'] as JsonObject | undefined), [SERVER_INFO_KEY]: { name, version } }
  return answerResult(asked, { resultType: 'complete', ...result, _meta: meta })
}
