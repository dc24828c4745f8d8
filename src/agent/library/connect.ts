/**
 * `connect`: a peer as an object.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { resultOf } from '../../mcp/index.ts'
import { type Caller } from '../calling/caller.ts'
import { openPeer } from '../calling/open-peer.ts'
import { readCallSettings } from '../calling/peer-way.ts'
import { listTools, MODERN } from '../calling/tool-list.ts'
import { type Connect, type JsonRecord, type Peer, type ToolDescription } from './api.ts'
import { ownContext } from './own-context.ts'
import { toolCall } from './tool-call.ts'

/** @throws {CtError} whatever `ct-agent call` ends in before it has called */
export const connect: Connect = async (given, options = {}) => {
  const context = ownContext(options)
  try {
    const called = readCallSettings(context)
    const { reconnect = true, timeoutMs = called.timeoutMs, signal } = options
    const opening = { signal, withinMs: timeoutMs }
    const { holder, caller } = await openPeer(context, { ...called, reconnect, timeoutMs }, given, opening)
    const close = async (): Promise<void> => {
      await caller.finish()
      context.clock.letGo()
    }
    return { holder, ...asking(caller), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    context.clock.letGo()
    throw error
  }
}

function asking(caller: Caller): Pick<Peer, 'tools' | 'call' | 'request'> {
  const ask = async (method: string, params: JsonRecord, more: Parameters<Caller['call']>[2]): Promise<JsonValue> =>
    resultOf(await caller.call(method, modern(params), more))
  return {
    tools: async (more = {}) => (await listTools(caller, more)).tools.map(described),
    call: (tool, args = {}, more = {}) =>
      toolCall((onProgress) => ask('tools/call', { name: tool, arguments: args }, { ...more, onProgress })),
    request: (method, params = {}, more = {}) => ask(method, params, more),
  }
}

/** With what says in which revision of MCP this side speaks. */
function modern(params: JsonRecord): JsonObject {
  const own = params['_meta']
  const meta = MODERN['_meta']
  return {
    ...params,
    _meta: {
      ...(own !== undefined && isJsonObject(own) ? own : {}),
      ...(meta !== undefined && isJsonObject(meta) ? meta : {}),
    },
  }
}

function described(tool: JsonObject): ToolDescription {
  const { name, description, inputSchema, title, outputSchema, annotations } = tool
  const schema = (value: JsonValue | undefined): JsonRecord | undefined =>
    value !== undefined && isJsonObject(value) ? value : undefined
  const [output, hints] = [schema(outputSchema), schema(annotations)]
  return {
    name: typeof name === 'string' ? name : '',
    description: typeof description === 'string' ? description : '',
    ...(typeof title === 'string' ? { title } : {}),
    inputSchema: schema(inputSchema) ?? { type: 'object' },
    ...(output === undefined ? {} : { outputSchema: output }),
    ...(hints === undefined ? {} : { annotations: hints }),
  }
}
