/**
 * What is said to a client in one answer that goes on: kept until it is read, and a while longer where the client can
 * come back for what it missed.
 *
 * Holds: events are read in order and each once by one reader; a newer reader takes the place of an older one. A reader
 * that takes nothing is cut off. What is kept is bounded: the oldest goes first, and whoever still had to read it is cut
 * off instead of missing it unknowingly.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'
import { type EventBudget, type Keeper } from './event-budget.ts'
import { type EventSink } from './http.ts'
import { KEEPALIVE_MS, MAX_KEPT_EVENTS, RETRY_MS, SLOW_READER_MS } from './limits.ts'
import { eventText, formatEventId, KEEPALIVE, primingText } from './sse.ts'

export interface StreamOptions {
  /** By which clients come back; without one they cannot, and nothing is kept that was read. */
  readonly name?: string | undefined
  readonly budget: EventBudget
  readonly clock: Clock
}

interface Event {
  readonly sequence: number
  readonly text: string
}

interface Reader {
  readonly sink: EventSink
  /** Number of the event to read next. */
  next: number
  /** Since when nothing is taken, while that is so. */
  blockedAt: number | undefined
  cancelTick: () => void
}

export class EventStream implements Keeper {
  readonly name: string | undefined
  readonly #budget: EventBudget
  readonly #clock: Clock
  #events: Event[] = []
  #last = 0
  /** Number of the newest event that is not kept any more. */
  #lost = 0
  #reader: Reader | undefined
  #finishedAt: number | undefined

  constructor({ name, budget, clock }: StreamOptions) {
    this.name = name
    this.#budget = budget
    this.#clock = clock
  }

  get hasReader(): boolean {
    return this.#reader !== undefined
  }

  /** When the last event was said, if it was. */
  get finishedAt(): number | undefined {
    return this.#finishedAt
  }

  get isSettled(): boolean {
    return this.#finishedAt !== undefined && this.#reader === undefined
  }

  /** Whether all events after the one of this number are kept. */
  keepsAfter(sequence: number): boolean {
    return sequence >= this.#lost
  }

  /** Nothing will come after the event of this number. */
  endsAt(sequence: number): boolean {
    return this.#finishedAt !== undefined && sequence >= this.#last
  }

  push(text: string): void {
    if (this.name === undefined && this.#reader === undefined) return
    this.#last += 1
    this.#events.push({ sequence: this.#last, text })
    this.#budget.change(this, text.length)
    this.#pump()
    if (this.#events.length > MAX_KEPT_EVENTS) this.#drop(this.#events.length - MAX_KEPT_EVENTS)
  }

  /** There will be no more events. */
  finish(): void {
    this.#finishedAt ??= this.#clock.monotonic()
    this.#pump()
  }

  /**
   * Reads from after the event of this number, if that is kept; whatever is kept, where it is not.
   *
   * @param primed tells the client first where it can come back to
   */
  read(sink: EventSink, after: number, primed = false): void {
    const last = this.#reader
    this.#detach()
    last?.sink.end()
    const reader: Reader = {
      sink,
      next: Math.min(after, this.#last) + 1,
      blockedAt: undefined,
      cancelTick: () => {},
    }
    this.#reader = reader
    sink.onDrain(() => {
      reader.blockedAt = undefined
      if (this.#reader === reader) this.#pump()
    })
    sink.onGone(() => {
      if (this.#reader === reader) this.#detach()
    })
    if (primed && this.name !== undefined) this.#write(reader, primingText(this.#id(after), RETRY_MS))
    this.#tick(reader)
    this.#pump()
  }

  /** Ends what is being read; what is kept stays. */
  close(): void {
    const sink = this.#reader?.sink
    this.#detach()
    sink?.end()
  }

  forget(): void {
    this.#drop(this.#events.length)
  }

  #pump(): void {
    const reader = this.#reader
    if (reader === undefined) return
    for (const { sequence, text } of this.#unread(reader)) {
      if (reader.blockedAt !== undefined) return
      reader.next = sequence + 1
      this.#write(reader, eventText(text, this.name === undefined ? undefined : this.#id(sequence)))
    }
    if (this.name === undefined) this.#drop(this.#events.length)
    if (this.#finishedAt !== undefined) this.close()
  }

  #unread({ next }: Reader): readonly Event[] {
    const first = this.#events[0]?.sequence ?? next
    return this.#events.slice(Math.max(0, next - first))
  }

  #write(reader: Reader, text: string): void {
    if (!reader.sink.write(text)) reader.blockedAt ??= this.#clock.monotonic()
  }

  #tick(reader: Reader): void {
    reader.cancelTick = this.#clock.after(KEEPALIVE_MS, () => {
      if (reader.blockedAt === undefined) this.#write(reader, KEEPALIVE)
      else if (this.#clock.monotonic() - reader.blockedAt >= SLOW_READER_MS) {
        this.#cutOff(reader)
        return
      }
      this.#tick(reader)
    })
  }

  /** Lets go of the oldest events. */
  #drop(count: number): void {
    const dropped = this.#events.splice(0, count)
    const newest = dropped.at(-1)?.sequence
    if (newest === undefined) return
    this.#lost = newest
    const reader = this.#reader
    if (reader !== undefined && reader.next <= newest) this.#cutOff(reader)
    this.#budget.change(this, -dropped.reduce((sum, { text }) => sum + text.length, 0))
  }

  #cutOff(reader: Reader): void {
    this.#detach()
    reader.sink.destroy()
  }

  #detach(): void {
    this.#reader?.cancelTick()
    this.#reader = undefined
    if (this.name === undefined) this.forget()
  }

  #id(sequence: number): string {
    return formatEventId({ stream: this.name ?? '', sequence })
  }
}
