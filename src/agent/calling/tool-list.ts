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

/** Pages of a list; whoever has more never ends. */
const MAX_PAGES = 200

/**
 * All pages of the list, and the answers that they came in.
 *
 * @throws {CtError} `ERR_PROTOCOL`, or what the call ended in
 */
export async function listTools(
  caller: Pick<Caller, 'call'>,
  options: Parameters<Caller['call']>[2] = {},
): Promise<{ answers: readonly Answer[]; tools: readonly JsonObject[] }> {
  const answers: Answer[] = []
  const tools: JsonObject[] = []
  let cursor: string | undefined
  do {
    const answer = await caller.call('tools/list', cursor === undefined ? MODERN : { ...MODERN, cursor }, options)
    const result = resultOf(answer)
    answers.push(answer)
    tools.push(...toolsOf(result))
    const next = nextOf(result)
    cursor = next === cursor ? undefined : next
  } while (cursor !== undefined && answers.length < MAX_PAGES)
  return { answers, tools }
}

function nextOf(result: JsonValue): string | undefined {
  const next = isJsonObject(result) ? result['nextCursor'] : undefined
  return typeof next === 'string' ? next : undefined
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
