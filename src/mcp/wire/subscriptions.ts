/**
 * News that a client of the newest revision asks for: of lists that changed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 * @module
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { type IdText, type Params, rawNotificationText } from './envelope.ts'

export const LISTEN_METHOD = 'subscriptions/listen'
/** In `_meta` of all that is said in one subscription: the id of the request that began it. */
export const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId'

/** What may be listened to, by its name in the filter, and how it is told. */
const LISTS = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
} as const

export type ListNews = (typeof LISTS)[keyof typeof LISTS]

/** Of the filter what is told here; undefined where there is no filter. Single resources are not listened to. */
export function readFilter(params: Params): JsonObject | undefined {
  const filter = isJsonObject(params) ? params['notifications'] : undefined
  if (!isJsonObject(filter)) return undefined
  return Object.fromEntries(Object.keys(LISTS).flatMap((name) => (filter[name] === true ? [[name, true]] : [])))
}

export function newsIn(filter: JsonObject): ReadonlySet<ListNews> {
  return new Set(Object.entries(LISTS).flatMap(([name, news]) => (filter[name] === true ? [news] : [])))
}

export function acknowledgedText(id: IdText, filter: JsonObject): string {
  return stamped('notifications/subscriptions/acknowledged', id, { notifications: filter })
}

export function newsText(id: IdText, news: ListNews): string {
  return stamped(news, id, {})
}

/** The id is written as it was sent, to the digit. */
function stamped(method: string, id: IdText, params: JsonObject): string {
  const rest = JSON.stringify(params).slice(1, -1)
  const meta = `"_meta":{${JSON.stringify(SUBSCRIPTION_KEY)}:${id}}`
  return rawNotificationText(method, `{${meta}${rest === '' ? '' : `,${rest}`}}`)
}
