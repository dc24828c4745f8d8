/**
 * The requests of one link from their arrival to their answers.
 *
 * Holds: every request is answered exactly once or was cancelled. Requests in flight are bounded; more are refused with
 * a reason, not queued.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type CallTag } from '../../core/link.ts'
import { type Port } from '../port.ts'
import { errorText, type IdText } from '../wire/envelope.ts'
import { invalidRequest } from '../wire/rpc-error.ts'
import { type Call } from './call.ts'
import { type LedgerLink } from './call-ledger.ts'
import { dispatch, refusalText, refuseCall } from './methods.ts'
import { type Outgoing } from './outgoing.ts'
import { checkRights } from './rights.ts'

export interface CallsInFlightOptions {
  readonly port: Port
  readonly outgoing: Outgoing
  readonly ledgerLink: LedgerLink
  /** Twice as many answers may wait for the port. */
  readonly limit: number
}

export class CallsInFlight {
  readonly #options: CallsInFlightOptions
  readonly #inFlight = new Map<IdText, Call>()
  /** Calls executed for this link, wanted or not. */
  #running = 0
  #draining = false
  #closed = false
  #idle: (() => void)[] = []

  constructor(options: CallsInFlightOptions) {
    this.#options = options
  }

  /** Requests that are not answered yet. */
  get size(): number {
    return this.#inFlight.size
  }

  /** @param bytes of the request */
  start(call: Call, bytes: Uint8Array): void {
    const { id, tag } = call
    const twin = this.#inFlight.get(id)
    if (twin !== undefined && (tag === undefined || twin.tag === undefined || twin.callId !== call.callId)) {
      call.respond(errorText(id, invalidRequest('a request with this `id` is still in flight')))
    } else if (tag === undefined) {
      this.#startUntagged(call)
    } else {
      this.#startTagged(call, tag, bytes)
    }
  }

  /** The peer does not want the answer any more. */
  cancel(id: IdText): void {
    const call = this.#inFlight.get(id)
    if (call === undefined || call.request.method === 'initialize') return
    if (call.execution !== undefined) {
      call.execution.cancel()
    } else {
      this.#answer(call, undefined)
      call.abort(new CtError('ERR_CALL_CANCELLED', 'the caller cancelled the call'))
    }
  }

  /** Answers all with the reason, and aborts them. */
  stop(reason: CtError): void {
    for (const call of [...this.#inFlight.values()]) {
      this.#answer(call, refusalText(call, reason))
      call.abort(reason)
    }
  }

  /** Refuses new ones; resolves when the last answer has left, or the signal aborts. */
  drain(signal?: AbortSignal): Promise<void> {
    this.#draining = true
    return new Promise((resolve) => {
      this.#idle.push(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
      if (signal?.aborted === true) resolve()
      this.settle()
    })
  }

  /** Lets those go on that wait for all to be quiet, if it is. */
  settle(): void {
    if (this.#idle.length === 0) return
    const isBusy = this.#inFlight.size > 0 || this.#running > 0 || this.#options.outgoing.unsent > 0
    if (!this.#closed && isBusy) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /**
   * The link is gone, and nobody waits here any more.
   *
   * @param final the peer will not come back by itself
   * @returns the calls that end with the link, to be aborted
   */
  close(final: boolean): readonly Call[] {
    this.#closed = true
    const left = [...this.#inFlight.values()].filter(({ tag }) => tag === undefined)
    this.#inFlight.clear()
    this.#options.ledgerLink.close(final)
    return left
  }

  #startUntagged(call: Call): void {
    const refusal = this.#refusal(call)
    if (refusal !== undefined) {
      refuseCall(call, refusal)
      return
    }
    this.#inFlight.set(call.id, call)
    this.#run(call, (text) => this.#answer(call, text))
  }

  #startTagged(call: Call, tag: CallTag, request: Uint8Array): void {
    const { ledgerLink, outgoing } = this.#options
    const admission = ledgerLink.admit({
      tag,
      request,
      isIdempotent: () => call.isIdempotent,
      refusal: this.#refusal(call),
      answer: (text) => this.#answer(call, call.bound(text)),
      release: () => this.#answer(call, undefined),
      notify: (text) => outgoing.notify(text),
    })
    switch (admission.kind) {
      case 'execute': {
        const { execution } = admission
        call.execution = execution
        this.#inFlight.set(call.id, call)
        execution.onStop((reason) => {
          call.abort(reason)
          return refusalText(call, reason)
        })
        this.#run(call, execution.finish)
        break
      }
      case 'join':
        call.execution = admission.execution
        this.#inFlight.set(call.id, call)
        break
      case 'replay':
        call.respond(call.bound(admission.text))
        break
      case 'refuse':
        refuseCall(call, admission.error)
        break
      case 'ignore':
        call.respond(undefined)
    }
  }

  #refusal(call: Call): CtError | undefined {
    if (this.#draining) return new CtError('ERR_PEER_SHUTDOWN', 'the serving side is shutting down')
    const { limit, outgoing } = this.#options
    const under = Math.max(this.#inFlight.size, this.#running)
    // An answer may reach the peer a moment before the port says so: hence not one sum.
    if (under < limit && outgoing.unsent < 2 * limit) return checkRights(call)
    return new CtError('ERR_PEER_BUSY', `at most ${limit} requests may be in flight`)
  }

  #run(call: Call, finish: (text: string) => void): void {
    const { port } = this.#options
    this.#running += 1
    if (this.#running === 1) port.watch(true)
    void dispatch(call).then((text) => {
      this.#running -= 1
      if (this.#running === 0) port.watch(false)
      finish(text)
      this.settle()
    })
  }

  #answer(call: Call, text: string | undefined): void {
    if (this.#inFlight.get(call.id) !== call) return
    this.#inFlight.delete(call.id)
    call.respond(text)
    this.settle()
  }
}
