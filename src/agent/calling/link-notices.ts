/**
 * Tells people on stderr how a link comes and goes.
 *
 * Holds: a peer that stays away is reported once for every reason, not once for every attempt.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type Io, isWatched, notice } from '../io.ts'
import { CLEAR_LINE } from '../progress.ts'

export class LinkNotices {
  readonly #io: Io
  readonly #label: string
  /** Code of the last thing that went wrong since a link was up. */
  #trouble: string | undefined

  constructor(io: Io, label: string) {
    this.#io = io
    this.#label = label
  }

  /** An attempt failed. */
  failed({ code, message, facts }: CtError): void {
    if (!facts.retryable || code === this.#trouble) return
    this.#trouble = code
    this.#say(`cannot connect, trying again (${code}: ${message})`)
  }

  /** A link ended that this side did not end. */
  lost({ code, message }: CtError): void {
    this.#trouble = `after ${code}`
    this.#say(`session ended (${code}: ${message})`)
  }

  /** A link is up. */
  connected(): void {
    if (this.#trouble !== undefined) this.#say('connected again')
    this.#trouble = undefined
  }

  #say(text: string): void {
    // The progress of a long wait may stand there.
    if (isWatched(this.#io)) this.#io.stderr.write(CLEAR_LINE)
    notice(this.#io, `${this.#label}: ${text}`)
  }
}
