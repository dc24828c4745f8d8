/**
 * How far a call is, as MCP says it: who asks for it sends a token, and hears of its call under that token.
 *
 * Holds: a token comes back to the digit. What is said of one call only grows, as MCP demands.
 *
 * @module
 */
import { isJsonObject } from '../../core/json.ts'
import { memberText, skipBlanks } from '../../core/json-scan.ts'
import { type IdText, MAX_ID_CHARS, type Params } from './envelope.ts'

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
  const meta = params !== undefined && isJsonObject(params) ? params['_meta'] : undefined
  const token = meta !== undefined && isJsonObject(meta) ? meta['progressToken'] : undefined
  if (typeof token === 'string') return token.length > MAX_ID_CHARS ? undefined : JSON.stringify(token)
  if (Number.isSafeInteger(token)) return JSON.stringify(token)
  if (typeof token !== 'number') return undefined
  const text = paramsText()
  const metaText = memberText(text, skipBlanks(text, 0), '_meta') ?? ''
  const digits = memberText(metaText, 0, 'progressToken') ?? ''
  return digits.length <= MAX_ID_CHARS && /^-?\d+$/.test(digits) ? digits : undefined
}

/** The parameters with a token, in place of one that is there. */
export function withProgressToken(params: Params, token: number): Params {
  if (params !== undefined && !isJsonObject(params)) return params
  const meta = params?.['_meta']
  const kept = meta !== undefined && isJsonObject(meta) ? meta : {}
  return { ...params, _meta: { ...kept, progressToken: token } }
}

export function progressText(token: IdText, { progress, total, message }: Progress): string {
  const more = {
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE_CHARS) }),
  }
  return `{"jsonrpc":"2.0","method":"${PROGRESS}","params":{"progressToken":${token},${JSON.stringify({ progress, ...more }).slice(1)}}`
}

/** What a notification says of which call, if it is one of progress. */
export function readProgress(
  method: string,
  params: Params,
): { readonly token: number; readonly progress: Progress } | undefined {
  if (method !== PROGRESS || params === undefined || !isJsonObject(params)) return undefined
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
