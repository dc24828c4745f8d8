/**
 * What the peer of a caller asks and tells in its turn.
 *
 * Holds: every request is answered once, unless the peer withdrew it or the link is gone; only so many are worked on at
 * once, and a peer that asks without reading gets no more answers than so many to wait.
 *
 * @module
 */
import { CtError, isCtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { errorText, type IdText, type Request, resultText } from '../wire/envelope.ts'
import { type Relayed } from '../wire/relayed.ts'
import { codedError, RPC_UNKNOWN_METHOD } from '../wire/rpc-error.ts'

export interface PeerHandlers {
  /** @param params JSON text */
  readonly onNotification?: (method: string, params: string) => void
  /**
   * The answer, or nothing for a method that there is not; what it throws is said to the peer when it is an error of ours.
   *
   * @param params JSON text
   */
  readonly onRequest?: (method: string, params: string, signal: AbortSignal) => Promise<Relayed> | undefined
}

/** Answers that the port has not taken yet. */
const MAX_WAITING = 256
/** Requests that are worked on. */
const MAX_ASKED_AT_ONCE = 64

export class PeerRequests {
  readonly #handlers: PeerHandlers
  readonly #send: (text: string) => Promise<void>
  readonly #log: Log
  readonly #running = new Map<IdText, AbortController>()
  #waiting = 0

  constructor(handlers: PeerHandlers, send: (text: string) => Promise<void>, log: Log) {
    this.#handlers = handlers
    this.#send = send
    this.#log = log
  }

  told(method: string, params: string): void {
    this.#handlers.onNotification?.(method, params)
  }

  asked({ id, method, source }: Request): void {
    if (this.#waiting >= MAX_WAITING) return
    if (method === 'ping') {
      this.say(resultText(id, '{}'))
      return
    }
    if (this.#running.has(id) || this.#running.size >= MAX_ASKED_AT_ONCE) {
      this.#refuse(id, new CtError('ERR_PEER_BUSY', `at most ${MAX_ASKED_AT_ONCE} requests are worked on at once`))
      return
    }
    const stop = new AbortController()
    const answer = this.#handlers.onRequest?.(method, source('params') ?? '{}', stop.signal)
    if (answer === undefined) {
      this.say(errorText(id, { code: RPC_UNKNOWN_METHOD, message: 'this side serves no methods' }))
      return
    }
    this.#running.set(id, stop)
    void this.#answer(id, answer, stop.signal)
  }

  /** The peer does not want the answer any more. */
  withdrawn(id: IdText): void {
    this.#running.get(id)?.abort(new CtError('ERR_CALL_CANCELLED', 'the peer cancelled its request'))
    this.#running.delete(id)
  }

  end(reason: CtError): void {
    for (const stop of this.#running.values()) stop.abort(reason)
    this.#running.clear()
  }

  say(text: string): void {
    this.#waiting += 1
    this.#send(text)
      .catch((error: unknown) => this.#log.debug('mcp.message_lost', { reason: String(error) }))
      .finally(() => (this.#waiting -= 1))
  }

  async #answer(id: IdText, answer: Promise<Relayed>, signal: AbortSignal): Promise<void> {
    try {
      const relayed = await answer
      if (signal.aborted) return
      this.say('error' in relayed ? errorText(id, relayed.error) : resultText(id, relayed.resultText))
    } catch (error) {
      if (signal.aborted) return
      this.#refuse(id, isCtError(error) ? error : new CtError('ERR_INTERNAL', 'internal error'))
    } finally {
      if (!signal.aborted) this.#running.delete(id)
    }
  }

  #refuse(id: IdText, error: CtError): void {
    this.say(errorText(id, codedError(error)))
  }
}
