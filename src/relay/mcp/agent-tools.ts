/**
 * The capabilities of one agent as tools: their names, and what goes in.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { type CapabilityRow } from '../storage/network-rows.ts'

const MAX_NAME_CHARS = 64
/** Names that begin so are the relay's own. */
const RESERVED = 'chakramcp_'

/**
 * A name for each, in the order of the capabilities' names: dots become underscores, and what is taken has a number.
 *
 * @param capabilities by name
 */
export function toolNames(capabilities: readonly CapabilityRow[]): ReadonlyMap<string, CapabilityRow> {
  const tools = new Map<string, CapabilityRow>()
  for (const capability of capabilities) {
    const plain = capability.name.replaceAll('.', '_').slice(0, MAX_NAME_CHARS)
    const stem = plain.startsWith(RESERVED) ? `_${plain}`.slice(0, MAX_NAME_CHARS) : plain
    let name = stem
    for (let number = 2; tools.has(name); number += 1) {
      name = `${stem.slice(0, MAX_NAME_CHARS - 1 - String(number).length)}_${number}`
    }
    tools.set(name, capability)
  }
  return tools
}

export function describeCapability(name: string, capability: CapabilityRow): JsonObject {
  return {
    name,
    title: capability.name,
    description: capability.description === '' ? capability.name : capability.description,
    inputSchema: argumentsSchema(JSON.parse(capability.input_schema) as JsonValue),
    annotations: { title: capability.name, openWorldHint: true },
  }
}

/** What the arguments of a tool are by the input of its capability: that itself, or a member `input`. */
export function inputOf({ input_schema: schema }: CapabilityRow, args: JsonObject): JsonValue {
  return takesObject(JSON.parse(schema) as JsonValue) ? args : (args['input'] ?? null)
}

function takesObject(schema: JsonValue): boolean {
  return isJsonObject(schema) && schema['type'] === 'object'
}

function argumentsSchema(schema: JsonValue): JsonObject {
  if (!isJsonObject(schema)) {
    // Clients know no schemas that are truth values.
    const input = schema === false ? { not: {} } : {}
    return { type: 'object', properties: { input }, required: ['input'] }
  }
  if (takesObject(schema)) {
    const { $schema: _, ...rest } = schema
    return { ...rest, properties: rest['properties'] ?? {} }
  }
  // What it names has to be found from the new root.
  const { $schema: _, $defs, definitions, ...rest } = schema
  return {
    type: 'object',
    properties: { input: rest },
    required: ['input'],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  }
}
