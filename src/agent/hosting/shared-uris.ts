/**
 * Resources of several peers under names that tell them apart.
 *
 * Holds: `ct-peer://<peer>/<uri>` is the resource `<uri>` of that peer, and nothing else is. Templates stay templates.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../mcp/index.ts'

const SCHEME = 'ct-peer://'

export function sharedUri(label: string, uri: string): string {
  return `${SCHEME}${encodeURIComponent(label)}/${uri}`
}

/** Which peer's, and what it calls it. */
export function readSharedUri(shared: string): { readonly label: string; readonly uri: string } | undefined {
  const slash = shared.indexOf('/', SCHEME.length)
  if (!shared.startsWith(SCHEME) || slash < 0) return undefined
  try {
    return { label: decodeURIComponent(shared.slice(SCHEME.length, slash)), uri: shared.slice(slash + 1) }
  } catch {
    return undefined
  }
}

/** A resource, or a template of some. */
export function sharedEntry(entry: JsonObject, label: string): JsonObject {
  const share = (name: string): JsonObject => {
    const uri = entry[name]
    return typeof uri === 'string' ? { [name]: sharedUri(label, uri) } : {}
  }
  return { ...entry, ...share('uri'), ...share('uriTemplate') }
}

/** Of a result of a tool: what its content refers to. */
export function sharedContent(result: JsonValue, label: string): JsonValue {
  if (!isJsonObject(result) || !Array.isArray(result['content'])) return result
  return { ...result, content: (result['content'] as readonly JsonValue[]).map((item) => sharedItem(item, label)) }
}

/** Of a prompt. */
export function sharedMessages(result: JsonObject, label: string): JsonObject {
  const { messages } = result
  if (!Array.isArray(messages)) return result
  return {
    ...result,
    messages: (messages as readonly JsonValue[]).map((message) =>
      isJsonObject(message) && message['content'] !== undefined
        ? { ...message, content: sharedItem(message['content'], label) }
        : message,
    ),
  }
}

/** Of a resource that was read. */
export function sharedContents(result: JsonObject, label: string): JsonObject {
  const { contents } = result
  if (!Array.isArray(contents)) return result
  const shared = (contents as readonly JsonValue[]).map((item) =>
    isJsonObject(item) ? sharedEntry(item, label) : item,
  )
  return { ...result, contents: shared }
}

function sharedItem(item: JsonValue, label: string): JsonValue {
  if (!isJsonObject(item)) return item
  if (item['type'] === 'resource_link') return sharedEntry(item, label)
  const { resource } = item
  if (item['type'] !== 'resource' || !isJsonObject(resource)) return item
  return { ...item, resource: sharedEntry(resource, label) }
}
