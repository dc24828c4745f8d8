/**
 * Puts the pieces of large messages together again.
 *
 * Holds: at most one message is in assembly, in one buffer that is never larger than the announced limit; of a larger
 * message only the head is kept, enough to tell its sender which request was too large.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type CallTag, type IncomingMessage } from '../../core/link.ts'

/** Enough for the id of a request, wherever a common encoder puts it. */
const HEAD_BYTES = 1024

export class Assembly {
  readonly #limitBytes: number
  #buffer = NOTHING
  #total = 0
  #head: Uint8Array = new Uint8Array(0)
  #call: CallTag | undefined
  #open = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** A message that came in one frame. */
  whole(bytes: Uint8Array, call?: CallTag): IncomingMessage {
    if (bytes.length > this.#limitBytes) return oversize(bytes.slice(0, HEAD_BYTES), bytes.length, call)
    return text(bytes, call)
  }

  /** @throws {CtError} `ERR_PROTOCOL` when another message is still open */
  begin(piece: Uint8Array, call?: CallTag): void {
    if (this.#open)
      throw new CtError('ERR_PROTOCOL', 'expected the rest of a large message, found the start of another')
    this.#open = true
    this.#call = call
    this.#head = piece.slice(0, HEAD_BYTES)
    this.#add(piece)
  }

  /** @throws {CtError} `ERR_PROTOCOL` when no message is open */
  continue(piece: Uint8Array): void {
    if (!this.#open) throw new CtError('ERR_PROTOCOL', 'expected the start of a large message, found a piece of one')
    this.#add(piece)
  }

  /** The last piece; the message is complete. */
  finish(piece: Uint8Array): IncomingMessage {
    this.continue(piece)
    const message =
      this.#total > this.#limitBytes
        ? oversize(this.#head, this.#total, this.#call)
        : text(this.#buffer.subarray(0, this.#total), this.#call)
    this.#buffer = NOTHING
    this.#total = 0
    this.#call = undefined
    this.#open = false
    return message
  }

  #add(piece: Uint8Array): void {
    const start = this.#total
    this.#total += piece.length
    if (this.#total > this.#limitBytes) {
      this.#buffer = NOTHING
      return
    }
    if (this.#total > this.#buffer.length) this.#grow()
    this.#buffer.set(piece, start)
  }

  // One buffer instead of a list of pieces: pieces of one byte each would cost a hundred times what they hold.
  #grow(): void {
    const size = Math.min(this.#limitBytes, Math.max(FIRST_BUFFER_BYTES, this.#total, this.#buffer.length * 2))
    const larger = Buffer.allocUnsafe(size)
    larger.set(this.#buffer)
    this.#buffer = larger
  }
}

/** Two full pieces: no larger message is smaller. */
const FIRST_BUFFER_BYTES = 131_072
const NOTHING: Uint8Array = new Uint8Array(0)

function text(bytes: Uint8Array, call: CallTag | undefined): IncomingMessage {
  return call === undefined ? { kind: 'text', bytes } : { kind: 'text', bytes, call }
}

function oversize(head: Uint8Array, totalBytes: number, call: CallTag | undefined): IncomingMessage {
  return call === undefined ? { kind: 'oversize', head, totalBytes } : { kind: 'oversize', head, totalBytes, call }
}
