/**
 * Messages of a session on their way in: frames become messages, messages reach the one listener in order.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type InstanceId } from '../../core/ids.ts'
import { type IncomingMessage } from '../../core/link.ts'
import { Assembly } from './assembly.ts'
import { CALL_TAG_BYTES, parseCallTag } from './call-tag.ts'
import { FRAME, type FrameType } from './frame.ts'

/**
 * Bytes kept until somebody listens. A listener is set in the turn in which the session is ready, but what a peer sent
 * along with its hello may come in one piece before that: as much as fits into the stream's window.
 */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** What a waiting message costs beside its bytes, so that empty ones are bounded too. */
const WAITING_OVERHEAD_BYTES = 256

export class Inbox {
  readonly #assembly: Assembly
  #listener: ((message: IncomingMessage) => void) | undefined
  #waiting: IncomingMessage[] = []
  #waitingBytes = 0

  constructor(limitBytes: number) {
    this.#assembly = new Assembly(limitBytes)
  }

  /** Sets the one listener; what came earlier is delivered first. */
  receive(listener: (message: IncomingMessage) => void): void {
    this.#listener = listener
    // One at a time: what a listener does with one may end the session, and then there are no others.
    for (let index = 0; index < this.#waiting.length; index += 1) {
      const message = this.#waiting[index]
      if (message !== undefined) listener(message)
    }
    this.clear()
  }

  /** Drops what nobody listened to. */
  clear(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /**
   * @param run the peer's run, which names its calls
   * @returns false for a frame that is no part of a message
   * @throws {CtError} `ERR_PROTOCOL`
   */
  onFrame(type: FrameType, payload: Uint8Array, run: InstanceId): boolean {
    switch (type) {
      case FRAME.message:
        this.#deliver(this.#assembly.whole(payload))
        return true
      case FRAME.call:
        this.#deliver(this.#assembly.whole(payload.subarray(CALL_TAG_BYTES), parseCallTag(payload, run)))
        return true
      case FRAME.messageOpen:
        this.#assembly.begin(payload)
        return true
      case FRAME.callOpen:
        this.#assembly.begin(payload.subarray(CALL_TAG_BYTES), parseCallTag(payload, run))
        return true
      case FRAME.part:
        this.#assembly.continue(payload)
        return true
      case FRAME.last:
        this.#deliver(this.#assembly.finish(payload))
        return true
      default:
        return false
    }
  }

  #deliver(message: IncomingMessage): void {
    if (this.#listener !== undefined) {
      this.#listener(message)
      return
    }
    this.#waiting.push(message)
    this.#waitingBytes += WAITING_OVERHEAD_BYTES + (message.kind === 'text' ? message.bytes : message.head).length
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      throw new CtError('ERR_PROTOCOL', 'too many messages before the session was ready')
    }
  }
}
