/**
 * Decides when to ask a silent peer for a sign of life and when to give it up. Pure: the session brings clock and pings.
 *
 * Holds: while an answer is awaited, a peer that stops is given up within {@link GIVE_UP_MS} plus one check, or what this
 * side's own sending still takes; time this process itself did not run (suspended machine, stopped process) is not held against the peer.
 *
 * @module
 */

/** Time between checks while an answer is awaited. */
export const WATCHED_CHECK_MS = 1_000
/** Silence after which a watched peer is given up: below the 5 s promised, above three TCP retransmissions. */
const GIVE_UP_MS = 3_900
/** Time between checks of an idle session: far above the cost of a thousand of them, below common NAT timeouts. */
export const IDLE_CHECK_MS = 60_000
/** Silence after which an idle peer is given up: one missed check and a half. */
const IDLE_GIVE_UP_MS = 90_000
/** A check this late means that this process was not running. */
const OWN_PAUSE_MS = 2_000

export type Verdict = 'alive' | 'ask' | 'give-up'

export class Liveness {
  #lastHeard: number
  #lastCheck: number
  /** When the peer was first asked since it was last heard. */
  #askedAt: number | undefined
  #watched = false

  constructor(now: number) {
    this.#lastHeard = now
    this.#lastCheck = now
  }

  get checkMs(): number {
    return this.#watched ? WATCHED_CHECK_MS : IDLE_CHECK_MS
  }

  /** An answer is awaited. */
  get watched(): boolean {
    return this.#watched
  }

  heard(now: number): void {
    this.#lastHeard = now
    this.#askedAt = undefined
  }

  /**
   * Whether an answer is awaited. Silence from before the wait began counts only from now, or from when the peer was
   * asked: short waits one after another must not make a peer that never answers look alive.
   */
  watch(watched: boolean, now: number): void {
    this.#forgiveOwnPause(now)
    if (watched && !this.#watched) {
      this.#lastHeard = Math.max(this.#lastHeard, (this.#askedAt ?? now) - WATCHED_CHECK_MS)
    }
    this.#watched = watched
  }

  /** @param patienceMs silence that says nothing yet, because of what this side has sent */
  check(now: number, patienceMs = 0): Verdict {
    this.#forgiveOwnPause(now)
    const silence = now - this.#lastHeard
    if (silence >= Math.max(patienceMs, this.#watched ? GIVE_UP_MS : IDLE_GIVE_UP_MS)) return 'give-up'
    if (silence < this.checkMs * ASK_AFTER_CHECKS) return 'alive'
    this.#askedAt ??= now
    return 'ask'
  }

  #forgiveOwnPause(now: number): void {
    if (now - this.#lastCheck > this.checkMs + OWN_PAUSE_MS) {
      this.#lastHeard = Math.max(this.#lastHeard, now - this.checkMs)
      this.#askedAt = undefined
    }
    this.#lastCheck = now
  }
}

/** A little less than one check, so that a check that comes early by a timer's grain still asks. */
const ASK_AFTER_CHECKS = 0.9
