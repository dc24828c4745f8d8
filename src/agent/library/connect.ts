/**
 * `connect`: a peer as an object.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { resultOf } from '../../mcp/index.ts'
import { openCaller } from '../calling/caller.ts'
import { timeLimit } from '../calling/link-source.ts'
import { callerOptions, readCallSettings } from '../calling/peer-way.ts'
import { listTools, MODERN } from '../calling/tool-list.ts'
import { accessPeer } from '../peers/peer-access.ts'
import { type CallOptions, type Connect, type Json, type JsonRecord, type ToolDescription } from './api.ts'
import { ownContext } from './own-context.ts'
import { toolCall } from './tool-call.ts'

/** @throws {CtError} whatever `ct-agent call` ends in before it has called */
export const connect: Connect = async (given, options = {}) => {
  const context = ownContext(options)
  const settings = { ...readCallSettings(context), reconnect: options.reconnect ?? true }
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs
  const { way, proved, keepRenewed } = await accessPeer(context, settings, given)
  const limit = timeLimit(timeoutMs)
  const first = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal])
  const callers = callerOptions(context, way, { ...settings, timeoutMs }, proved)
  const caller = await openCaller(context, callers, first).catch((error: unknown) => {
    context.clock.letGo()
    throw error
  })
  const renewing = keepRenewed(caller)
  const close = async (): Promise<void> => {
    await renewing.stop()
    await caller.finish()
    context.clock.letGo()
  }
  const request = async (method: string, params: JsonRecord = {}, more: CallOptions = {}): Promise<JsonValue> =>
    resultOf(await caller.call(method, modern(params), more))
  return {
    holder: way.holder,
    tools: async (more = {}) => (await listTools(caller, more)).tools.map(described),
    call: (tool, args = {}, more = {}) =>
      toolCall(async (onProgress) =>
        resultOf(await caller.call('tools/call', modern({ name: tool, arguments: args }), { ...more, onProgress })),
      ),
    request: (method, params, more): Promise<Json> => request(method, params, more),
    close,
    [Symbol.asyncDispose]: close,
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
