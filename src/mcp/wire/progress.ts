/**
 * How far a call is, as MCP says it: who asks for it sends a token, and hears of its call under that token.
 *
 * Holds: a token comes back to the digit. What is said of one call only grows, as MCP demands.
 *
 * @module
 */
import { isJsonObject } from '../../core/json.ts'
import { memberText, outerMemberText } from '../../core/json-scan.ts'
import { type IdText, metaOf, type Params, rawNotificationText, readId } from './envelope.ts'

export interface Progress {
  /** How much is done, in any unit; it must grow. */
  readonly progress: number
  /** How much there is to do, in the same unit. */
  readonly total?: number
  /** For people. */
  readonly message?: string
}

/** Longer messages are cut: they are one line of a display. */
const MAX_MESSAGE_CHARS = 4_096
const PROGRESS = 'notifications/progress'

/** The token that the caller sent with its parameters, as JSON text. */
export function progressToken(params: Params, paramsText: () => string): IdText | undefined {
  return readId(metaOf(params)?.['progressToken'], () =>
    memberText(outerMemberText(paramsText(), '_meta') ?? '', 0, 'progressToken'),
  )
}

/** The parameters with a token, in place of one that is there. */
export function withProgressToken(params: Params, token: number): Params {
  if (params !== undefined && !isJsonObject(params)) return params
  return { ...params, _meta: { ...metaOf(params), progressToken: token } }
}

export function progressText(token: IdText, { progress, total, message }: Progress): string {
  const facts = JSON.stringify({ progress, total, message: message?.slice(0, MAX_MESSAGE_CHARS) })
  return rawNotificationText(PROGRESS, `{"progressToken":${token},${facts.slice(1)}`)
}

/** What a notification says of which call, if it is one of progress. */
export function readProgress(
  method: string,
  params: Params,
): { readonly token: number; readonly progress: Progress } | undefined {
  if (method !== PROGRESS || !isJsonObject(params)) return undefined
  const { progressToken: token, progress, total, message } = params
  if (typeof token !== 'number' || typeof progress !== 'number') return undefined
  return {
    token,
    progress: {
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message: message.slice(0, MAX_MESSAGE_CHARS) } : {}),
    },
  }
}
