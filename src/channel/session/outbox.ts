/**
 * What a session still has to write, in two lanes: small frames go first, pieces of large messages fill the gaps.
 *
 * Holds: frames queued within one turn of the event loop leave as one write; pieces of one large message stay in order
 * and never mix with another's. Everything that waits is counted: senders are told to wait above
 * {@link HIGH_WATER_BYTES}, and above {@link FULL_BYTES} a side that answers takes nothing in that it may have to answer. A peer that takes nothing for {@link SLOW_PEER_MS} is reported, whatever else it does.
 *
 * @module
 */
import { nextTick } from 'node:process'
import { type CtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { encodeFrameHead, FRAME, MAX_PAYLOAD_BYTES, type MessageTypes } from './frame.ts'
import { type Wire } from './wire.ts'

/** Above this, senders wait. Enough to keep a fast link busy, little enough to hold per peer. */
export const HIGH_WATER_BYTES = 4 * 1024 * 1024
/** One write: larger joins gain nothing, smaller ones keep small frames from waiting behind bulk. */
const MAX_WRITE_BYTES = 256 * 1024
/** Above this, the peer is not read until it has read: it holds the largest message whole. */
const FULL_BYTES = 8 * 1024 * 1024
/** What an array and its place in a queue cost beside its bytes, about. */
const FRAME_OVERHEAD_BYTES = 128
/** A link of 10 KB/s still takes one write in this time. */
export const SLOW_PEER_MS = 30_000

interface Bulk {
  readonly types: MessageTypes
  readonly head: Uint8Array
  readonly body: Uint8Array
  offset: number
}

interface Waiter {
  readonly held: number
  readonly resolve: () => void
  readonly reject: (error: CtError) => void
}

export interface OutboxOptions {
  /** Called once when the wire refuses to take more. */
  readonly onBroken: (error: Error) => void
  /** Called once when the peer has taken nothing for {@link SLOW_PEER_MS}. */
  readonly onSlow: () => void
  readonly clock: Clock
  /**
   * What is sent answers the peer, so a peer that does not read is not read either. Not for a side that asks: two that
   * do not read each other wait for ever.
   */
  readonly answers: boolean
}

export class Outbox {
  readonly #wire: Wire
  readonly #options: OutboxOptions
  #express: Uint8Array[] = []
  #expressBytes = 0
  readonly #bulk: Bulk[] = []
  #bulkBytes = 0
  #bulkAllowed = false
  #scheduled = false
  /** Set while the wire takes nothing; forgets the slow peer. */
  #unblock: (() => void) | undefined
  #full = false
  #broken = false
  #ended: CtError | undefined
  readonly #emptyWaiters: (() => void)[] = []
  readonly #waiters: Waiter[] = []
  #waitingBytes = 0

  constructor(wire: Wire, options: OutboxOptions) {
    this.#wire = wire
    this.#options = options
  }

  /** Bytes that wait here, those of waiting senders included. */
  get queuedBytes(): number {
    return this.#expressBytes + this.#bulkBytes + this.#waitingBytes
  }

  /** The wire takes nothing at the moment. */
  get isBlocked(): boolean {
    return this.#unblock !== undefined
  }

  /** So much waits that the peer is not read. */
  get isFull(): boolean {
    return this.#full
  }

  /** Large messages wait until the peer's limits are known. */
  allowBulk(): void {
    this.#bulkAllowed = true
    this.#schedule()
  }

  /** Queues one frame, in one part or several, that goes before all bulk. */
  express(...parts: readonly Uint8Array[]): void {
    if (this.#ended !== undefined) return
    for (const part of parts) {
      this.#express.push(part)
      this.#expressBytes += part.length + FRAME_OVERHEAD_BYTES
    }
    this.#watchLevel()
    this.#schedule()
  }

  /** Frames that wait before all bulk. */
  get expressFrames(): number {
    return this.#express.length
  }

  /** Writes the last frame, before which bulk is dropped: nothing follows it. A wire that is full keeps it. */
  last(frame: Uint8Array): void {
    this.#bulk.length = 0
    this.#bulkBytes = 0
    this.express(frame)
    if (this.isBlocked) this.#write()
    else this.flush()
  }

  /** True while large messages wait. */
  get hasBulk(): boolean {
    return this.#bulk.length > 0
  }

  /** Queues a message that needs several frames, or must not overtake one that does. */
  bulk(types: MessageTypes, head: Uint8Array, body: Uint8Array): void {
    if (this.#ended !== undefined) return
    this.#bulk.push({ types, head, body, offset: 0 })
    this.#bulkBytes += body.length
    this.#watchLevel()
    this.#schedule()
  }

  /** True while a sender need not wait; false also while others wait, who came first. */
  get hasRoom(): boolean {
    return this.#ended === undefined && this.#waiters.length === 0 && this.queuedBytes <= HIGH_WATER_BYTES
  }

  /**
   * Resolves while at most {@link HIGH_WATER_BYTES} wait; rejects with the reason when the session ends before.
   *
   * @param bytes what the sender will queue; until then it holds them, and they count here
   */
  room(bytes: number): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    if (this.hasRoom) return ROOM
    const held = bytes + FRAME_OVERHEAD_BYTES
    this.#waitingBytes += held
    this.#watchLevel()
    return new Promise((resolve, reject) => this.#waiters.push({ held, resolve, reject }))
  }

  /** Resolves when nothing waits and the wire has taken it, also because the session ended, or when the signal aborts. */
  emptied(signal: AbortSignal): Promise<void> {
    if (this.#isEmpty || signal.aborted) return ROOM
    return new Promise((resolve) => {
      this.#emptyWaiters.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /** Drops what waits and fails those who wait for room. */
  end(reason: CtError): void {
    if (this.#ended !== undefined) return
    this.#ended = reason
    this.#express = []
    this.#bulk.length = 0
    this.#expressBytes = 0
    this.#bulkBytes = 0
    this.#unblock?.()
    this.#waitingBytes = 0
    for (const { reject } of this.#waiters.splice(0)) reject(reason)
    this.#releaseEmptyWaiters()
  }

  /** Writes what the wire takes now instead of at the end of this turn. */
  flush(): void {
    if (this.isBlocked || this.#ended !== undefined) return
    while (this.#hasWork()) {
      if (!this.#write()) {
        this.#waitForDrain()
        break
      }
    }
    this.#watchLevel()
    this.#releaseWaiters()
  }

  #write(): boolean {
    try {
      return this.#wire.write(this.#nextWrite())
    } catch (error) {
      this.#break(error)
      return false
    }
  }

  #break(error: unknown): void {
    if (this.#broken) return
    this.#broken = true
    this.#options.onBroken(error instanceof Error ? error : new Error(String(error)))
  }

  get #isEmpty(): boolean {
    return (this.queuedBytes === 0 && !this.isBlocked) || this.#ended !== undefined
  }

  #watchLevel(): void {
    const full = this.queuedBytes > (this.#full ? HIGH_WATER_BYTES : FULL_BYTES)
    if (full === this.#full || this.#ended !== undefined || !this.#options.answers) return
    this.#full = full
    this.#wire.hold(full)
  }

  #hasWork(): boolean {
    return this.#express.length > 0 || (this.#bulkAllowed && this.#bulk.length > 0)
  }

  // When everything that can run without waiting has run: what the promises of this turn still send shares the write,
  // the packet and the encryption, and nothing waits for another turn of the event loop.
  #schedule(): void {
    if (this.#scheduled || this.isBlocked) return
    this.#scheduled = true
    queueMicrotask(() => {
      nextTick(() => {
        this.#scheduled = false
        this.flush()
      })
    })
  }

  #nextWrite(): readonly Uint8Array[] {
    const frames = this.#express
    let bytes = this.#expressBytes
    this.#express = []
    this.#expressBytes = 0
    while (this.#bulkAllowed && this.#bulk.length > 0 && bytes < MAX_WRITE_BYTES) {
      bytes += this.#addPiece(frames)
    }
    return frames
  }

  #addPiece(frames: Uint8Array[]): number {
    const bulk = this.#bulk[0]
    if (bulk === undefined) throw new RangeError('no bulk message waits')
    const first = bulk.offset === 0
    const head = first ? bulk.head : NO_HEAD
    const end = Math.min(bulk.body.length, bulk.offset + MAX_PAYLOAD_BYTES - head.length)
    const last = end === bulk.body.length
    const { whole, open } = bulk.types
    const type = first ? (last ? whole : open) : last ? FRAME.last : FRAME.part
    const pieceBytes = end - bulk.offset
    frames.push(encodeFrameHead(type, head, pieceBytes), bulk.body.subarray(bulk.offset, end))
    this.#bulkBytes -= pieceBytes
    bulk.offset = end
    if (end === bulk.body.length) this.#bulk.shift()
    return pieceBytes
  }

  #waitForDrain(): void {
    if (this.#ended !== undefined) return
    const { clock, onSlow } = this.#options
    const forget = clock.after(SLOW_PEER_MS, onSlow)
    this.#unblock = () => {
      forget()
      this.#unblock = undefined
    }
    this.#wire.drained().then(
      () => {
        this.#unblock?.()
        this.flush()
      },
      (error: unknown) => this.#break(error),
    )
  }

  #releaseEmptyWaiters(): void {
    if (this.#emptyWaiters.length === 0 || !this.#isEmpty) return
    for (const resolve of this.#emptyWaiters.splice(0)) resolve()
  }

  #releaseWaiters(): void {
    this.#releaseEmptyWaiters()
    if (this.queuedBytes - this.#waitingBytes > HIGH_WATER_BYTES) return
    const next = this.#waiters.shift()
    if (next === undefined) return
    this.#waitingBytes -= next.held
    next.resolve()
    // One after the other: each fills the room that the next one asks for.
    queueMicrotask(() => this.#releaseWaiters())
  }
}

const ROOM: Promise<void> = Promise.resolve()
const NO_HEAD = new Uint8Array(0)
