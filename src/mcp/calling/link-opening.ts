/**
 * The opening of one link after another.
 *
 * Holds: one attempt at a time, none before its time, and none once no link is wanted any more.
 *
 * @module
 */
import { type CtError, retryAfterOf, toCtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { type Backoff, type Clock, pause } from '../../core/time.ts'
import { type Port } from '../port.ts'

export interface LinkSource {
  /**
   * Opens a link. The signal aborts when no link is wanted any more: the attempt is to stop, and a link that is open is
   * to be closed.
   */
  readonly connect: (signal: AbortSignal) => Promise<Port>
  readonly backoff: Backoff
  readonly clock: Clock
  readonly log: Log
}

export interface LinkOpeningOptions extends LinkSource {
  readonly signal: AbortSignal
  /** Trying again would change nothing. */
  readonly isFinal: (reason: CtError) => boolean
  /** Calls that wait, for the log. */
  readonly pending: () => number
  readonly onOpen: (port: Port) => void
  /** No more is tried. */
  readonly onFinal: (reason: CtError) => void
}

export class LinkOpening {
  readonly #options: LinkOpeningOptions
  #isUnderWay = false
  /** No attempt before this time. */
  #notBefore = 0

  constructor(options: LinkOpeningOptions) {
    this.#options = options
  }

  /** Tries until a link is open; does nothing while it is tried already. */
  start(): void {
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    void this.#open()
  }

  /** The next attempt waits a while, as the last one, or its link, ended with the reason. */
  postpone(lastedMs: number, reason: CtError): number {
    const { backoff, clock } = this.#options
    const delayMs = Math.max(backoff.next(lastedMs), retryAfterOf(reason) ?? 0)
    this.#notBefore = clock.monotonic() + delayMs
    return delayMs
  }

  async #open(): Promise<void> {
    const { clock, connect, log, signal, isFinal, pending, onOpen, onFinal } = this.#options
    while (!signal.aborted) {
      const wait = this.#notBefore - clock.monotonic()
      if (wait > 0) await pause(clock, wait, signal)
      if (signal.aborted) return
      try {
        const port = await connect(signal)
        this.#isUnderWay = false
        if (!signal.aborted) onOpen(port)
        return
      } catch (error) {
        const reason = toCtError(error)
        if (isFinal(reason)) {
          onFinal(reason)
          return
        }
        const delayMs = this.postpone(0, reason)
        log.info('mcp.reconnect', { code: reason.code, delayMs, pending: pending() })
      }
    }
  }
}
