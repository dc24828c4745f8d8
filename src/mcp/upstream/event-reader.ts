/**
 * The data of server-sent events, as they come in.
 *
 * Holds: what one event may cost is bounded.
 *
 * @module
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { CtError } from '../../core/errors.ts'

export class EventReader {
  readonly #maxChars: number
  readonly #onData: (data: string) => void
  readonly #decoder = new TextDecoder()
  #open: string[] = []
  #openChars = 0
  #data: string[] = []
  #chars = 0
  /** The last chunk ended in CR: an LF that comes next belongs to it. */
  #endedInReturn = false

  constructor(maxChars: number, onData: (data: string) => void) {
    this.#maxChars = maxChars
    this.#onData = onData
  }

  /** @throws {CtError} `ERR_MESSAGE_TOO_LARGE` */
  push(chunk: Uint8Array): void {
    let text = this.#decoder.decode(chunk, { stream: true })
    if (text === '') return
    if (this.#endedInReturn && text.startsWith('\n')) text = text.slice(1)
    this.#endedInReturn = text.endsWith('\r')
    const lines = text.split(/\r\n|\r|\n/)
    const last = lines.pop() ?? ''
    for (const line of lines) this.#line(this.#take(line))
    this.#open.push(last)
    this.#openChars += last.length
    this.#bound()
  }

  #take(end: string): string {
    if (this.#open.length === 0) return end
    const line = `${this.#open.join('')}${end}`
    this.#open = []
    this.#openChars = 0
    return line
  }

  #line(line: string): void {
    if (line === '') {
      if (this.#data.length > 0) this.#onData(this.#data.join('\n'))
      this.#data = []
      this.#chars = 0
    } else if (line.startsWith('data:')) {
      const value = line.slice(line.startsWith('data: ') ? 6 : 5)
      this.#data.push(value)
      this.#chars += value.length
      this.#bound()
    }
  }

  #bound(): void {
    if (this.#openChars + this.#chars <= this.#maxChars) return
    throw new CtError('ERR_MESSAGE_TOO_LARGE', `the MCP server sent an event of more than ${this.#maxChars} characters`)
  }
}
