/**
 * One POST with requests in it, from its arrival to the last answer.
 *
 * Holds: answers that come at once are one JSON text; else a stream of events begins, with the first word before an
 * answer or after a moment, for whoever takes one. Every request is answered here and nowhere else. A client that goes
 * away finds the rest in the stream, where one had begun.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'
import { type EventStream } from './event-stream.ts'
import { type Headers, type HttpReply } from './http.ts'
import { AT_ONCE_MS } from './limits.ts'
import { type Accepts } from './media.ts'
import { JSON_TYPE } from './refusal.ts'

export interface ExchangeOptions {
  readonly reply: HttpReply
  readonly accepts: Accepts
  readonly headers: Headers
  /** Answers to wait for, at least one. */
  readonly expected: number
  /** They are answers to a batch, even when there is one only. */
  readonly isBatch: boolean
  /** Of an answer that is sent as JSON. */
  readonly statusOf: (answer: string) => number
  /** Makes the stream, where one is needed. */
  readonly stream: () => EventStream
  /** The client knows what to do with an event that says nothing but where to come back to. */
  readonly primed: boolean
  /** All answers are there. */
  readonly onDone: () => void
  readonly clock: Clock
}

export const STREAM_TYPE: Headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

export class Exchange {
  readonly #options: ExchangeOptions
  readonly #early: string[] = []
  #stream: EventStream | undefined
  #open: number
  #isGone = false
  #cancelWait: () => void = () => {}

  constructor(options: ExchangeOptions) {
    const { reply, accepts, clock, expected } = options
    this.#options = options
    this.#open = expected
    reply.onGone(() => {
      this.#isGone = true
    })
    if (!accepts.json) this.#begin()
    else if (accepts.events) this.#cancelWait = clock.after(AT_ONCE_MS, () => this.#begin())
  }

  /** Answers one of the requests; with nothing, one that nobody wants answered any more. */
  answer(text: string | undefined): void {
    if (this.#open === 0) return
    this.#open -= 1
    if (text !== undefined) {
      if (this.#stream === undefined) this.#early.push(text)
      else this.#stream.push(text)
    }
    if (this.#open > 0) return
    this.#cancelWait()
    if (this.#stream === undefined) this.#answerAtOnce()
    else this.#stream.finish()
    this.#options.onDone()
  }

  /** Says something on the way; false when this client cannot be told so. */
  tell(text: string): boolean {
    if (this.#open === 0 || !this.#options.accepts.events) return false
    this.#begin()
    this.#stream?.push(text)
    return this.#stream !== undefined
  }

  #answerAtOnce(): void {
    if (this.#isGone) return
    const { reply, headers, isBatch, statusOf } = this.#options
    const [first] = this.#early
    if (first === undefined) reply.answer(202, headers)
    else if (isBatch) reply.answer(200, { ...headers, ...JSON_TYPE }, `[${this.#early.join(',')}]`)
    else reply.answer(statusOf(first), { ...headers, ...JSON_TYPE }, first)
  }

  #begin(): void {
    this.#cancelWait()
    // Whoever left before a stream began cannot come back to it.
    if (this.#stream !== undefined || this.#isGone) return
    const { reply, headers, stream, primed } = this.#options
    this.#stream = stream()
    this.#stream.read(reply.stream({ ...headers, ...STREAM_TYPE }), 0, primed)
    for (const text of this.#early.splice(0)) this.#stream.push(text)
  }
}
