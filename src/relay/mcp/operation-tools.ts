/**
 * The relay's operations as tools of MCP.
 *
 * Holds: what an operation refuses is a result that says so, with its code; errors of JSON-RPC are for requests that are
 * none. Results are objects to clients that take nothing else: a list stands in `items`.
 *
 * @module
 */
import { z } from 'zod'
import { type JsonObject, type JsonValue } from '../../core/json.ts'
import { type Caller } from '../identity/caller.ts'
import { type Asked, type Operation } from '../operation.ts'
import { perform } from '../perform.ts'
import { type Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'

/** One request of MCP. */
export interface ToolCall {
  readonly relay: RelayContext
  readonly caller: Caller | undefined
  readonly asked: Asked
  readonly asRefusal: (error: unknown) => Refusal
}

export function describeTool({ name, about, tool, input }: Operation): JsonObject {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  return {
    name,
    ...(tool === undefined ? {} : { title: tool.title }),
    description: about,
    inputSchema: inputSchema as JsonObject,
    annotations: {
      ...(tool === undefined ? {} : { title: tool.title }),
      readOnlyHint: tool?.readOnly === true,
      destructiveHint: tool?.destructive === true,
      openWorldHint: false,
    },
  }
}

export async function callOperation(
  operation: Operation,
  { relay, caller, asked, asRefusal }: ToolCall,
  args: JsonObject,
): Promise<JsonObject> {
  try {
    const value = (await perform(operation, relay, caller, args, asked)) as JsonValue
    const result = resultOf(value, operation.tool?.note?.(value))
    return asked.meta.size === 0 ? result : { ...result, _meta: Object.fromEntries(asked.meta) }
  } catch (error) {
    return refusedResult(asRefusal(error), asked.headers)
  }
}

/** @param note said after the JSON, for people and models */
export function resultOf(value: JsonValue, note?: string): JsonObject {
  const text = JSON.stringify(value, null, 2)
  const structuredContent =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { items: value }
  return {
    content: [{ type: 'text', text: note === undefined ? text : `${text}\n${note}` }],
    isError: false,
    structuredContent: structuredContent as JsonObject,
  }
}

/** Of the headers of a refusal, those are set that say when to come again. */
export function refusedResult(refusal: Refusal, headers: Headers): JsonObject {
  for (const [name, value] of Object.entries(refusal.headers)) {
    if (name.toLowerCase() !== 'www-authenticate') headers.set(name, value)
  }
  const { error } = refusal.body as { readonly error: JsonObject }
  return { content: [{ type: 'text', text: refusal.message }], isError: true, structuredContent: error }
}
