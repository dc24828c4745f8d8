/**
 * What the serving side of a link asks its peer.
 *
 * Holds: every request ends once, in the peer's answer or in one error; ids are of this side alone; few wait at a time.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { cancelled } from '../wire/call-end.ts'
import { type IdText, notificationText, type Response } from '../wire/envelope.ts'
import { type Relayed } from '../wire/relayed.ts'
import { relayedResponse } from './relaying.ts'

/** Requests that one peer has not answered; each is one that a person may have to decide. */
export const MAX_ASKED = 64

interface Asked {
  readonly settle: (answer: Relayed) => void
  readonly fail: (error: CtError) => void
}

export class AskedPeer {
  readonly #send: (text: string) => void
  readonly #asked = new Map<IdText, Asked>()
  #last = 0
  #ended: CtError | undefined

  constructor(send: (text: string) => void) {
    this.#send = send
  }

  /** @param params JSON text */
  async ask(method: string, params: string, signal: AbortSignal): Promise<Relayed> {
    if (this.#ended !== undefined) throw this.#ended
    if (signal.aborted) throw reasonOf(signal)
    if (this.#asked.size >= MAX_ASKED) {
      throw new CtError('ERR_PEER_BUSY', `at most ${MAX_ASKED} requests may wait for the client`)
    }
    this.#last += 1
    const requestId = `ct-${this.#last}`
    const id: IdText = JSON.stringify(requestId)
    const { promise, resolve, reject } = Promise.withResolvers<Relayed>()
    const abort = (): void => {
      this.#asked.get(id)?.fail(reasonOf(signal))
      this.#send(notificationText('notifications/cancelled', { reason: reasonOf(signal).code, requestId }))
    }
    signal.addEventListener('abort', abort, { once: true })
    this.#asked.set(id, { settle: resolve, fail: reject })
    try {
      this.#send(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`)
      return await promise
    } finally {
      this.#asked.delete(id)
      signal.removeEventListener('abort', abort)
    }
  }

  /**
   * False when nothing of the kind was asked.
   *
   * @param text of the whole message; nothing for one of a batch
   */
  answered(response: Response, text: string | undefined): boolean {
    const asked = this.#asked.get(response.id)
    if (asked === undefined) return false
    try {
      asked.settle(relayedResponse(response, text))
    } catch (error) {
      asked.fail(toCtError(error))
    }
    return true
  }

  end(reason: CtError): void {
    this.#ended = reason
    for (const { fail } of this.#asked.values()) fail(reason)
  }
}

function reasonOf(signal: AbortSignal): CtError {
  return signal.reason instanceof CtError ? signal.reason : cancelled()
}
