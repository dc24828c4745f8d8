/**
 * How far a call is, as people and scripts are shown it.
 *
 * Holds: what a peer says of it is one line that steers no terminal, of bounded length, and not said more often than can
 * be read.
 *
 * @module
 */
import { printable } from '../../core/printable.ts'
import { type Clock } from '../../core/time.ts'
import { type Progress } from '../../mcp/index.ts'

const MAX_MESSAGE_CHARS = 200
const BAR_CHARS = 20
/** Lines are not written more often; the last one before the answer may be left out. */
const EVERY_MS = 200

export interface ShownOptions {
  readonly clock: Clock
  /** Where each line goes; without it, the newest is there for whoever asks. */
  readonly write: ((line: string) => void) | undefined
  readonly form: 'people' | 'json'
}

export class ShownProgress {
  readonly #options: ShownOptions
  #newest: Progress | undefined
  #lastMs = -Infinity

  constructor(options: ShownOptions) {
    this.#options = options
  }

  readonly tell = (progress: Progress): void => {
    const { clock, write, form } = this.#options
    this.#newest = progress
    if (write === undefined) return
    const now = clock.monotonic()
    if (now - this.#lastMs < EVERY_MS) return
    this.#lastMs = now
    write(form === 'json' ? jsonOf(progress) : lineOf(progress))
  }

  /** What is waited for. */
  get text(): string {
    return this.#newest === undefined ? 'waiting for the answer' : barOf(this.#newest)
  }
}

function barOf(progress: Progress): string {
  const share = shareOf(progress)
  if (share === undefined) return lineOf(progress)
  const full = Math.round(share * BAR_CHARS)
  return `[${'#'.repeat(full)}${' '.repeat(BAR_CHARS - full)}] ${lineOf(progress)}`
}

function lineOf(progress: Progress): string {
  const share = shareOf(progress)
  const message = messageOf(progress)
  const done = share === undefined ? String(progress.progress) : `${Math.floor(share * 100)} %`
  return message === undefined ? done : `${done} ${message}`
}

function jsonOf(progress: Progress): string {
  const { progress: done, total } = progress
  return JSON.stringify({ progress: { done, total, message: messageOf(progress) } })
}

function messageOf({ message }: Progress): string | undefined {
  return message === undefined || message === '' ? undefined : printable(message, MAX_MESSAGE_CHARS)
}

function shareOf({ progress, total }: Progress): number | undefined {
  return total === undefined || !(total > 0) ? undefined : Math.min(1, Math.max(0, progress / total))
}
