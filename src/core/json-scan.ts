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

/** Text of the member's value in the object that opens at `open`; of several, the one that `JSON.parse` takes. */
export function memberText(text: string, open: number, name: string): string | undefined {
  let found: string | undefined
  scanObject(text, open, (key, start, end) => {
    if (spells(key, name)) found = text.slice(start, end)
  })
  return found
}

/** Text of the member's value in the object that the text is. */
export function outerMemberText(text: string, name: string): string | undefined {
  return memberText(text, skipBlanks(text, 0), name)
}

/** True when the key, as it stands in the text, means this name of letters and digits alone. */
export function spells(key: string, name: string): boolean {
  if (key === name) return true
  if (key.length <= name.length || key.length > ESCAPE_CHARS * name.length || !key.includes('\\')) return false
  // Whatever else is escaped is neither letter nor digit, and keeps its backslash here.
  return key.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))) === name
}

/** `\u0069` */
const ESCAPE_CHARS = 6

/** Where the first elements of the array that opens at `open` start, at most so many. */
export function startsOfElements(text: string, open: number, atMost: number): number[] {
  const starts: number[] = []
  let at = open
  do {
    const start = skipBlanks(text, at + 1)
    starts.push(start)
    at = skipBlanks(text, endOfValue(text, start))
  } while (text.charCodeAt(at) === COMMA && starts.length < atMost)
  return starts
}

/** Text of the element at the index in the array that opens at `open`, which has at least so many. */
export function elementText(text: string, open: number, index: number): string {
  const start = startsOfElements(text, open, index + 1)[index] ?? text.length
  return text.slice(start, endOfValue(text, start))
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
