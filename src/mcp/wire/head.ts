/**
 * What the first bytes of a message too large to read tell about it.
 *
 * Holds: an id is reported only when the whole of it was seen, as a member of the outermost object.
 *
 * @module
 */

import { scanObject, skipBlanks, spells } from '../../core/json-scan.ts'
import { type IdText, MAX_ID_CHARS } from './envelope.ts'

export interface Head {
  /** Absent when it does not stand within the head, or is not a string or an integer. */
  readonly id?: IdText
  /** The message answers something; answering it in turn would never end. */
  readonly isResponse: boolean
}

export function readHead(head: Uint8Array): Head {
  // One character a byte: structure is ASCII, and a character cut in two does no harm.
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
  const open = skipBlanks(text, 0)
  if (text[open] !== '{') return { isResponse: false }
  let id: IdText | undefined
  let isResponse = false
  scanObject(text, open, (key, start, end) => {
    if (spells(key, 'result') || spells(key, 'error')) isResponse = true
    if (spells(key, 'id') && skipBlanks(text, end) < text.length) id = idOf(text.slice(start, end))
  })
  return id === undefined ? { isResponse } : { id, isResponse }
}

/**
 * The head of a message whose id may stand at its end, where common servers write it: then the head of a message that
 * says as much. What ends in `"id":1}` has that id, since nothing but the message itself can end there.
 */
export function headWithId(head: Uint8Array, tail: Uint8Array): Uint8Array {
  if (readHead(head).id !== undefined) return head
  const id = /[,{]\s*"id"\s*:\s*(-?\d+)\s*\}\s*$/.exec(Buffer.from(tail).toString('latin1'))?.[1]
  return id === undefined ? head : Buffer.from(`{"id":${id},"result":`)
}

function idOf(latin1: string): IdText | undefined {
  if (/^-?(0|[1-9]\d*)$/.test(latin1)) return latin1.length > MAX_ID_CHARS ? undefined : latin1
  if (!latin1.startsWith('"')) return undefined
  try {
    const id: unknown = JSON.parse(Buffer.from(latin1, 'latin1').toString('utf8'))
    return typeof id === 'string' && id.length <= MAX_ID_CHARS ? JSON.stringify(id) : undefined
  } catch {
    return undefined
  }
}
