/**
 * The stream on which two members arrange to meet.
 *
 * Holds: what waits to be heard is bounded; after the end nothing is heard, and what is said goes nowhere.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { CtError, toCtError } from '../../core/errors.ts'
import { encodeLengthFrame, RendezvousReader } from '../rendezvous/framing.ts'
import { encodePunch, MAX_PUNCH_BYTES, PUNCH_PROTOCOL, type PunchMessage, parsePunch } from './messages.ts'

/** A peer that says more than this at once does not wait for answers, as it should. */
const MAX_UNHEARD = 8
const CLOSE_TIMEOUT_MS = 1_000

export class PunchTalk {
  /** Aborts when the peer has closed the stream, or it broke. */
  readonly ended: AbortSignal
  readonly #stream: Stream
  readonly #unheard: PunchMessage[] = []
  readonly #over = new AbortController()
  #wake: () => void = () => {}

  /** @throws {CtError} `ERR_PEER_UNREACHABLE` when the peer does not take part */
  static async open(relayed: Connection, signal: AbortSignal): Promise<PunchTalk> {
    try {
      return new PunchTalk(await relayed.newStream(PUNCH_PROTOCOL, { signal, runOnLimitedConnection: true }))
    } catch (cause) {
      signal.throwIfAborted()
      throw new CtError('ERR_PEER_UNREACHABLE', 'the peer is reached through the relay alone', { cause })
    }
  }

  constructor(stream: Stream) {
    this.#stream = stream
    this.ended = this.#over.signal
    const reader = new RendezvousReader(MAX_PUNCH_BYTES)
    stream.addEventListener('message', ({ data }) => {
      try {
        for (const part of data instanceof Uint8Array ? [data] : data)
          for (const one of reader.push(part)) this.#take(one)
      } catch (error) {
        this.#end(toCtError(error))
      }
    })
    const end = (): void => this.#end(new CtError('ERR_LINK_CLOSED', 'the peer ended the talk'))
    stream.addEventListener('remoteCloseWrite', end)
    stream.addEventListener('close', end)
    if (stream.status !== 'open') end()
  }

  say(message: PunchMessage): void {
    if (this.ended.aborted || this.#stream.writableNeedsDrain) return
    try {
      this.#stream.send(encodeLengthFrame(encodePunch(message), MAX_PUNCH_BYTES))
    } catch (error) {
      this.#end(toCtError(error, 'ERR_LINK_LOST'))
    }
  }

  /** The next message; rejects with why none comes any more, or the signal's reason. */
  async hear(signal: AbortSignal): Promise<PunchMessage> {
    for (;;) {
      signal.throwIfAborted()
      const message = this.#unheard.shift()
      if (message !== undefined) return message
      this.ended.throwIfAborted()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  close(): void {
    this.#end(new CtError('ERR_LINK_CLOSED', 'this side ended the talk'))
  }

  #take(payload: Uint8Array): void {
    const message = parsePunch(payload)
    if (message === undefined || this.ended.aborted) return
    if (this.#unheard.length >= MAX_UNHEARD) throw new CtError('ERR_PROTOCOL', 'expected a peer that waits for answers')
    this.#unheard.push(message)
    this.#wake()
  }

  #end(reason: CtError): void {
    if (this.ended.aborted) return
    this.#over.abort(reason)
    this.#wake()
    this.#stream.close({ signal: AbortSignal.timeout(CLOSE_TIMEOUT_MS) }).catch((error: unknown) => {
      this.#stream.abort(toCtError(error))
    })
  }
}
