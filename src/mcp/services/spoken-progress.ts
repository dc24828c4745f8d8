/**
 * Progress that a handler writes on stderr among other words: lines that begin with `ct-progress:`.
 *
 * Holds: what is no such line passes untouched; at most one line of {@link MAX_PROGRESS_BYTES} is held back.
 *
 * @module
 */
import { type JsonValue } from '../../core/json.ts'

/** A message, and little else. */
export const MAX_PROGRESS_BYTES = 16_384

const MARK = Buffer.from('ct-progress:')
const LINE_FEED = 0x0a

export class SpokenProgress {
  readonly #report: (value: JsonValue) => void
  #held: Uint8Array = new Uint8Array()
  /** What was taken last ended a line. */
  #isFresh = true

  /** @param report takes whatever JSON stands after the mark */
  constructor(report: (value: JsonValue) => void) {
    this.#report = report
  }

  /** What of the stream is no progress, as far as that is clear. */
  take(chunk: Uint8Array): Uint8Array {
    const data = Buffer.concat([this.#held, chunk])
    const others: Uint8Array[] = []
    let from = 0
    let end = data.length
    for (let at = data.indexOf(MARK); at >= 0; at = data.indexOf(MARK, at + 1)) {
      if (!this.#beginsLine(data, at)) continue
      const lineEnd = data.indexOf(LINE_FEED, at)
      if (lineEnd < 0) {
        if (data.length - at <= MAX_PROGRESS_BYTES) end = at
        break
      }
      if (!this.#read(data.subarray(at + MARK.length, lineEnd))) continue
      others.push(data.subarray(from, at))
      from = lineEnd + 1
    }
    if (end === data.length) end -= this.#beginningOfMark(data)
    others.push(data.subarray(from, end))
    this.#held = Uint8Array.from(data.subarray(end))
    if (end > 0) this.#isFresh = data[end - 1] === LINE_FEED
    return others.length === 1 ? data.subarray(from, end) : Buffer.concat(others)
  }

  /** What was held back of a line that did not end. */
  end(): Uint8Array {
    return this.#held
  }

  #beginsLine(data: Uint8Array, at: number): boolean {
    return at === 0 ? this.#isFresh : data[at - 1] === LINE_FEED
  }

  /** How much of the end of the data may become a mark. */
  #beginningOfMark(data: Uint8Array): number {
    const tail = data.subarray(data.lastIndexOf(LINE_FEED) + 1)
    const isFresh = tail.length < data.length || this.#isFresh
    const fits = isFresh && tail.length < MARK.length && MARK.subarray(0, tail.length).equals(tail)
    return fits ? tail.length : 0
  }

  #read(line: Uint8Array): boolean {
    if (line.length > MAX_PROGRESS_BYTES) return false
    try {
      this.#report(JSON.parse(Buffer.from(line).toString('utf8')) as JsonValue)
      return true
    } catch {
      return false
    }
  }
}
