/**
 * The tools that a wrapped server lists, as they may be listed again.
 *
 * Holds: names differ, and none could be taken for one of the agent's own; a client gets a list that it accepts, whatever
 * the server lists. Everything else is kept to the digit.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { isOwnName } from '../tool.ts'

/** More than any host shows. */
export const MAX_WRAPPED_TOOLS = 5_000
const MAX_NAME_CHARS = 256

export interface WrappedTool {
  readonly name: string
  readonly listed: JsonObject
}

export interface WrappedTools {
  readonly tools: readonly WrappedTool[]
  /** Not served, and why; a name at most once. */
  readonly dropped: ReadonlyMap<string, DropReason>
}

export type DropReason = 'reserved' | 'twice' | 'malformed' | 'too many'

export function readWrappedTools(entries: readonly JsonValue[]): WrappedTools {
  const tools = new Map<string, WrappedTool>()
  const dropped = new Map<string, DropReason>()
  for (const entry of entries) {
    const name = isJsonObject(entry) ? entry['name'] : undefined
    if (!isJsonObject(entry) || typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS) {
      dropped.set('', 'malformed')
    } else if (isOwnName(name)) dropped.set(name, 'reserved')
    else if (tools.has(name)) dropped.set(name, 'twice')
    else if (tools.size >= MAX_WRAPPED_TOOLS) dropped.set('', 'too many')
    else tools.set(name, { name, listed: listedAs(entry) })
  }
  return { tools: [...tools.values()], dropped }
}

/** Without what would lose a client its whole list, and without tasks, which are not handed on. */
function listedAs({ execution: _, ...entry }: JsonObject): JsonObject {
  const kept = Object.entries(entry).filter(([key, value]) => FITS[key]?.(value) !== false)
  const { inputSchema, ...rest } = Object.fromEntries(kept)
  return { ...rest, inputSchema: inputSchema ?? { type: 'object', properties: {} } }
}

const isText = (value: JsonValue): boolean => typeof value === 'string'
const isSchema = (value: JsonValue): boolean => isJsonObject(value) && value['type'] === 'object' && hasParts(value)

/** Members that clients read, and what they read there. */
const FITS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  title: isText,
  description: isText,
  inputSchema: isSchema,
  outputSchema: isSchema,
  annotations: isAnnotations,
  icons: (value) =>
    Array.isArray(value) && value.every((icon) => isJsonObject(icon) && typeof icon['src'] === 'string'),
  _meta: isJsonObject,
}

function hasParts({ properties, required }: JsonObject): boolean {
  return (
    (properties === undefined || (isJsonObject(properties) && Object.values(properties).every(isSubschema))) &&
    (required === undefined || (Array.isArray(required) && required.every((name) => typeof name === 'string')))
  )
}

function isSubschema(value: JsonValue): boolean {
  return isJsonObject(value) || typeof value === 'boolean'
}

function isAnnotations(value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    Object.entries(value).every(([key, hint]) =>
      key === 'title' ? typeof hint === 'string' : !key.endsWith('Hint') || typeof hint === 'boolean',
    )
  )
}
