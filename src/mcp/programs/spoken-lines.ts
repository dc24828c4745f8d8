/**
 * What a server or a worker says on stderr, for people.
 *
 * Holds: it costs bounded memory, and the log so many lines a minute, however much is said.
 *
 * @module
 */
import { type Log } from '../../core/log.ts'
import { printable } from '../../core/printable.ts'
import { type Clock } from '../../core/time.ts'

const MAX_LINE_CHARS = 500
const MAX_LINES_A_MINUTE = 200
const MINUTE_MS = 60_000

export class SpokenLines {
  readonly #log: Log
  readonly #clock: Clock
  readonly #subject: string
  #open = ''
  #last = ''
  #since = Number.NEGATIVE_INFINITY
  #lines = 0

  /** @param subject who speaks: the first word of the events */
  constructor(log: Log, clock: Clock, subject = 'server') {
    this.#subject = subject
    this.#log = log
    this.#clock = clock
  }

  /** The last line that says something. */
  get last(): string {
    return this.#open.trim() === '' ? this.#last : printable(this.#open, MAX_LINE_CHARS)
  }

  push(chunk: Uint8Array): void {
    const lines = (this.#open + Buffer.from(chunk).toString('utf8')).split('\n')
    this.#open = (lines.pop() ?? '').slice(0, MAX_LINE_CHARS)
    for (const line of lines) if (line.trim() !== '') this.#said(printable(line, MAX_LINE_CHARS))
  }

  #said(line: string): void {
    this.#last = line
    const now = this.#clock.monotonic()
    if (now - this.#since > MINUTE_MS) {
      this.#since = now
      this.#lines = 0
    }
    this.#lines += 1
    if (this.#lines <= MAX_LINES_A_MINUTE) this.#log.debug(`${this.#subject}.said`, { line })
    else if (this.#lines === MAX_LINES_A_MINUTE + 1)
      this.#log.debug(`${this.#subject}.says_too_much`, { a_minute: MAX_LINES_A_MINUTE })
  }
}
