/**
 * How often each of many clients may ask, counted in this process alone.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'

/** Clients that are told apart at once; who came longest ago is forgotten first. */
const MAX_CLIENTS = 50_000

export class RateWindow {
  readonly #clock: Clock
  readonly #limit: number
  readonly #windowMs: number
  readonly #clients = new Map<string, { readonly began: number; count: number }>()

  constructor(clock: Clock, limit: number, windowMs: number) {
    this.#clock = clock
    this.#limit = limit
    this.#windowMs = windowMs
  }

  /** @returns in how many seconds the client may ask again, where it may not now */
  take(client: string): number | undefined {
    const now = this.#clock.now()
    const last = this.#clients.get(client)
    const window = last === undefined || now - last.began >= this.#windowMs ? { began: now, count: 0 } : last
    if (window.count >= this.#limit) return Math.max(1, Math.ceil((window.began + this.#windowMs - now) / 1_000))
    window.count += 1
    this.#clients.delete(client)
    this.#clients.set(client, window)
    const [oldest] = this.#clients.keys()
    if (this.#clients.size > MAX_CLIENTS && oldest !== undefined) this.#clients.delete(oldest)
    return undefined
  }
}
