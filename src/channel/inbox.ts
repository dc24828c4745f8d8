/**
 * Messages of a session on their way in: frames become messages, messages reach the one listener in order.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { type InstanceId } from '../core/ids.ts'
import { Assembly, type IncomingMessage } from './assembly.ts'
import { CALL_TAG_BYTES, parseCallTag } from './call-tag.ts'
import { FRAME, type FrameType } from './frame.ts'

/** Messages kept until somebody listens; a listener is set in the turn in which the session is ready. */
const MAX_WAITING = 256

export class Inbox {
  readonly #assembly: Assembly
  #listener: ((message: IncomingMessage) => void) | undefined
  #waiting: IncomingMessage[] = []

  constructor(limitBytes: number) {
    this.#assembly = new Assembly(limitBytes)
  }

  /** Sets the one listener; what came earlier is delivered first. */
  receive(listener: (message: IncomingMessage) => void): void {
    this.#listener = listener
    const waiting = this.#waiting
    this.#waiting = []
    for (const message of waiting) listener(message)
  }

  /** Drops what nobody listened to. */
  clear(): void {
    this.#waiting = []
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
    if (this.#listener !== undefined) this.#listener(message)
    else if (this.#waiting.push(message) > MAX_WAITING) {
      throw new CtError('ERR_PROTOCOL', 'too many messages before the session was ready')
    }
  }
}
