/**
 * `ct-agent tools`: what a peer serves.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { escapeUnprintable, printable } from '../../core/printable.ts'
import { VERSION } from '../../core/version.ts'
import {
  CLIENT_CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MODERN_VERSIONS,
  resultOf,
  VERSION_KEY,
} from '../../mcp/index.ts'
import { type Context } from '../command.ts'
import { withPeer } from '../peer-call.ts'
import { printResult } from '../result.ts'
import { takeTicket } from '../ticket-source.ts'

export async function tools(context: Context): Promise<number> {
  const { io, switches } = context
  const { ticket } = await takeTicket(context, 0)
  const list = await withPeer(context, ticket, async (caller) =>
    toolsOf(resultOf(await caller.call('tools/list', SELF))),
  )
  await printResult(io, switches.has('json') ? escapeUnprintable(JSON.stringify(list)) : table(list))
  return 0
}

/** One request that says who asks and in which revision, so that the list comes with schemas. */
const SELF: JsonObject = {
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

function table(list: readonly JsonObject[]): string {
  const rows = list.map(
    ({ name, description }) => [plain(name, MAX_NAME_CHARS), plain(description, MAX_DESCRIPTION_CHARS)] as const,
  )
  const width = rows.reduce((widest, [name]) => Math.max(widest, name.length), 0)
  return rows.map(([name, description]) => `${name.padEnd(width)}  ${description}`.trimEnd()).join('\n')
}

// A peer's words on a terminal: one line each, of bounded length. With --json the whole of them is there.
function plain(value: unknown, maxChars: number): string {
  return typeof value === 'string' ? printable(value, maxChars) : ''
}

const MAX_NAME_CHARS = 256
const MAX_DESCRIPTION_CHARS = 2_000
