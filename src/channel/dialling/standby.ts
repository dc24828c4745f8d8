/**
 * Another way for a direct session that falls silent while an answer is awaited.
 *
 * Holds: silence alone ends nothing. Only when the peer answers on the other way while it is still silent here does the
 * caller go on there; a peer that is merely busy answers on neither.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { LEAST_BYTES_PER_MS } from '../session/patience.ts'
import { type Session } from '../session/session.ts'

/** Between two looks, while an answer is awaited. */
const LOOK_MS = 250
/** Silence after which the other way is tried, or this many times the way to the peer and back. */
const SUSPECT_MS = 400
const SUSPECT_ROUND_TRIPS = 4
/** Between two attempts to open the other way. */
const AGAIN_MS = 1_000

export interface StandbyOptions<Other extends { readonly session: Session }> {
  /** The direct one. */
  readonly session: Session
  /** Opens a session on the other way. */
  readonly open: (signal: AbortSignal) => Promise<Other>
  /** The peer answers there, and not here. */
  readonly onBetter: (other: Other) => void
  readonly clock: Clock
}

/** Stands by until the session ends, or the other way has been taken. */
export function standBy<Other extends { readonly session: Session }>(options: StandbyOptions<Other>): void {
  const watch = new Standby(options)
  options.session.onAwaiting((awaiting) => watch.look(awaiting))
  void options.session.closed.then(() => watch.end())
}

class Standby<Other extends { readonly session: Session }> {
  readonly #options: StandbyOptions<Other>
  #heard = -1
  #silentSince = 0
  /** What had been written when the peer was heard last. */
  #writtenBefore = 0
  #notBefore = 0
  #opening: AbortController | undefined
  #cancel: (() => void) | undefined
  #over = false

  constructor(options: StandbyOptions<Other>) {
    this.#options = options
  }

  look(awaiting: boolean): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (!awaiting || this.#over) return
    this.#check(true)
  }

  end(): void {
    this.#over = true
    this.#cancel?.()
    this.#opening?.abort(new CtError('ERR_LINK_CLOSED', 'the session is over'))
  }

  #check(first: boolean): void {
    const { session, clock } = this.#options
    const { vitals } = session
    const now = clock.monotonic()
    if (first || vitals.bytesIn !== this.#heard) {
      this.#heard = vitals.bytesIn
      this.#silentSince = now
      this.#writtenBefore = vitals.bytesOut
      this.#opening?.abort(new CtError('ERR_LINK_CLOSED', 'the peer is heard again'))
    } else {
      void vitals.measure()
      const sendingMs = (vitals.bytesOut - this.#writtenBefore) / LEAST_BYTES_PER_MS
      const patience = Math.max(SUSPECT_MS, SUSPECT_ROUND_TRIPS * (vitals.roundTripMs ?? 0), sendingMs)
      if (now - this.#silentSince >= patience && now >= this.#notBefore && this.#opening === undefined)
        void this.#open()
    }
    this.#cancel = clock.after(LOOK_MS, () => this.#check(false))
  }

  async #open(): Promise<void> {
    const { session, open, clock, onBetter } = this.#options
    const opening = new AbortController()
    this.#opening = opening
    try {
      const other = await open(opening.signal)
      if (opening.signal.aborted || this.#over || session.vitals.bytesIn !== this.#heard) {
        other.session.end(new CtError('ERR_LINK_CLOSED', 'the direct way answers again'), { final: false })
      } else {
        this.end()
        onBetter(other)
      }
    } catch {
      // The session ends by its own measure, or is heard again.
      this.#notBefore = clock.monotonic() + AGAIN_MS
    } finally {
      this.#opening = undefined
    }
  }
}
