/**
 * What a host posts: one message or a batch, each with its text, so that it can be sent on as it came.
 *
 * @module
 */
import { skipBlanks, startsOfElements } from '../../core/json-scan.ts'
import {
  batched,
  type IdText,
  MAX_BATCH_MEMBERS,
  type Request,
  readEnvelopeText,
  type Single,
} from '../wire/envelope.ts'
import { progressToken } from '../wire/progress.ts'
import { replaceMember } from './member-edits.ts'
import { hopToken } from './outgoing.ts'

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
    return { single: batched(single), text: next === undefined ? part : part.slice(0, -1) }
  })
  return { members, isBatch: true }
}

/** The request under a number that is used once; so is its progress token, if it has one. */
export function renumbered(text: string, request: Request, hop: number): { text: string; token?: IdText } {
  const numbered = replaceMember(text, ['id'], String(hop))
  const token = progressToken(request.params, () => request.source('params') ?? '')
  if (token === undefined) return { text: numbered }
  const fresh = JSON.stringify(hopToken(hop))
  return { text: replaceMember(numbered, ['params', '_meta', 'progressToken'], fresh), token }
}
