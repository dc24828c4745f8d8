/**
 * A tool of the program that imports this one, as the agent serves it.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { type ObjectSchema, type Tool } from '../../mcp/index.ts'
import { type JsonRecord, type OwnTool } from './api.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$/

/** @throws {CtError} `ERR_USAGE` for what peers could not be shown */
export function toolOf({ name, description, title, inputSchema, idempotent = false, call }: OwnTool): Tool {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new CtError('ERR_USAGE', 'expected the name of a tool as up to 128 letters, digits and _ - . /')
  }
  if (typeof call !== 'function')
    throw new CtError('ERR_USAGE', `expected the tool ${name} to have a function \`call\``)
  return {
    name,
    description: description ?? '',
    ...(title === undefined ? {} : { title }),
    inputSchema: schemaOf(name, inputSchema),
    idempotent,
    call: async (args, context) => {
      if (!isJsonObject(args)) throw new CtError('ERR_CALL_INVALID', 'expected `arguments` to be an object')
      const { peer, callId, signal } = context
      return call(args, { peer, callId, signal, progress: (update) => context.progress(update) })
    },
  }
}

function schemaOf(tool: string, schema: JsonRecord = { type: 'object' }): ObjectSchema {
  const { type, properties = {} } = schema
  if (type !== 'object' || !isJsonObject(properties)) {
    throw new CtError('ERR_USAGE', `expected the input schema of ${tool} to be one of an object`)
  }
  const rest: JsonObject = schema
  return { ...rest, type, properties }
}
