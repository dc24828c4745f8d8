/**
 * The raw pipe of a session: bytes both ways, half-close, and a receipt for the last byte.
 *
 * Holds: the sender never has more than {@link PIPE_WINDOW_BYTES} that the receiver has not written out, so a slow
 * reader costs bounded memory while pings still pass; a direction is over only when its end was acknowledged, so no
 * tail is lost when a side exits.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { FRAME, type FrameType, MAX_PAYLOAD_BYTES } from './frame.ts'

/** Keeps a fast link full over some tens of milliseconds; it is also what one stalled pipe may hold in memory. */
export const PIPE_WINDOW_BYTES = 1024 * 1024
const CREDIT_BYTES = 4
/** Credit is given back in portions: one frame for each would be a packet for each. */
const CREDIT_PORTION_BYTES = PIPE_WINDOW_BYTES / 4

export interface PipeSink {
  /** Resolves when the bytes are written out. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** The peer's end came; resolves when everything is written out. */
  readonly end: () => Promise<void>
}

export class PipeFlow {
  readonly #sendFrame: (type: FrameType, payload: Uint8Array) => void
  #credit = PIPE_WINDOW_BYTES
  /** Received and not given back as credit. */
  #received = 0
  /** Of these, written out. */
  #written = 0
  #sink: PipeSink | undefined
  #early: Uint8Array[] = []
  #work: Promise<void> = Promise.resolve()
  #peerEnded = false
  #failure: CtError | undefined
  #wake: () => void = () => {}
  readonly #sentAll = Promise.withResolvers<void>()
  readonly #receivedAll = Promise.withResolvers<void>()

  constructor(sendFrame: (type: FrameType, payload: Uint8Array) => void) {
    this.#sendFrame = sendFrame
    this.#sentAll.promise.catch(() => {})
    this.#receivedAll.promise.catch(() => {})
  }

  /** Resolves when the peer wrote out all we sent; rejects when the session ended before. */
  get sentAll(): Promise<void> {
    return this.#sentAll.promise
  }

  /** Resolves when all the peer sent is written out; rejects when the session ended before. */
  get receivedAll(): Promise<void> {
    return this.#receivedAll.promise
  }

  /** Sends bytes as the peer gives credit; resolves when all are handed to the session. */
  async send(bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length; ) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#credit === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      const size = Math.min(this.#credit, MAX_PAYLOAD_BYTES, bytes.length - offset)
      this.#credit -= size
      this.#sendFrame(FRAME.data, bytes.subarray(offset, offset + size))
      offset += size
    }
  }

  sendEnd(): void {
    this.#sendFrame(FRAME.end, NOTHING)
  }

  /** Where the peer's bytes go; those that came earlier go first. */
  deliverTo(sink: PipeSink): void {
    this.#sink = sink
    const early = this.#early
    this.#early = []
    for (const bytes of early) this.#enqueue(bytes, sink)
    if (this.#peerEnded) this.#enqueueEnd(sink)
  }

  /**
   * @returns false for a frame that is not of a pipe
   * @throws {CtError} `ERR_PROTOCOL` when the peer sends beyond its credit or after its end
   */
  onFrame(type: FrameType, payload: Uint8Array): boolean {
    switch (type) {
      case FRAME.data:
        this.#onData(payload)
        break
      case FRAME.end:
        if (this.#peerEnded) throw new CtError('ERR_PROTOCOL', 'expected one end of the pipe, found a second')
        this.#peerEnded = true
        if (this.#sink !== undefined) this.#enqueueEnd(this.#sink)
        break
      case FRAME.endAck:
        this.#sentAll.resolve()
        break
      case FRAME.credit:
        this.#onCredit(payload)
        break
      default:
        return false
    }
    return true
  }

  fail(reason: CtError): void {
    this.#failure = reason
    this.#wake()
    this.#sentAll.reject(reason)
    this.#receivedAll.reject(reason)
  }

  #onData(payload: Uint8Array): void {
    this.#received += payload.length
    if (this.#peerEnded || this.#received > PIPE_WINDOW_BYTES) {
      throw new CtError(
        'ERR_PROTOCOL',
        this.#peerEnded ? 'expected nothing after the end of the pipe' : 'the peer sent more than its credit',
      )
    }
    if (this.#sink === undefined) this.#early.push(payload)
    else this.#enqueue(payload, this.#sink)
  }

  #onCredit(payload: Uint8Array): void {
    if (payload.length !== CREDIT_BYTES) throw new CtError('ERR_PROTOCOL', `expected a credit of ${CREDIT_BYTES} bytes`)
    this.#credit += new DataView(payload.buffer, payload.byteOffset).getUint32(0)
    if (this.#credit > PIPE_WINDOW_BYTES) throw new CtError('ERR_PROTOCOL', 'the peer gave more credit than the window')
    this.#wake()
  }

  #enqueue(bytes: Uint8Array, sink: PipeSink): void {
    this.#chain(async () => {
      await sink.write(bytes)
      this.#written += bytes.length
      if (this.#written >= CREDIT_PORTION_BYTES) this.#giveCredit()
    })
  }

  #giveCredit(): void {
    const credit = Buffer.allocUnsafe(CREDIT_BYTES)
    credit.writeUInt32BE(this.#written)
    this.#received -= this.#written
    this.#written = 0
    this.#sendFrame(FRAME.credit, credit)
  }

  #enqueueEnd(sink: PipeSink): void {
    this.#chain(async () => {
      await sink.end()
      this.#sendFrame(FRAME.endAck, NOTHING)
      this.#receivedAll.resolve()
    })
  }

  #chain(step: () => Promise<void>): void {
    this.#work = this.#work.then(step).catch((error: unknown) => this.#receivedAll.reject(error))
  }
}

const NOTHING = new Uint8Array(0)
