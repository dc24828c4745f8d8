/**
 * Frames of a session: `u32 length (big endian) ‖ u8 type ‖ payload`, where the length counts type and payload.
 *
 * Holds: no frame is larger than {@link MAX_FRAME_BYTES}, so a lying length is refused before a byte is allocated for
 * it; large messages travel as several frames. Types from 0x80 up are optional: a reader that does not know one skips
 * it. Any other unknown type ends the session.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'

export const FRAME = {
  /** CBOR map, the first frame of each side. */
  hello: 0x01,
  /** One whole JSON text. */
  message: 0x02,
  /** First piece of a JSON text that continues in `part` frames and ends with `last`. */
  messageOpen: 0x03,
  /** Call tag, then one whole JSON text. */
  call: 0x04,
  /** Call tag, then the first piece of a JSON text. */
  callOpen: 0x05,
  part: 0x06,
  last: 0x07,
  /** Eight bytes that come back in a `pong`. */
  ping: 0x08,
  pong: 0x09,
  /** CBOR map: why the sender ends the session. Its last frame. */
  bye: 0x0a,
  /** Bytes of a raw pipe. */
  data: 0x0b,
  /** The sender's raw pipe is at its end. */
  end: 0x0c,
  /** Everything up to `end` was written out. */
  endAck: 0x0d,
  /** u32: so many more `data` bytes may be sent. */
  credit: 0x0e,
} as const

export type FrameType = (typeof FRAME)[keyof typeof FRAME]

/** Frame types of one kind of message: the one that holds it whole, and the one that opens it. */
export interface MessageTypes {
  readonly whole: FrameType
  readonly open: FrameType
}

export const MESSAGE_TYPES: MessageTypes = { whole: FRAME.message, open: FRAME.messageOpen }
export const CALL_TYPES: MessageTypes = { whole: FRAME.call, open: FRAME.callOpen }

/** Payload bound: large enough for bulk speed, small enough that a small call never waits long behind one frame. */
export const MAX_PAYLOAD_BYTES = 65_536
const TYPE_BYTES = 1
const LENGTH_BYTES = 4
export const FRAME_HEADER_BYTES = LENGTH_BYTES + TYPE_BYTES
export const MAX_FRAME_BYTES = FRAME_HEADER_BYTES + MAX_PAYLOAD_BYTES
/** Types from here up may be skipped by a reader that does not know them. */
const OPTIONAL_TYPES = 0x80

const KNOWN_TYPES: ReadonlySet<number> = new Set(Object.values(FRAME))

/** One whole frame. */
export function encodeFrame(type: FrameType, payload: Uint8Array): Uint8Array {
  return encodeFrameHead(type, payload, 0)
}

/** A frame up to the last `restBytes` of its payload, which the caller writes behind it without a copy. */
export function encodeFrameHead(type: FrameType, head: Uint8Array, restBytes: number): Uint8Array {
  const size = head.length + restBytes
  if (size > MAX_PAYLOAD_BYTES) throw new RangeError(`frame payload of ${size} bytes exceeds ${MAX_PAYLOAD_BYTES}`)
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + head.length)
  frame.writeUInt32BE(size + TYPE_BYTES, 0)
  frame[LENGTH_BYTES] = type
  frame.set(head, FRAME_HEADER_BYTES)
  return frame
}

/** One frame whose payload is the UTF-8 form of a text, written in place. */
export function encodeTextFrame(type: FrameType, head: Uint8Array, text: string, textBytes: number): Uint8Array {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + head.length + textBytes)
  frame.writeUInt32BE(head.length + textBytes + TYPE_BYTES, 0)
  frame[LENGTH_BYTES] = type
  frame.set(head, FRAME_HEADER_BYTES)
  frame.write(text, FRAME_HEADER_BYTES + head.length, 'utf8')
  return frame
}

export type FrameSink = (type: FrameType, payload: Uint8Array) => void

/** Cuts a byte stream into frames. Holds at most one unfinished frame, in one buffer of its size. */
export class FrameReader {
  readonly #sink: FrameSink
  /** Of the size of the unfinished frame, or of a length while that has not fully arrived. */
  #partial = NOTHING
  #filled = 0

  /** @param sink receives payloads that are views into the bytes that arrived: copy what is kept */
  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** Bytes of the frame that has not fully arrived. */
  get pendingBytes(): number {
    return this.#filled
  }

  /** @throws {CtError} `ERR_PROTOCOL` on a length or a type that no frame has */
  push(chunk: Uint8Array): void {
    const rest = this.#filled === 0 ? chunk : chunk.subarray(this.#fill(chunk))
    const used = this.#cut(rest)
    if (used < rest.length) this.#keep(rest.subarray(used))
  }

  /** Hands over the whole frames; returns how many bytes they took. */
  #cut(bytes: Uint8Array): number {
    let offset = 0
    while (bytes.length - offset >= LENGTH_BYTES) {
      const end = offset + LENGTH_BYTES + readLength(bytes, offset)
      if (bytes.length < end) break
      const type = bytes[offset + LENGTH_BYTES] ?? 0
      if (isFrameType(type)) this.#sink(type, bytes.subarray(offset + FRAME_HEADER_BYTES, end))
      else if (type < OPTIONAL_TYPES) throw new CtError('ERR_PROTOCOL', `expected a known frame type, found ${type}`)
      offset = end
    }
    return offset
  }

  // A copy, so that the remainder of a large chunk does not keep the whole chunk alive.
  #keep(start: Uint8Array): void {
    const size = LENGTH_BYTES + (start.length < LENGTH_BYTES ? 0 : readLength(start, 0))
    this.#partial = Buffer.allocUnsafe(size)
    this.#partial.set(start)
    this.#filled = start.length
  }

  // Bytes are copied once however small the pieces are in which a frame comes. Returns how many it took.
  #fill(chunk: Uint8Array): number {
    const taken = Math.min(this.#partial.length - this.#filled, chunk.length)
    this.#partial.set(chunk.subarray(0, taken), this.#filled)
    this.#filled += taken
    if (this.#filled < this.#partial.length) return taken
    const whole = this.#partial
    this.#filled = 0
    this.#partial = NOTHING
    if (whole.length > LENGTH_BYTES) {
      this.#cut(whole)
      return taken
    }
    this.#keep(whole)
    return taken + this.#fill(chunk.subarray(taken))
  }
}

function readLength(bytes: Uint8Array, offset: number): number {
  const length =
    (((bytes[offset] ?? 0) << 24) |
      ((bytes[offset + 1] ?? 0) << 16) |
      ((bytes[offset + 2] ?? 0) << 8) |
      (bytes[offset + 3] ?? 0)) >>>
    0
  if (length < TYPE_BYTES || length > MAX_PAYLOAD_BYTES + TYPE_BYTES) {
    throw new CtError(
      'ERR_PROTOCOL',
      `expected a frame length from 1 to ${MAX_PAYLOAD_BYTES + TYPE_BYTES}, found ${length}`,
    )
  }
  return length
}

function isFrameType(type: number): type is FrameType {
  return KNOWN_TYPES.has(type)
}

const NOTHING: Uint8Array = new Uint8Array(0)
