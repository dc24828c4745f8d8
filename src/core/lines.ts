/**
 * A byte stream cut into lines.
 *
 * Holds: only a line feed ends a line, so text with other separators in it stays whole; a line that is too long costs
 * no more memory than the longest that is allowed, and is told from the others.
 *
 * @module
 */
const LINE_FEED = 0x0a
/** Kept of each end of a line that is too long: enough for the id of a request, wherever a common encoder puts it. */
const END_BYTES = 1_024

/** What is known of a line that is too long. */
export interface LongLine {
  readonly totalBytes: number
  readonly head: Uint8Array
  /** Of what came when it was too long already. */
  readonly tail: Uint8Array
}

export interface LineEvents {
  /** A line without its end. */
  readonly line: (line: Uint8Array) => void
  /** The line that comes in has become too long. */
  readonly overflow?: () => void
  /** A line that is too long has ended. */
  readonly tooLong?: (line: LongLine) => void
}

export class LineSplitter {
  readonly #maxBytes: number
  readonly #events: LineEvents
  #parts: Uint8Array[] = []
  #bytes = 0
  #head: Uint8Array = NOTHING
  #tail: Uint8Array = NOTHING
  #isStopped = false

  constructor(maxBytes: number, events: LineEvents) {
    this.#maxBytes = maxBytes
    this.#events = events
  }

  push(chunk: Uint8Array): void {
    let start = 0
    while (!this.#isStopped && start < chunk.length) {
      const end = chunk.indexOf(LINE_FEED, start)
      this.#take(chunk.subarray(start, end < 0 ? chunk.length : end))
      if (end < 0) return
      this.#finish()
      start = end + 1
    }
  }

  /** What came after the last line feed is a line too, unless it is empty. */
  end(): void {
    if (this.#bytes > 0) this.#finish()
  }

  /** Tells nothing any more. */
  stop(): void {
    this.#isStopped = true
    this.#parts = []
  }

  #take(part: Uint8Array): void {
    const isFirst = this.#bytes <= this.#maxBytes
    this.#bytes += part.length
    if (this.#bytes <= this.#maxBytes) {
      this.#parts.push(part)
      return
    }
    this.#head = headOf([this.#head, ...this.#parts, part])
    this.#tail = Buffer.from(Buffer.concat([this.#tail, part.subarray(-END_BYTES)]).subarray(-END_BYTES))
    this.#parts = []
    if (isFirst) this.#events.overflow?.()
  }

  #finish(): void {
    if (this.#isStopped) return
    const [parts, totalBytes, head, tail] = [this.#parts, this.#bytes, this.#head, this.#tail]
    this.#parts = []
    this.#bytes = 0
    this.#head = NOTHING
    this.#tail = NOTHING
    if (totalBytes > this.#maxBytes) this.#events.tooLong?.({ totalBytes, head, tail })
    else this.#events.line(joined(parts, totalBytes))
  }
}

const NOTHING = new Uint8Array(0)

/** Most lines come in one piece, which is not copied. */
function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only, ...more] = parts
  return only !== undefined && more.length === 0 ? only : Buffer.concat(parts, bytes)
}

function headOf(parts: readonly Uint8Array[]): Uint8Array {
  const head: Uint8Array[] = []
  let room = END_BYTES
  for (const part of parts) {
    if (room === 0) break
    const begin = part.subarray(0, room)
    head.push(begin)
    room -= begin.length
  }
  return Buffer.concat(head)
}
