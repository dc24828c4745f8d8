/**
 * Handing on what another server answered.
 *
 * Holds: a result keeps every character, an error its number, its words and its data. What the newest revision asks of
 * every result is put beside what is there, never in its place.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { readJsonValue } from '../../core/exact-json.ts'
import { type JsonObject } from '../../core/json.ts'
import { memberText, outerMemberText, skipBlanks } from '../../core/json-scan.ts'
import { type Answer, resultTextOf } from '../wire/answer.ts'
import { type Response } from '../wire/envelope.ts'
import { type Relayed } from '../wire/relayed.ts'
import { asRpcError, RPC_INTERNAL_ERROR, type RpcError } from '../wire/rpc-error.ts'
import { UNCACHED } from './faces.ts'

/** What a peer answered. */
export function relayedAnswer(answer: Answer): Relayed {
  if ('result' in answer) return { resultText: resultTextOf(answer) }
  return { error: rpcErrorIn(answer.text) ?? { code: RPC_INTERNAL_ERROR, message: answer.error.message } }
}

/** @param text of the whole message; nothing for one of a batch */
export function relayedResponse({ outcome }: Response, text: string | undefined): Relayed {
  if ('problem' in outcome) throw new CtError('ERR_PROTOCOL', `the peer sent a malformed response (${outcome.problem})`)
  if ('error' in outcome) return { error: (text === undefined ? undefined : rpcErrorIn(text)) ?? outcome.error }
  const exact = text === undefined ? undefined : outerMemberText(text, 'result')
  return { resultText: exact ?? JSON.stringify(outcome.result) }
}

function rpcErrorIn(text: string): RpcError | undefined {
  const error = outerMemberText(text, 'error')
  return error === undefined ? undefined : asRpcError(readJsonValue(error))
}

/** The result with what the newest revision asks of every one. */
export function modernResult(text: string, isCacheable: boolean): string {
  return withMembers(text, { resultType: 'complete', ...(isCacheable ? UNCACHED : {}) })
}

function withMembers(text: string, members: JsonObject): string {
  const open = skipBlanks(text, 0)
  if (text[open] !== '{') return text
  const missing = Object.entries(members).filter(([name]) => memberText(text, open, name) === undefined)
  if (missing.length === 0) return text
  const added = JSON.stringify(Object.fromEntries(missing)).slice(1, -1)
  const rest = text.slice(open + 1)
  return rest[skipBlanks(rest, 0)] === '}' ? `{${added}}` : `{${added},${rest}`
}
