/**
 * A byte stream cut into lines.
 *
 * Holds: no more is kept than the longest line that is allowed; after a longer one nothing is read any more.
 *
 * @module
 */
const LINE_FEED = 0x0a

export interface LineEvents {
  readonly line: (line: Uint8Array) => void
  readonly tooLong: () => void
}

export class LineReader {
  readonly #maxBytes: number
  readonly #events: LineEvents
  #parts: Uint8Array[] = []
  #bytes = 0
  #isOver = false

  constructor(maxBytes: number, events: LineEvents) {
    this.#maxBytes = maxBytes
    this.#events = events
  }

  push(chunk: Uint8Array): void {
    let from = 0
    while (!this.#isOver && from < chunk.length) {
      const end = chunk.indexOf(LINE_FEED, from)
      const part = chunk.subarray(from, end < 0 ? chunk.length : end)
      this.#parts.push(part)
      this.#bytes += part.length
      if (this.#bytes > this.#maxBytes) this.#end()
      if (this.#isOver || end < 0) return
      this.#events.line(this.#take())
      from = end + 1
    }
  }

  #take(): Uint8Array {
    const [first = new Uint8Array(), ...more] = this.#parts
    const line = more.length === 0 ? first : Buffer.concat(this.#parts, this.#bytes)
    this.#parts = []
    this.#bytes = 0
    return line
  }

  #end(): void {
    this.#isOver = true
    this.#parts = []
    this.#events.tooLong()
  }
}
