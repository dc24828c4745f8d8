/**
 * Where the members of objects and arrays stand in JSON text, found without reading their values.
 *
 * Holds: a scan looks at every character at most once and never recurses. It takes valid text, or the beginning of it;
 * of other text it makes something, but it always ends.
 *
 * @module
 */
import { endOfString } from './json.ts'

/** @param key as it stands in the text, without its quotes; `end` is the text's length when the value is cut off */
export type VisitMember = (key: string, start: number, end: number) => void

/** Visits the members of the object that opens at `open`. */
export function scanObject(text: string, open: number, visit: VisitMember): void {
  let at = open
  do {
    const quote = skipBlanks(text, at + 1)
    if (text.charCodeAt(quote) !== QUOTE) return
    const endOfKey = endOfString(text, quote)
    const colon = skipBlanks(text, endOfKey + 1)
    if (text.charCodeAt(colon) !== COLON) return
    const start = skipBlanks(text, colon + 1)
    const end = endOfValue(text, start)
    visit(text.slice(quote + 1, endOfKey), start, end)
    at = skipBlanks(text, end)
  } while (text.charCodeAt(at) === COMMA)
}

/** Where the elements of the array that opens at `open` start. */
export function startsOfElements(text: string, open: number): number[] {
  const starts: number[] = []
  let at = open
  do {
    const start = skipBlanks(text, at + 1)
    starts.push(start)
    at = skipBlanks(text, endOfValue(text, start))
  } while (text.charCodeAt(at) === COMMA)
  return starts
}

export function skipBlanks(text: string, start: number): number {
  let at = start
  while (isBlank(text.charCodeAt(at))) at += 1
  return at
}

/** Index after the value that starts at `start`; the text's length when it is cut off. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (depth === 0) return Math.min(at + 1, text.length)
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (code === COMMA || isBlank(code))) {
      return at
    }
  }
  return text.length
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
