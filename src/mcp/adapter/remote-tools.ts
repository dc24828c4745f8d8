/**
 * The tools of a peer, as a host is shown them.
 *
 * Holds: whatever a peer lists, a host gets a list that it accepts: tools that are none are left out, schemas that would
 * lose a host its whole list are replaced by one that allows any object. The real name is always there.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { printable } from '../../core/printable.ts'
import { type CallContext, type ObjectSchema, type Tool, type ToolAnnotations } from '../tool.ts'
import { type InputRequired } from '../wire/input-required.ts'

export interface RemoteTool {
  readonly name: string
  readonly description: string
  readonly title: string | undefined
  readonly inputSchema: ObjectSchema
  readonly annotations: ToolAnnotations | undefined
  readonly outputSchema?: ObjectSchema
  readonly icons?: readonly JsonObject[]
  readonly meta?: JsonObject
}

/** More than any agent serves and any host shows. */
export const MAX_REMOTE_TOOLS = 5_000
const MAX_NAME_CHARS = 256
const MAX_DESCRIPTION_CHARS = 16_384

/** Those that can be shown; how many entries were none. */
export function readRemoteTools(list: readonly JsonValue[]): {
  readonly tools: readonly RemoteTool[]
  readonly dropped: number
} {
  const tools = new Map<string, RemoteTool>()
  for (const entry of list.slice(0, MAX_REMOTE_TOOLS)) {
    const tool = readRemoteTool(entry)
    if (tool !== undefined && !tools.has(tool.name)) tools.set(tool.name, tool)
  }
  return { tools: [...tools.values()], dropped: list.length - tools.size }
}

function readRemoteTool(entry: JsonValue): RemoteTool | undefined {
  if (!isJsonObject(entry)) return undefined
  const { name, description, title, inputSchema, annotations, outputSchema, icons, _meta: meta } = entry
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS) return undefined
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION_CHARS) : '',
    title: typeof title === 'string' && title !== '' ? printable(title, MAX_NAME_CHARS) : undefined,
    inputSchema: schemaOf(inputSchema),
    annotations: annotationsOf(annotations),
    ...(isSchema(outputSchema) ? { outputSchema: schemaOf(outputSchema) } : {}),
    ...(isIcons(icons) ? { icons } : {}),
    ...(isJsonObject(meta) ? { meta } : {}),
  }
}

function isSchema(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && schema['type'] === 'object'
}

function isIcons(icons: JsonValue | undefined): icons is readonly JsonObject[] {
  return Array.isArray(icons) && icons.every((icon) => isJsonObject(icon) && typeof icon['src'] === 'string')
}

/** Hosts insist on an object at the root, and some on `properties`. */
function schemaOf(schema: JsonValue | undefined): ObjectSchema {
  if (!isJsonObject(schema) || schema['type'] !== 'object') return ANY_OBJECT
  const { properties } = schema
  return {
    ...schema,
    type: 'object',
    properties: isJsonObject(properties) ? properties : {},
  }
}

const ANY_OBJECT: ObjectSchema = { type: 'object', properties: {} }

function annotationsOf(value: JsonValue | undefined): ToolAnnotations | undefined {
  if (!isJsonObject(value)) return undefined
  const hints = HINTS.flatMap((hint) => (typeof value[hint] === 'boolean' ? [[hint, value[hint]] as const] : []))
  const title = typeof value['title'] === 'string' ? { title: printable(value['title'], MAX_NAME_CHARS) } : {}
  return { ...title, ...Object.fromEntries(hints) }
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** Where the real name stands for programs. */
const REAL_NAME_KEY = 'ct-agent/name'

/** Calls the tool of the peer by its real name. */
export type CallRemote = (name: string, context: CallContext) => Promise<JsonValue | InputRequired>

export function proxyTool(alias: string, tool: RemoteTool, call: CallRemote): Tool {
  const { name, description, inputSchema, annotations, outputSchema, icons } = tool
  const title = tool.title ?? (alias === name ? undefined : name)
  const meta: JsonObject = { ...tool.meta, [REAL_NAME_KEY]: name }
  return {
    name: alias,
    description,
    ...(title === undefined ? {} : { title }),
    meta,
    inputSchema,
    ...(annotations === undefined ? {} : { annotations }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(icons === undefined ? {} : { icons }),
    idempotent: false,
    call: (_, context) => call(name, context),
  }
}
