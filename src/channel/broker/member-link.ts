/**
 * One rendezvous stream of one member, from the broker's side: its frames, its pace and its end.
 *
 * Holds: a stream that breaks the rules is told why and ended; nothing is read after that.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { type HolderId, type NoiseKeyId } from '../../core/ids.ts'
import { type Address } from '../address.ts'
import { encodeRendezvousFrame, RendezvousReader } from '../rendezvous/framing.ts'
import {
  encodeFromBroker,
  type FromBroker,
  type FromMember,
  MAX_LIST_MESSAGE_BYTES,
  parseFromMember,
} from '../rendezvous/messages.ts'
import { refusedFor } from '../rendezvous/refused.ts'
import { type Wire } from '../session/wire.ts'
import { categoryOf } from './refusals.ts'

export type MemberWire = Pick<Wire, 'write' | 'drained' | 'finish' | 'destroy' | 'listen'>

/** Who is at the far end, and how it got here. */
export interface MemberPeer {
  readonly holder: HolderId
  readonly noiseKeys: ReadonlySet<NoiseKeyId>
  readonly observed: Address
  /** The same object for every stream of one connection. */
  readonly connection: object
}

export interface MemberLinkOptions {
  readonly peer: MemberPeer
  readonly now: () => number
  readonly onMessage: (message: FromMember) => void
  /** The member broke the rules, or closed: nothing comes any more. */
  readonly onEnd: (error?: CtError) => void
}

/** Signs of life come every 15 s, and loads as sessions come and go. */
export const MAX_MESSAGES = 256
const PACE_WINDOW_MS = 10_000
/** Time for the last words to leave. */
const FINISH_MS = 3_000

export class MemberLink {
  readonly peer: MemberPeer
  /** When the member was last heard of. */
  heardAt: number
  readonly #wire: MemberWire
  readonly #options: MemberLinkOptions
  readonly #reader = new RendezvousReader()
  #windowSince: number
  #messages = 0
  #ended = false
  #isClogged = false
  /** The newest list, for a member that has not read what was written before. */
  #list: Uint8Array | undefined

  constructor(wire: MemberWire, options: MemberLinkOptions) {
    this.peer = options.peer
    this.#wire = wire
    this.#options = options
    this.heardAt = options.now()
    this.#windowSince = this.heardAt
  }

  get isOpen(): boolean {
    return !this.#ended
  }

  start(): void {
    this.#wire.listen({ onBytes: (bytes) => this.#read(bytes), onEnd: () => this.#end() })
  }

  /** From now on the member may send revocation lists, which are longer than anything a stranger has to say. */
  takeLists(): void {
    this.#reader.widen(MAX_LIST_MESSAGE_BYTES)
  }

  send(message: FromBroker): void {
    this.#write(encodeRendezvousFrame(encodeFromBroker(message)))
  }

  /**
   * Of lists that come faster than the member reads, it gets the last.
   *
   * @param frame the message with the list; it is copied when it is sent, for many are sent the same
   */
  sendList(frame: Uint8Array): void {
    if (this.#isClogged) this.#list = frame
    else this.#write(Uint8Array.from(frame))
  }

  /** The last word. */
  refuse(error: CtError): void {
    this.send(refusedFor(error, categoryOf(error)))
    this.finish()
  }

  /** Ends the stream when everything written has left. */
  finish(): void {
    if (this.#ended) return
    this.#ended = true
    this.#wire
      .finish(AbortSignal.timeout(FINISH_MS))
      .catch((error: unknown) => this.#wire.destroy(toCtError(error, 'ERR_LINK_LOST')))
  }

  /** Ends the stream at once. */
  drop(reason: CtError): void {
    if (this.#ended) return
    this.#ended = true
    this.#wire.destroy(reason)
    this.#options.onEnd()
  }

  #write(frame: Uint8Array): void {
    if (this.#ended) return
    try {
      if (!this.#wire.write([frame])) this.#awaitDrain()
    } catch (error) {
      this.drop(toCtError(error, 'ERR_LINK_LOST'))
    }
  }

  #awaitDrain(): void {
    if (this.#isClogged) return
    this.#isClogged = true
    this.#wire.drained().then(
      () => {
        this.#isClogged = false
        const list = this.#list
        this.#list = undefined
        if (list !== undefined) this.#write(Uint8Array.from(list))
      },
      // The stream is over.
      () => {},
    )
  }

  #read(bytes: Uint8Array): void {
    if (this.#ended) return
    try {
      for (const payload of this.#reader.read(bytes)) {
        if (this.#ended) return
        this.#take(payload)
      }
    } catch (error) {
      // What is no error of ours is a defect of ours: it costs this member its stream, and nobody else anything.
      this.#options.onEnd(toCtError(error))
    }
  }

  #take(payload: Uint8Array): void {
    const { now, onMessage } = this.#options
    this.heardAt = now()
    if (this.heardAt - this.#windowSince >= PACE_WINDOW_MS) {
      this.#windowSince = this.heardAt
      this.#messages = 0
    }
    this.#messages += 1
    if (this.#messages > MAX_MESSAGES) {
      throw new CtError('ERR_PROTOCOL', `expected at most ${MAX_MESSAGES} messages in ${PACE_WINDOW_MS / 1_000} s`)
    }
    const message = parseFromMember(payload)
    if (message !== undefined) onMessage(message)
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#wire.finish(AbortSignal.timeout(FINISH_MS)).catch((error: unknown) => {
      this.#wire.destroy(toCtError(error, 'ERR_LINK_LOST'))
    })
    this.#options.onEnd()
  }
}
