/**
 * Messages to and from a broker on a byte stream: `u32 length (big endian) ‖ payload`.
 *
 * Holds: a length beyond the largest message, or of nothing, is refused before a byte is kept for it, so a reader never
 * holds more than one message.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { MAX_LIST_MESSAGE_BYTES, MAX_RENDEZVOUS_BYTES } from './messages.ts'

const LENGTH_BYTES = 4

/** One whole frame around a message of the rendezvous. */
export function encodeRendezvousFrame(payload: Uint8Array): Uint8Array {
  return encodeLengthFrame(payload, MAX_LIST_MESSAGE_BYTES)
}

/** One whole frame around the payload. */
export function encodeLengthFrame(payload: Uint8Array, maxBytes: number): Uint8Array {
  const size = payload.length
  if (size === 0 || size > maxBytes) {
    throw new RangeError(`expected a payload of 1 to ${maxBytes} bytes, found ${size}`)
  }
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + size)
  frame.writeUInt32BE(size, 0)
  frame.set(payload, LENGTH_BYTES)
  return frame
}

/** Cuts a byte stream into payloads. After it has thrown, the stream has no more to say. */
export class RendezvousReader {
  /** Of an unfinished frame, or of a length that has not fully arrived. */
  #partial: Uint8Array = NOTHING
  #filled = 0
  #maxBytes: number

  /** @param maxBytes of one payload */
  constructor(maxBytes: number = MAX_RENDEZVOUS_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** From the next payload on. */
  widen(maxBytes: number): void {
    this.#maxBytes = maxBytes
  }

  /** True while a frame has begun and not ended. */
  get isWithinFrame(): boolean {
    return this.#filled > 0
  }

  /**
   * The payloads that are now whole, in order; each is a copy.
   *
   * @throws {CtError} `ERR_PROTOCOL` on a length that no frame has
   */
  push(chunk: Uint8Array): Uint8Array[] {
    return [...this.read(chunk)]
  }

  /** As {@link push}, but each is handed over before the length of the next one is judged. */
  *read(chunk: Uint8Array): Generator<Uint8Array> {
    let rest = chunk
    while (rest.length > 0) {
      if (this.#filled === 0) this.#partial = new Uint8Array(LENGTH_BYTES)
      rest = rest.subarray(this.#take(rest))
      if (this.#filled < this.#partial.length) break
      if (this.#filled === LENGTH_BYTES) {
        this.#grow(readLength(this.#partial, this.#maxBytes))
      } else {
        const payload = this.#partial.subarray(LENGTH_BYTES)
        this.#partial = NOTHING
        this.#filled = 0
        yield payload
      }
    }
  }

  #take(bytes: Uint8Array): number {
    const taken = Math.min(this.#partial.length - this.#filled, bytes.length)
    this.#partial.set(bytes.subarray(0, taken), this.#filled)
    this.#filled += taken
    return taken
  }

  #grow(size: number): void {
    const length = this.#partial
    this.#partial = new Uint8Array(LENGTH_BYTES + size)
    this.#partial.set(length)
  }
}

function readLength(bytes: Uint8Array, maxBytes: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset, LENGTH_BYTES).getUint32(0)
  if (length === 0 || length > maxBytes) {
    throw new CtError('ERR_PROTOCOL', `expected a message of 1 to ${maxBytes} bytes, found ${length}`, {
      detail: { category: 'len-oob' },
    })
  }
  return length
}

const NOTHING: Uint8Array = new Uint8Array(0)
