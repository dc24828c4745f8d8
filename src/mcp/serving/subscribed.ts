/**
 * Which resources a link wants to be told of.
 *
 * @module
 */
import { isJsonObject } from '../../core/json.ts'

/** The resource that a notification is about; none that it could be when it names none. */
export function uriIn(params: string): string {
  const value: unknown = JSON.parse(params)
  const uri = isJsonObject(value) ? value['uri'] : undefined
  return typeof uri === 'string' ? uri : ''
}

/** A part of what was subscribed to counts as that. */
export function isAbout(uri: string, subscriptions: ReadonlySet<string>): boolean {
  if (subscriptions.has(uri)) return true
  return [...subscriptions].some((whole) => uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`))
}
