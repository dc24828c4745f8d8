/**
 * The tools that a peer lists.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { VERSION } from '../../core/version.ts'
import {
  type Answer,
  CLIENT_CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  MODERN_VERSIONS,
  resultOf,
  VERSION_KEY,
} from '../../mcp/index.ts'
import { type Caller } from './caller.ts'

/** @throws {CtError} `ERR_PROTOCOL`, or what the call ended in */
export async function listTools(caller: Caller): Promise<{ answer: Answer; tools: readonly JsonObject[] }> {
  const answer = await caller.call('tools/list', MODERN)
  return { answer, tools: toolsOf(resultOf(answer)) }
}

/** Lets one request say who asks and in which revision: a list then comes with schemas, a refusal with its reason. */
export const MODERN: JsonObject = {
  _meta: {
    [VERSION_KEY]: MODERN_VERSIONS[0],
    [CLIENT_CAPABILITIES_KEY]: {},
    [CLIENT_INFO_KEY]: { name: 'ct-agent', version: VERSION },
  },
}

function toolsOf(result: JsonValue): readonly JsonObject[] {
  const list = isJsonObject(result) ? result['tools'] : undefined
  if (Array.isArray(list) && list.every(isJsonObject)) return list
  throw new CtError('ERR_PROTOCOL', 'expected a list of tools, found something else')
}
