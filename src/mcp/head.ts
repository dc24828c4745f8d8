/**
 * What the first bytes of a message too large to read tell about it.
 *
 * Holds: an id is reported only when the whole of it was seen, as a member of the outermost object.
 *
 * @module
 */
import { type IdText } from './envelope.ts'
import { endOfString } from './json.ts'

export interface Head {
  /** Absent when it does not stand within the head, or is not a string or an integer. */
  readonly id?: IdText
  /** The message answers something; answering it in turn would never end. */
  readonly isResponse: boolean
}

export function readHead(head: Uint8Array): Head {
  // One character a byte: structure is ASCII, and a character cut in two does no harm.
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
  let id: IdText | undefined
  let isResponse = false
  let at = skipBlanks(text, 0)
  if (text[at] !== '{') return { isResponse }
  do {
    const key = skipBlanks(text, at + 1)
    if (text[key] !== '"') break
    const colon = skipBlanks(text, endOfString(text, key) + 1)
    if (text[colon] !== ':') break
    const start = skipBlanks(text, colon + 1)
    const end = endOfValue(text, start)
    const name = text.slice(key + 1, endOfString(text, key))
    if (name === 'result' || name === 'error') isResponse = true
    at = skipBlanks(text, end)
    if (name === 'id' && at < text.length) id = idOf(text.slice(start, end))
  } while (text[at] === ',')
  return id === undefined ? { isResponse } : { id, isResponse }
}

function idOf(latin1: string): IdText | undefined {
  if (/^-?(0|[1-9]\d*)$/.test(latin1)) return latin1
  if (!latin1.startsWith('"')) return undefined
  try {
    const id: unknown = JSON.parse(Buffer.from(latin1, 'latin1').toString('utf8'))
    return JSON.stringify(id)
  } catch {
    return undefined
  }
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (isBlank(text[at])) at += 1
  return at
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t'
}

/** Index after the value that starts at `start`; the text's length when it is cut off. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') {
      at = endOfString(text, at)
      if (depth === 0) return Math.min(at + 1, text.length)
    } else if (character === '{' || character === '[') {
      depth += 1
    } else if (character === '}' || character === ']') {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (character === ',' || isBlank(character))) {
      return at
    }
  }
  return text.length
}
