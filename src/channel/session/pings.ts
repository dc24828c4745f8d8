/**
 * Pings of a session: a sign of life when one is asked for, and the measure of the way to the peer.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { encodeFrame, FRAME } from './frame.ts'
import { type MeteredWire } from './metered-wire.ts'
import { type Outbox } from './outbox.ts'
import { Patience } from './patience.ts'

const PING_BYTES = 8
/** Where the number of a ping that measures stands; others have 0 there. */
const NUMBER_AT = 4
const MAX_FRAMES_BEFORE_PONG = 1_024
/** A peer with much to read may leave a ping without a pong. */
const MEASURE_TIMEOUT_MS = 30_000

export class Pings {
  readonly #outbox: Outbox
  readonly #clock: Clock
  readonly #patience: Patience
  /** The ping on its way that measures. */
  #measuring: { readonly number: number; readonly sentAt: number; readonly behind: number } | undefined
  #lastNumber = 0
  #roundTripMs: number | undefined
  #measured: PromiseWithResolvers<void> | undefined
  #ended = false

  constructor(outbox: Outbox, wire: MeteredWire, clock: Clock) {
    this.#outbox = outbox
    this.#clock = clock
    this.#patience = new Patience(wire, outbox)
  }

  /** As last measured. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs
  }

  /** Silence of the peer that says nothing yet. */
  get patienceMs(): number {
    return this.#patience.ms
  }

  /** Anything came from the peer. */
  heard(): void {
    this.#patience.heard()
  }

  ask(): void {
    const payload = Buffer.alloc(PING_BYTES)
    const now = this.#clock.monotonic()
    const behind = this.#patience.asked()
    if (this.#measuring === undefined || now - this.#measuring.sentAt > MEASURE_TIMEOUT_MS) {
      this.#lastNumber = (this.#lastNumber + 1) % 2 ** 31
      this.#measuring = { number: this.#lastNumber, sentAt: now, behind }
      payload.writeUInt32BE(this.#lastNumber, NUMBER_AT)
    }
    this.#outbox.express(encodeFrame(FRAME.ping, payload))
  }

  /** Asks the peer, unless it has been asked; resolves when it has answered, or the session is over. */
  measure(): Promise<void> {
    if (this.#ended) return Promise.resolve()
    if (this.#measuring === undefined) this.ask()
    this.#measured ??= Promise.withResolvers()
    return this.#measured.promise
  }

  /** @throws {CtError} `ERR_PROTOCOL` */
  onPing(payload: Uint8Array): void {
    if (payload.length !== PING_BYTES) throw new CtError('ERR_PROTOCOL', `expected a ping of ${PING_BYTES} bytes`)
    // One that has so much to read hears enough, and one that does not read must not fill our memory with answers.
    if (this.#outbox.expressFrames < MAX_FRAMES_BEFORE_PONG) this.#outbox.express(encodeFrame(FRAME.pong, payload))
  }

  onPong(payload: Uint8Array): void {
    const measuring = this.#measuring
    if (measuring === undefined || payload.length !== PING_BYTES) return
    if (Buffer.from(payload.buffer, payload.byteOffset, PING_BYTES).readUInt32BE(NUMBER_AT) !== measuring.number) return
    this.#measuring = undefined
    this.#patience.answered(measuring.behind)
    this.#roundTripMs = this.#clock.monotonic() - measuring.sentAt
    this.#settle()
  }

  /** The session is over: nobody waits any more. */
  end(): void {
    this.#ended = true
    this.#settle()
  }

  #settle(): void {
    this.#measured?.resolve()
    this.#measured = undefined
  }
}
