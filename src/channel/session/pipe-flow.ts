/**
 * The raw pipe of a session: bytes both ways, half-close, and a receipt for the last byte.
 *
 * Holds: the sender never has more than {@link PIPE_WINDOW_BYTES} that the receiver has not written out, so a slow
 * reader costs bounded memory while pings still pass; a direction is over only when its end was acknowledged, so no
 * tail is lost when a side exits.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { FRAME, type FrameType, MAX_PAYLOAD_BYTES } from './frame.ts'

/** Keeps a fast link full over some tens of milliseconds; it is also what one stalled pipe may hold in memory. */
export const PIPE_WINDOW_BYTES = 1024 * 1024
const CREDIT_BYTES = 4
/** Credit is given back in portions: one frame for each would be a packet for each. */
export const CREDIT_PORTION_BYTES = PIPE_WINDOW_BYTES / 4
/** Payloads from here up wait as they are; smaller ones are copied together, lest each keep what it came in alive. */
const LARGE_BYTES = 8 * 1024

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
  #waiting: Waiting[] = []
  #writing = false
  #peerEnded = false
  #sentEnd = false
  #failure: CtError | undefined
  #wakers: (() => void)[] = []
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
        await new Promise<void>((resolve) => this.#wakers.push(resolve))
        continue
      }
      const size = Math.min(this.#credit, MAX_PAYLOAD_BYTES, bytes.length - offset)
      this.#credit -= size
      this.#sendFrame(FRAME.data, bytes.subarray(offset, offset + size))
      offset += size
    }
  }

  sendEnd(): void {
    this.#sentEnd = true
    this.#sendFrame(FRAME.end, NOTHING)
  }

  /** Where the peer's bytes go; those that came earlier go first. */
  deliverTo(sink: PipeSink): void {
    this.#sink = sink
    void this.#writeOut(sink)
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
        if (this.#sink !== undefined) void this.#writeOut(this.#sink)
        break
      case FRAME.endAck:
        if (!this.#sentEnd) throw new CtError('ERR_PROTOCOL', 'the peer acknowledged an end that was not sent')
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
    this.#keep(payload)
    if (this.#sink !== undefined) void this.#writeOut(this.#sink)
  }

  #keep(payload: Uint8Array): void {
    const last = this.#waiting.at(-1)
    if (payload.length >= LARGE_BYTES) {
      this.#waiting.push({ bytes: payload, used: payload.length })
    } else if (last !== undefined && last.bytes.length - last.used >= payload.length) {
      last.bytes.set(payload, last.used)
      last.used += payload.length
    } else {
      const bytes = Buffer.allocUnsafe(LARGE_BYTES)
      bytes.set(payload)
      this.#waiting.push({ bytes, used: payload.length })
    }
  }

  #onCredit(payload: Uint8Array): void {
    if (payload.length !== CREDIT_BYTES) throw new CtError('ERR_PROTOCOL', `expected a credit of ${CREDIT_BYTES} bytes`)
    this.#credit += new DataView(payload.buffer, payload.byteOffset).getUint32(0)
    if (this.#credit > PIPE_WINDOW_BYTES) throw new CtError('ERR_PROTOCOL', 'the peer gave more credit than the window')
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake()
  }

  // After a failure nothing more is written and, above all, nothing acknowledged.
  async #writeOut(sink: PipeSink): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        await sink.write(next.bytes.subarray(0, next.used))
        this.#written += next.used
        if (this.#written >= CREDIT_PORTION_BYTES) this.#giveCredit()
      }
      if (this.#peerEnded) {
        await sink.end()
        this.#sendFrame(FRAME.endAck, NOTHING)
        this.#receivedAll.resolve()
        return
      }
      this.#writing = false
    } catch (error) {
      this.#receivedAll.reject(error)
    }
  }

  #giveCredit(): void {
    const credit = Buffer.allocUnsafe(CREDIT_BYTES)
    credit.writeUInt32BE(this.#written)
    this.#received -= this.#written
    this.#written = 0
    this.#sendFrame(FRAME.credit, credit)
  }
}

/** Bytes that wait to be written out; there may be room for more behind them. */
interface Waiting {
  readonly bytes: Uint8Array
  used: number
}

const NOTHING = new Uint8Array(0)
