/**
 * What the serving side says, as far as it must be known to find whom it is for.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { type IdText } from '../wire/envelope.ts'
import { SUBSCRIPTION_KEY } from '../wire/subscriptions.ts'

export type Outgoing =
  /** An answer to the request that was sent on under this number; `rest` is all of it from the end of the id. */
  | { readonly kind: 'answer'; readonly hop: number; readonly rest: string }
  /** @see hopToken */
  | { readonly kind: 'progress'; readonly hop: number }
  | { readonly kind: 'notification' }
  | { readonly kind: 'request' }

const ANSWER = /^\{"jsonrpc":"2\.0","id":(\d{1,16})(?=,"(?:result|error)":)/

export function readOutgoing(text: string): Outgoing {
  const match = ANSWER.exec(text)
  if (match !== null) return { kind: 'answer', hop: Number(match[1]), rest: text.slice(match[0].length) }
  const message: unknown = JSON.parse(text)
  if (!isJsonObject(message)) return { kind: 'notification' }
  if (message['method'] !== undefined && message['id'] !== undefined) return { kind: 'request' }
  const { params } = message
  const token =
    message['method'] === 'notifications/progress' && isJsonObject(params) ? params['progressToken'] : undefined
  const hop = token === undefined ? undefined : hopOf(token)
  return hop === undefined ? { kind: 'notification' } : { kind: 'progress', hop }
}

/** The number of the request that began the subscription which the notification belongs to. */
export function subscriptionIn(text: string): number | undefined {
  if (!text.includes(SUBSCRIPTION_KEY)) return undefined
  const message: unknown = JSON.parse(text)
  const params = isJsonObject(message) ? message['params'] : undefined
  const meta = isJsonObject(params) ? params['_meta'] : undefined
  const hop = isJsonObject(meta) ? meta[SUBSCRIPTION_KEY] : undefined
  return typeof hop === 'number' ? hop : undefined
}

export function answerText(id: IdText, rest: string): string {
  return `{"jsonrpc":"2.0","id":${id}${rest}`
}

/** Stands on the way for the token that the host chose, which others may have chosen too. */
export function hopToken(hop: number): string {
  return `${TOKEN_PREFIX}${hop}`
}

const TOKEN_PREFIX = 'http-'

function hopOf(token: JsonValue): number | undefined {
  if (typeof token !== 'string' || !token.startsWith(TOKEN_PREFIX)) return undefined
  const hop = Number(token.slice(TOKEN_PREFIX.length))
  return Number.isSafeInteger(hop) ? hop : undefined
}
