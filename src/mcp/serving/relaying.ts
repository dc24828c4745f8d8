/**
 * Handing on what another server answered.
 *
 * Holds: a result keeps every character, an error its number, its words and its data. What the newest revision asks of
 * every result is put beside what is there, never in its place.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { parseIntegersExactly, toJsonValue } from '../../core/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { memberText, skipBlanks } from '../../core/json-scan.ts'
import { type Answer, resultTextOf } from '../wire/answer.ts'
import { type Response } from '../wire/envelope.ts'
import { type Relayed } from '../wire/relayed.ts'
import { RPC_INTERNAL_ERROR, type RpcError } from '../wire/rpc-error.ts'

/** What a peer answered. */
export function relayedAnswer(answer: Answer): Relayed {
  if ('result' in answer) return { resultText: resultTextOf(answer) }
  return { error: rpcErrorIn(answer.text) ?? { code: RPC_INTERNAL_ERROR, message: answer.error.message } }
}

/** @param text of the whole message; nothing for one of a batch */
export function relayedResponse({ outcome }: Response, text: string | undefined): Relayed {
  if ('problem' in outcome) throw new CtError('ERR_PROTOCOL', `the peer sent a malformed response (${outcome.problem})`)
  if ('error' in outcome) return { error: (text === undefined ? undefined : rpcErrorIn(text)) ?? outcome.error }
  const exact = text === undefined ? undefined : memberText(text, skipBlanks(text, 0), 'result')
  return { resultText: exact ?? JSON.stringify(outcome.result) }
}

function rpcErrorIn(text: string): RpcError | undefined {
  const errorText = memberText(text, skipBlanks(text, 0), 'error')
  if (errorText === undefined) return undefined
  const error = toJsonValue(parseIntegersExactly(errorText))
  if (!isJsonObject(error)) return undefined
  const { code, message, data } = error
  if (typeof code !== 'number' || typeof message !== 'string') return undefined
  return data === undefined ? { code, message } : { code, message, data }
}

/** The result with what the newest revision asks of every one. */
export function modernResult(text: string, isCacheable: boolean): string {
  return withMembers(text, {
    resultType: 'complete',
    ...(isCacheable ? { cacheScope: 'private', ttlMs: 0 } : {}),
  })
}

function withMembers(text: string, members: JsonObject): string {
  const open = skipBlanks(text, 0)
  if (text[open] !== '{') return text
  const missing = Object.entries(members).filter(([name]) => memberText(text, open, name) === undefined)
  if (missing.length === 0) return text
  const added = JSON.stringify(Object.fromEntries(missing)).slice(1, -1)
  const rest = text.slice(open + 1)
  return skipBlanks(rest, 0) < rest.length && rest[skipBlanks(rest, 0)] === '}' ? `{${added}}` : `{${added},${rest}`
}
