/**
 * How an initiator hears of removals while it has sessions: it stays at the broker and wants nobody.
 *
 * Holds: there is at most one such stay, while there is a session that lasts; a session that is over sooner than
 * {@link WATCH_AFTER_MS} costs the broker nothing. A broker that cannot be reached is tried again and ends no session.
 *
 * @module
 */

import { retryAfterOf, toCtError } from '../../core/errors.ts'
import { Backoff, pause, type Random } from '../../core/time.ts'
import { type ClientOptions, openStay, REJOIN } from './client.ts'
import { type StayEnd } from './stay.ts'

/** Calls that are answered at once are over by then. */
export const WATCH_AFTER_MS = 500

export interface WatchOptions extends Omit<ClientOptions, 'onState'> {
  readonly random: Random
}

export class RevocationWatch {
  readonly #options: WatchOptions
  #sessions = 0
  #stop: () => void = () => {}

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Watches as long as the session lives. */
  during(session: { readonly closed: Promise<unknown> }): void {
    this.#sessions += 1
    if (this.#sessions === 1) this.#begin()
    const end = (): void => {
      this.#sessions -= 1
      if (this.#sessions === 0) this.#stop()
    }
    session.closed.then(end, end)
  }

  #begin(): void {
    const leaving = new AbortController()
    this.#stop = () => leaving.abort()
    void this.#watch(leaving.signal)
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options
    const backoff = new Backoff(REJOIN, random)
    await pause(clock, WATCH_AFTER_MS, signal)
    while (!signal.aborted) {
      const began = clock.monotonic()
      const end = await this.#stayOnce(signal)
      if (signal.aborted || end.kind === 'left') return
      if (end.kind === 'expired') continue
      // Whoever has a session does not end it because the broker does not want to see it.
      if (!end.reason.facts.retryable) return
      await pause(clock, Math.max(backoff.next(clock.monotonic() - began), retryAfterOf(end.reason) ?? 0), signal)
    }
  }

  async #stayOnce(signal: AbortSignal): Promise<StayEnd> {
    const { join } = this.#options
    try {
      const stay = await openStay(
        { ...this.#options, join: (broker) => ({ ...join(broker), watches: true }), onState: () => {} },
        signal,
        { onJoined: () => {}, onPeer: () => {} },
      )
      const leave = (): void => stay.leave()
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      const end = await stay.ended
      signal.removeEventListener('abort', leave)
      return end
    } catch (error) {
      return { kind: 'ended', reason: toCtError(error) }
    }
  }
}
