/**
 * Lines of a byte stream, as text.
 *
 * @module
 */
import { decodeUtf8 } from '../core/bytes.ts'
import { CtError } from '../core/errors.ts'
import { LineSplitter } from '../core/lines.ts'

/** The text without its line end, or why there is none. */
export type Line = { readonly text: string } | { readonly problem: CtError }

/** What comes after the last line feed is a line too, unless it is empty. */
export async function* readLines(
  input: AsyncIterable<string | Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line, undefined> {
  const found: Line[] = []
  const lines = new LineSplitter(maxBytes, {
    line: (bytes) => found.push(lineOf(bytes)),
    tooLong: ({ totalBytes }) => found.push({ problem: tooLong(totalBytes, maxBytes) }),
  })
  for await (const chunk of input) {
    lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    yield* found.splice(0)
  }
  lines.end()
  yield* found
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
