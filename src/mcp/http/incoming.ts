/**
 * What a host posts: one message or a batch, each with its text, so that it can be sent on as it came.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { skipBlanks, startsOfElements } from '../../core/json-scan.ts'
import { MAX_BATCH_MEMBERS, type Params, type Request, readEnvelopeText, type Single } from '../wire/envelope.ts'
import { invalidRequest } from '../wire/rpc-error.ts'
import { replaceMember } from './member-edits.ts'
import { progressToken } from './outgoing.ts'

export interface Member {
  readonly single: Single
  readonly text: string
}

export interface Posted {
  readonly members: readonly Member[]
  readonly isBatch: boolean
}

export function readPosted(text: string): Posted {
  const envelope = readEnvelopeText(text)
  if (envelope.kind !== 'batch') return { members: [{ single: envelope, text }], isBatch: false }
  const open = skipBlanks(text, 0)
  const starts = startsOfElements(text, open, MAX_BATCH_MEMBERS)
  const end = text.lastIndexOf(']')
  const members = envelope.members.map((single, index) => {
    const next = starts[index + 1]
    const part = text.slice(starts[index], next ?? end).trimEnd()
    return { single: alone(single), text: next === undefined ? part : part.slice(0, -1) }
  })
  return { members, isBatch: true }
}

/** What may not stand in a batch is answered, not carried out. */
function alone(single: Single): Single {
  if (single.kind !== 'request' || single.method !== 'initialize') return single
  const error = invalidRequest('expected `initialize` to be sent alone, found it in a batch')
  return { kind: 'invalid', id: single.id, error }
}

/** The request under a number that is used once; so is its progress token, if it has one. */
export function renumbered(text: string, request: Request, hop: number): { text: string; token?: JsonValue } {
  const numbered = replaceMember(text, ['id'], String(hop))
  const token = tokenOf(request.params)
  if (token === undefined) return { text: numbered }
  const fresh = JSON.stringify(progressToken(hop))
  return { text: replaceMember(numbered, ['params', '_meta', 'progressToken'], fresh), token }
}

function tokenOf(params: Params): string | number | undefined {
  if (params === undefined || !isJsonObject(params) || !isJsonObject(params['_meta'])) return undefined
  const token = params['_meta']['progressToken']
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}
