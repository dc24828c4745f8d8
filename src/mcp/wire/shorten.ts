/**
 * Text cut to fit, by the room it takes inside a JSON string.
 *
 * @module
 */

/** The longest beginning of the text, of whole characters, that takes at most `roomBytes` inside a JSON string. */
export function shorten(text: string, roomBytes: number): string {
  let left = roomBytes
  let end = 0
  while (end < text.length) {
    const point = text.codePointAt(end) ?? 0
    left -= bytesInJson(point)
    if (left < 0) break
    end += point > LAST_OF_ONE_UNIT ? 2 : 1
  }
  return text.slice(0, end)
}

/** Bytes of UTF-8 that a code point takes as `JSON.stringify` writes it. */
function bytesInJson(point: number): number {
  if (point === QUOTE || point === BACKSLASH) return 2
  if (point < FIRST_PRINTABLE) return SHORT_ESCAPES.has(point) ? 2 : LONG_ESCAPE_BYTES
  if (point < 0x80) return 1
  if (point < 0x800) return 2
  if (point > LAST_OF_ONE_UNIT) return 4
  return point >= FIRST_SURROGATE && point <= LAST_SURROGATE ? LONG_ESCAPE_BYTES : 3
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_PRINTABLE = 0x20
/** `\b \t \n \f \r` */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d])
/** `\u0000` */
const LONG_ESCAPE_BYTES = 6
const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff
const LAST_OF_ONE_UNIT = 0xffff
