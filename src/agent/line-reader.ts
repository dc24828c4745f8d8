/**
 * Lines of a byte stream.
 *
 * Holds: only a line feed ends a line, so text with other separators in it stays whole; a line that is too long costs
 * no more memory than the longest that is allowed, and is told from the others.
 *
 * @module
 */
import { decodeUtf8 } from '../core/bytes.ts'
import { CtError } from '../core/errors.ts'

/** The text without its line end, or why there is none. */
export type Line = { readonly text: string } | { readonly problem: CtError }

const LINE_FEED = 0x0a

/** What comes after the last line feed is a line too, unless it is empty. */
export async function* readLines(
  input: AsyncIterable<string | Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line, undefined> {
  let parts: Uint8Array[] = []
  let bytes = 0
  const take = (part: Uint8Array): void => {
    bytes += part.length
    if (bytes <= maxBytes) parts.push(part)
    else parts = []
  }
  const finish = (): Line => {
    const line = bytes > maxBytes ? { problem: tooLong(bytes, maxBytes) } : lineOf(Buffer.concat(parts, bytes))
    parts = []
    bytes = 0
    return line
  }
  for await (const chunk of input) {
    const data = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    let start = 0
    for (let end = data.indexOf(LINE_FEED); end >= 0; end = data.indexOf(LINE_FEED, start)) {
      take(data.subarray(start, end))
      start = end + 1
      yield finish()
    }
    take(data.subarray(start))
  }
  if (bytes > 0) yield finish()
}

function lineOf(bytes: Uint8Array): Line {
  const text = decodeUtf8(bytes)
  return text === undefined ? { problem: new CtError('ERR_CALL_INVALID', 'expected UTF-8 text in the line') } : { text }
}

function tooLong(bytes: number, maxBytes: number): CtError {
  return new CtError('ERR_MESSAGE_TOO_LARGE', `expected a line of at most ${maxBytes} bytes, found ${bytes}`, {
    detail: { bytes, maxBytes },
  })
}
