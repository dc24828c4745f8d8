/**
 * Images, sounds and files in the result of a tool, on their way to disk. Pure but for what it is handed.
 *
 * Holds: no name of a file has anything in it that a peer sent. What cannot be decoded stays where it was.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'

/** Keeps the bytes and returns where; the ending is that of a file, without a dot. */
export type Keep = (bytes: Uint8Array, ending: string) => string

/** The result with the path of a file in `file` where it had bytes; the very same where it had none. */
export function keepBinaries(result: JsonValue, keep: Keep): { readonly result: JsonValue; readonly kept: number } {
  const content = isJsonObject(result) ? result['content'] : undefined
  if (!isJsonObject(result) || !Array.isArray(content)) return { result, kept: 0 }
  let kept = 0
  const counting: Keep = (bytes, ending) => {
    kept += 1
    return keep(bytes, ending)
  }
  const blocks = content.map((block: JsonValue) => (isJsonObject(block) ? keptBlock(block, counting) : block))
  return kept === 0 ? { result, kept } : { result: { ...result, content: blocks }, kept }
}

function keptBlock(block: JsonObject, keep: Keep): JsonObject {
  const { type, resource } = block
  if (type === 'image' || type === 'audio') return withoutBytes(block, 'data', keep)
  if (type !== 'resource' || resource === undefined || !isJsonObject(resource)) return block
  const bare = withoutBytes(resource, 'blob', keep)
  return bare === resource ? block : { ...block, resource: bare }
}

function withoutBytes(holder: JsonObject, member: 'data' | 'blob', keep: Keep): JsonObject {
  const { [member]: text, ...rest } = holder
  if (typeof text !== 'string' || !BASE64.test(text)) return holder
  return { ...rest, file: keep(Buffer.from(text, 'base64'), endingOf(holder['mimeType'])) }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function endingOf(mimeType: JsonValue | undefined): string {
  const type = typeof mimeType === 'string' ? (mimeType.toLowerCase().split(';')[0]?.trim() ?? '') : ''
  return ENDINGS.get(type) ?? 'bin'
}

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/avif', 'avif'],
  ['image/bmp', 'bmp'],
  ['image/tiff', 'tiff'],
  ['image/svg+xml', 'svg'],
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/ogg', 'ogg'],
  ['audio/flac', 'flac'],
  ['audio/mp4', 'm4a'],
  ['audio/webm', 'webm'],
  ['video/mp4', 'mp4'],
  ['video/webm', 'webm'],
  ['application/pdf', 'pdf'],
  ['application/zip', 'zip'],
  ['application/gzip', 'gz'],
  ['application/json', 'json'],
  ['text/plain', 'txt'],
  ['text/csv', 'csv'],
])
