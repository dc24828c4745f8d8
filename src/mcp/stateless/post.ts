/**
 * What was posted, checked as its revision wants it, and the answer as text.
 *
 * Holds: each request has exactly one answer, under the id it was sent with to the digit.
 *
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { isJsonType, readAccept } from '../http/media.ts'
import { checkModern, checkModernNotification, claimsModern, namesModern, statusOf } from '../http/modern.ts'
import {
  batched,
  errorText,
  type IdText,
  NO_ID,
  type Params,
  readEnvelopeText,
  resultText,
  type Single,
} from '../wire/envelope.ts'
import { invalidRequest, RPC_INVALID_PARAMS, type RpcError } from '../wire/rpc-error.ts'

export interface Asked {
  readonly id: IdText
  readonly method: string
  readonly params: JsonObject
  readonly isModern: boolean
}

export type Posted =
  | { readonly kind: 'refused'; readonly status: number; readonly text: string }
  /** There is nothing to answer. */
  | { readonly kind: 'taken' }
  /** Texts are answers already. */
  | { readonly kind: 'asked'; readonly members: readonly (Asked | string)[]; readonly isBatch: boolean }

type Header = (name: string) => string | undefined

export function readPost(text: string, header: Header): Posted {
  if (!isJsonType(header('content-type'))) {
    return refused(415, invalidRequest('expected `Content-Type` to be application/json'))
  }
  const accepts = readAccept(header('accept'))
  if (!accepts.json && !accepts.events) {
    return refused(406, invalidRequest('expected `Accept` to have application/json'))
  }
  const envelope = readEnvelopeText(text)
  if (envelope.kind === 'batch') {
    if (namesModern(header)) return refused(400, invalidRequest('expected one request in a POST of this revision'))
    const members = envelope.members.map(batched).flatMap(memberOf)
    return members.length === 0 ? { kind: 'taken' } : { kind: 'asked', members, isBatch: true }
  }
  if (envelope.kind === 'invalid') return refused(400, envelope.error, envelope.id)
  if (envelope.kind === 'response') return { kind: 'taken' }
  const isModern = claimsModern(envelope.params) || (namesModern(header) && envelope.method !== 'initialize')
  if (envelope.kind === 'notification') {
    const error = isModern ? checkModernNotification(envelope, header) : undefined
    return error === undefined ? { kind: 'taken' } : refused(400, error)
  }
  const error = isModern ? checkModern(envelope, header) : undefined
  if (error !== undefined) return refused(400, error, envelope.id)
  return { kind: 'asked', members: memberOf(envelope).map((member) => inEra(member, isModern)), isBatch: false }
}

function memberOf(single: Single): (Asked | string)[] {
  if (single.kind === 'invalid') return [errorText(single.id, single.error)]
  if (single.kind !== 'request') return []
  const { id, method } = single
  const params = byName(single.params)
  if (params === undefined) {
    return [errorText(id, { code: RPC_INVALID_PARAMS, message: 'expected `params` to be an object' })]
  }
  return [{ id, method, params, isModern: false }]
}

function inEra(member: Asked | string, isModern: boolean): Asked | string {
  return typeof member === 'string' ? member : { ...member, isModern }
}

function byName(params: Params): JsonObject | undefined {
  if (params === undefined) return {}
  return isJsonObject(params) ? params : undefined
}

function refused(status: number, error: RpcError, id: IdText = NO_ID): Posted {
  return { kind: 'refused', status, text: errorText(id, error) }
}

export interface Answer {
  /** Of HTTP. */
  readonly status: number
  readonly text: string
}

export function answerResult({ id }: Asked, result: JsonObject): string {
  return resultText(id, JSON.stringify(result))
}

export function answerError({ id }: Asked, code: number, message: string): string {
  return errorText(id, { code, message })
}

/** The body of the answer to a POST. Errors of the protocol itself are also said in HTTP by the newest revision. */
export function answerPosted(
  { isBatch, members }: Extract<Posted, { kind: 'asked' }>,
  answers: readonly string[],
): Answer {
  const [only = ''] = answers
  if (isBatch) return { status: 200, text: `[${answers.join(',')}]` }
  const [member] = members
  return { status: typeof member === 'object' && member.isModern ? statusOf(only) : 200, text: only }
}
