/**
 * Changing members of JSON text where they stand, so that everything else stays what was sent, to the digit.
 *
 * @module
 */
import { scanObject, skipBlanks, spells } from '../../core/json-scan.ts'

/** The text with the member's value, found by its path through objects, replaced; as it was where there is no such member. */
export function replaceMember(text: string, path: readonly string[], value: string): string {
  let span: Span | undefined = { start: skipBlanks(text, 0), end: text.length }
  for (const name of path) {
    span = text[span.start] === '{' ? memberSpan(text, span.start, name) : undefined
    if (span === undefined) return text
  }
  return text.slice(0, span.start) + value + text.slice(span.end)
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Of several of one name, the one that `JSON.parse` takes. */
function memberSpan(text: string, open: number, name: string): Span | undefined {
  let found: Span | undefined
  scanObject(text, open, (key, start, end) => {
    if (spells(key, name)) found = { start, end }
  })
  return found
}
