/**
 * The timer of a session: asks a silent peer for a sign of life, gives up a dead one, ends an unused session.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'
import { Liveness } from './liveness.ts'

export interface HeartbeatOptions {
  readonly clock: Clock
  /** 0 when an unused session is kept. */
  readonly idleSeconds: number
  /** Silence that says nothing yet, in ms; see {@link Patience}. */
  readonly patience?: () => number
  readonly onAsk: () => void
  readonly onSilence: () => void
  readonly onIdle: () => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #liveness: Liveness
  #lastUse: number
  #cancel: () => void = () => {}
  #dueAt = 0
  #stopped = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#lastUse = options.clock.monotonic()
    this.#liveness = new Liveness(this.#lastUse)
    this.#arm()
  }

  /** Something came from the peer. */
  heard(): void {
    this.#liveness.heard(this.#options.clock.monotonic())
  }

  /** A message went either way: the session is in use. */
  used(): void {
    this.#lastUse = this.#options.clock.monotonic()
  }

  /** Whether an answer is awaited; see {@link Liveness.watch}. */
  watch(watched: boolean): void {
    this.used()
    this.#liveness.watch(watched, this.#lastUse)
    // A check that is due soon anyway will do: calls come and go far more often than checks.
    if (this.#dueAt - this.#lastUse > this.#liveness.checkMs) this.#arm()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  #arm(): void {
    this.#cancel()
    if (this.#stopped) return
    const { clock, idleSeconds } = this.#options
    const now = clock.monotonic()
    const mayIdle = idleSeconds > 0 && !this.#liveness.watched
    const untilIdleMs = mayIdle ? Math.max(0, this.#lastUse + idleSeconds * 1000 - now) : Number.POSITIVE_INFINITY
    const delayMs = Math.min(this.#liveness.checkMs, untilIdleMs)
    this.#dueAt = now + delayMs
    this.#cancel = clock.after(delayMs, () => this.#check())
  }

  #check(): void {
    const { clock, idleSeconds, patience, onAsk, onSilence, onIdle } = this.#options
    const now = clock.monotonic()
    const verdict = this.#liveness.check(now, patience?.())
    const idle = idleSeconds > 0 && !this.#liveness.watched && now - this.#lastUse >= idleSeconds * 1000
    if (verdict === 'give-up') onSilence()
    else if (idle) onIdle()
    else if (verdict === 'ask') onAsk()
    this.#arm()
  }
}
