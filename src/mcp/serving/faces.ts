/**
 * One core, two faces: what a tool and its result look like to a peer.
 *
 * The bare face is the original's, byte for byte: a tool is `{description, name}` and a result is the tool's own value.
 * The full face is the one shape that every official client and all five published schemas accept, with the value's
 * members still at the top level. The modern face adds what the stateless era asks of every result.
 *
 * Holds: keys are in alphabetical order, as the original prints them. `structuredContent` is always an object and is
 * never dropped; when an answer is too large, the flattened copy goes first, then the text is shortened.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { isRawInteger } from '../../core/exact-json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { type Tool, type ToolRegistry } from '../tool.ts'
import { reasonOf } from '../wire/rpc-error.ts'
import { shorten } from '../wire/shorten.ts'
import { MODERN_VERSIONS, negotiateVersion, SERVER_INFO_KEY } from '../wire/versions.ts'
import { type UpstreamLink } from './upstream-link.ts'

export type Face = 'bare' | 'full' | 'modern'

export interface ServerInfo {
  readonly name: string
  readonly version: string
  /** The list of tools changes while the link lasts, and its peer is told. */
  readonly listChanges?: true
}

/** What there is beside the agent's own tools. */
export type Beside = Pick<UpstreamLink, 'capabilities' | 'instructions' | 'tools'>

/** Result of `initialize`. */
export function initializeResult(
  requestedVersion: unknown,
  { name, version, listChanges }: ServerInfo,
  beside?: Beside,
): JsonObject {
  const changes = listChanges === true || beside?.tools !== undefined
  return inOrder({
    capabilities: inOrder({ ...beside?.capabilities, tools: changes ? { listChanged: true } : {} }),
    ...(beside?.instructions === undefined ? {} : { instructions: beside.instructions }),
    protocolVersion: negotiateVersion(requestedVersion),
    serverInfo: { name, version },
  })
}

/** Result of `server/discover`. Whoever wants to hear of changes listens for them. */
export function discoverResult(info: ServerInfo, beside?: Beside): JsonObject {
  const kinds = Object.keys(beside?.capabilities ?? {}).filter((kind) => MODERN_KINDS.has(kind))
  const told = info.listChanges === true ? { listChanged: true } : {}
  const capabilities = inOrder({
    ...Object.fromEntries(kinds.map((kind) => [kind, kind === 'completions' ? {} : told])),
    tools: told,
  })
  const instructions = beside?.instructions === undefined ? {} : { instructions: beside.instructions }
  const meta = beside === undefined ? {} : { _meta: { [UPSTREAM_KEY]: true } }
  return dress(
    { capabilities, ...instructions, ...meta, supportedVersions: MODERN_VERSIONS, ...UNCACHED },
    'modern',
    info,
  )
}

/** In `server/discover`: another server stands behind this one, and may ask and tell who says hello. */
export const UPSTREAM_KEY = 'ct-agent/upstream'

const MODERN_KINDS: ReadonlySet<string> = new Set(['resources', 'prompts', 'completions'])

/**
 * Result of `tools/list`, as JSON text: the whole list where it fits, else the page that begins at the cursor, which is
 * the place of a tool.
 */
export function listResultText(registry: ToolRegistry, face: Face, info: ServerInfo, page: Page): string {
  const { list } = registry
  if (face === 'bare') return JSON.stringify({ tools: list.map(({ description, name }) => ({ description, name })) })
  const render = (tools: readonly JsonObject[], more: JsonObject): string =>
    JSON.stringify(dress({ tools, ...more, ...(face === 'modern' ? UNCACHED : {}) }, face, info))
  const start = typeof page.cursor === 'string' && /^\d{1,9}$/.test(page.cursor) ? Number(page.cursor) : 0
  const tools = list.slice(start).map(describeTool)
  const whole = render(tools, {})
  if (fits(whole, page.limitBytes)) return whole
  let end = 0
  for (let bytes = 0; end < tools.length; end += 1) {
    bytes += Buffer.byteLength(JSON.stringify(tools[end])) + 1
    if (end > 0 && bytes > page.limitBytes - PAGE_FRAME_BYTES) break
  }
  return render(tools.slice(0, end), end < tools.length ? { nextCursor: String(start + end) } : {})
}

export interface Page {
  /** As the peer sent it. */
  readonly cursor: JsonValue | undefined
  readonly limitBytes: number
}

/** More than what stands around the tools of a page. */
const PAGE_FRAME_BYTES = 1_024

/** The tools of an agent change only when it restarts, but a list belongs to the peer it was made for. */
export const UNCACHED = { cacheScope: 'private', ttlMs: 0 } as const

function describeTool(tool: Tool): JsonObject {
  if (tool.listed !== undefined) return tool.listed
  const { annotations, description, icons, inputSchema, meta, name, outputSchema, title } = tool
  return {
    ...(meta === undefined ? {} : { _meta: meta }),
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    description,
    ...(icons === undefined ? {} : { icons }),
    inputSchema,
    name,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(title === undefined ? {} : { title }),
  }
}

/**
 * Result of a `tools/call` that succeeded, as JSON text of at most `limitBytes`, or of the smallest size it can have.
 *
 * @throws whatever `JSON.stringify` throws for a value that is no JSON
 */
export function callResultText(value: JsonValue, face: Face, info: ServerInfo, limitBytes: number): string {
  if (face === 'bare') return JSON.stringify(value)
  if (isCallToolResult(value)) return JSON.stringify(dress(value, face, info))
  const structuredContent = isObject(value) ? value : { value }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const render = (shownText: string, flattened: JsonObject): string =>
    JSON.stringify(
      dress(
        { ...flattened, content: [{ text: shownText, type: 'text' }], isError: false, structuredContent },
        face,
        info,
      ),
    )
  const whole = render(text, isObject(value) ? harmless(value) : {})
  if (fits(whole, limitBytes)) return whole
  const unflattened = render(text, {})
  if (fits(unflattened, limitBytes)) return unflattened
  const note = `… [shortened from ${text.length} characters; structuredContent has the whole result]`
  const room = limitBytes - Buffer.byteLength(render(note, {}))
  return render(shorten(text, room) + note, {})
}

/**
 * Result of a `tools/call` whose tool failed, for the faces that show failures to the model.
 *
 * Clients of SDK v1 hold structured content against the tool's output schema even in a failure, so that of a tool that
 * has one stands in `_meta` alone.
 */
export function failureResult(
  error: CtError,
  face: Face,
  info: ServerInfo,
  { extra = {}, hasOutputSchema = false }: { readonly extra?: JsonObject; readonly hasOutputSchema?: boolean } = {},
): JsonObject {
  const facts = { code: error.code, message: error.message, ...reasonOf(error), ...extra }
  return dress(
    {
      content: [{ text: error.message, type: 'text' }],
      isError: true,
      ...(hasOutputSchema ? { _meta: { [ERROR_KEY]: facts } } : { structuredContent: facts }),
    },
    face,
    info,
  )
}

/** Result that says what comes first. */
export function inputRequiredText(asked: JsonObject, info: ServerInfo): string {
  return JSON.stringify(dress(asked, 'modern', info))
}

/** Where the code of a failure stands when it cannot be structured content. */
const ERROR_KEY = 'ct-agent/error'

/** True when the text has at most `limitBytes` bytes of UTF-8. */
export function fits(text: string, limitBytes: number): boolean {
  return text.length * MAX_BYTES_PER_UNIT <= limitBytes || Buffer.byteLength(text) <= limitBytes
}

const MAX_BYTES_PER_UNIT = 3

/** Adds what the face asks of every result and puts the keys in order. */
function dress(result: JsonObject, face: Face, { name, version }: ServerInfo): JsonObject {
  if (face !== 'modern') return inOrder(result)
  const meta = isJsonObject(result['_meta']) ? result['_meta'] : {}
  return inOrder({
    resultType: 'complete',
    ...result,
    _meta: { ...meta, [SERVER_INFO_KEY]: { name, version } },
  })
}

function inOrder(object: JsonObject): JsonObject {
  const names = Object.keys(object)
  if (names.every((name, index) => index === 0 || (names[index - 1] ?? '') < name)) return object
  return Object.fromEntries(Object.entries(object).sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** Members with a meaning of their own in a result: a tool's value must not set them by accident. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set([
  'content',
  'structuredContent',
  'isError',
  '_meta',
  'resultType',
  'task',
  'inputRequests',
  'requestState',
])

function harmless(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !RESULT_MEMBERS.has(key)))
}

/** True for objects in JSON; an integer too large for a number is an object only to the engine. */
function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value) && !isRawInteger(value)
}

const CONTENT_TYPES: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])

/** True for values that already are what clients accept as a result, such as those of a proxied MCP server. */
function isCallToolResult(value: JsonValue): value is JsonObject {
  if (!isObject(value) || !Array.isArray(value['content'])) return false
  const { content, isError, structuredContent, _meta } = value
  return (
    content.every((item: unknown) => isJsonObject(item) && CONTENT_TYPES.has(item['type'])) &&
    (isError === undefined || typeof isError === 'boolean') &&
    (structuredContent === undefined || isObject(structuredContent)) &&
    (_meta === undefined || isObject(_meta))
  )
}
