/**
 * The parameters of a request as another server gets them.
 *
 * Holds: what is about this hop alone stays here: the token of the caller's progress, what the newest revision says of
 * the caller in every request, and tasks, which are not handed on. No integer loses a digit.
 *
 * @module
 */
import { readJsonValue } from '../../core/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'

const OWN_PREFIX = 'io.modelcontextprotocol/'

/** By name; those by position are the caller's to name. @param text JSON */
export function handedParams(text: string): JsonObject {
  const value = readJsonValue(text)
  if (!isJsonObject(value)) return {}
  const { _meta: meta, task: _, ...params } = value
  if (!isJsonObject(meta)) return params
  const kept = Object.entries(meta).filter(([key]) => !key.startsWith(OWN_PREFIX))
  return kept.length === 0 ? params : { ...params, _meta: Object.fromEntries(kept) }
}
