/**
 * The serving side of MCP over one link.
 *
 * Holds: every request is answered exactly once or was cancelled, and nothing else is answered. State belongs to the
 * link, never to an id that a peer chose. Requests in flight are bounded; more are refused with a reason, not queued.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { type CallTag, type IncomingMessage } from '../../core/link.ts'
import { type Port } from '../port.ts'
import {
  cancelledId,
  errorText,
  type IdText,
  NO_ID,
  type Notification,
  type Request,
  readEnvelope,
  type Single,
} from '../wire/envelope.ts'
import { refuseOversize } from '../wire/oversize.ts'
import { invalidRequest } from '../wire/rpc-error.ts'
import { readModern } from '../wire/versions.ts'
import { answerBatch } from './bounded-answer.ts'
import { Call, type CallScope, type PeerLimits, type Service } from './call.ts'
import { type CallLedger, type LedgerLink } from './call-ledger.ts'
import { type Face } from './faces.ts'
import { dispatch, refusalText, refuseBuiltIn, refuseCall } from './methods.ts'
import { Outgoing } from './outgoing.ts'
import { checkRights, scopeFor } from './rights.ts'
import { ServedPeer } from './served-peer.ts'
import { type Behind, behind, paramsTextIn } from './served-upstream.ts'

/** Requests one link may have in flight; the caller of a session keeps to the number that was announced. */
export const MAX_IN_FLIGHT = 256

export interface ServeOptions extends Service, PeerLimits {
  /** One for the whole program, so that a call survives its link. */
  readonly ledger: CallLedger
  readonly limits?: { readonly maxInFlight?: number }
}

export interface ServedLink {
  /** The peer said hello in the way of the older revisions, which are told of changes unasked. */
  readonly isInitialized: boolean
  /** Requests that are not answered yet. */
  readonly inFlight: number
  /** Refuses new requests with `ERR_PEER_SHUTDOWN`; resolves when the last answer has left, or the signal aborts. */
  readonly drain: (signal?: AbortSignal) => Promise<void>
  /** What the peer may do from now on; what runs already goes on. */
  readonly limitTo: (limits: PeerLimits) => void
  /** Stops serving and aborts what runs; whoever waits is told the reason, if there is one. The port stays open. */
  readonly close: (reason?: CtError) => void
}

/**
 * Serves the tools of the registry, and methods beside, to the peer of the port, until the port closes.
 *
 * @throws {RangeError} when one of the methods has the name of a built-in one
 */
export function serveMcp(port: Port, options: ServeOptions): ServedLink {
  return new Server(port, options)
}

class Server implements ServedLink {
  readonly #port: Port
  readonly #service: Behind
  readonly #outgoing: Outgoing
  readonly #peer: ServedPeer
  #scope: CallScope
  readonly #ledgerLink: LedgerLink
  readonly #maxInFlight: number
  readonly #inFlight = new Map<IdText, Call>()
  /** Calls executed for this link, wanted or not. */
  #running = 0
  #initialized = false
  #draining = false
  #closed = false
  #idle: (() => void)[] = []

  constructor(port: Port, { ledger, limits, ...service }: ServeOptions) {
    const { holder, freshRun } = port.peer
    refuseBuiltIn(service.methods?.keys() ?? [])
    this.#port = port
    this.#maxInFlight = limits?.maxInFlight ?? MAX_IN_FLIGHT
    this.#outgoing = new Outgoing({
      port,
      log: service.log,
      maxUnsent: 2 * this.#maxInFlight,
      onSent: () => this.#settle(),
    })
    this.#peer = new ServedPeer(holder, this.#outgoing)
    this.#service = behind(service, this.#peer, (text) => this.#outgoing.notify(text))
    this.#scope = scopeFor(port, this.#service)
    this.#ledgerLink = ledger.open(holder, freshRun)
    port.receive((message) => this.#receive(message))
    void port.closed.then(({ reason, final }) => this.#end(reason, final))
  }

  get isInitialized(): boolean {
    return this.#initialized
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  drain(signal?: AbortSignal): Promise<void> {
    this.#draining = true
    return new Promise((resolve) => {
      this.#idle.push(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
      if (signal?.aborted === true) resolve()
      this.#settle()
    })
  }

  limitTo(limits: PeerLimits): void {
    this.#scope = scopeFor(this.#port, { ...this.#service, ...limits })
  }

  close(reason?: CtError): void {
    if (reason !== undefined) for (const call of [...this.#inFlight.values()]) this.#stop(call, reason)
    this.#end(reason ?? ENDED, true)
  }

  #receive(message: IncomingMessage): void {
    if (this.#closed) return
    if (message.kind === 'oversize') {
      this.#outgoing.send(refuseOversize(message, this.#port.receiveLimitBytes))
      return
    }
    const envelope = readEnvelope(message.bytes)
    if (envelope.kind === 'batch') this.#batch(envelope.members, message.call)
    else this.#single(envelope, message, (text) => this.#outgoing.send(text))
  }

  #single(single: Single, { bytes, call }: { bytes: Uint8Array; call?: CallTag }, respond: Call['respond']): void {
    switch (single.kind) {
      case 'request':
        this.#request(single, respond, call, bytes)
        break
      case 'notification':
        this.#notification(single, bytes)
        respond(undefined)
        break
      case 'invalid':
        respond(errorText(single.id, single.error))
        break
      case 'response':
        // Answering an answer would go back and forth for ever.
        if (!this.#peer.answered(single, bytes)) {
          this.#scope.log.debug('mcp.answer_ignored', { peer: shortId(this.#scope.peer) })
        }
        respond(undefined)
    }
  }

  #batch(members: readonly Single[], tag: CallTag | undefined): void {
    if (tag !== undefined) {
      this.#outgoing.send(errorText(NO_ID, invalidRequest('expected a tagged call to be a single request')))
      return
    }
    const handle = (member: Single, respond: Call['respond']): void =>
      this.#single(member, { bytes: NO_BYTES }, respond)
    answerBatch(members, this.#port.sendLimitBytes, handle, (text) => this.#outgoing.send(text))
  }

  #request(request: Request, respond: Call['respond'], tag: CallTag | undefined, bytes: Uint8Array): void {
    const { modern, error } = readModern(request.params)
    if (error !== undefined) {
      respond(errorText(request.id, error))
      return
    }
    if (request.method === 'initialize') {
      this.#initialized = true
      this.#peer.greeted(request.params)
      this.#scope.upstream?.initialized?.()
    }
    const face: Face = modern ? 'modern' : this.#initialized ? 'full' : 'bare'
    const call = new Call(this.#scope, request, face, tag, respond)
    const twin = this.#inFlight.get(request.id)
    if (twin !== undefined && (tag === undefined || twin.tag === undefined || twin.callId !== call.callId)) {
      respond(errorText(request.id, invalidRequest('a request with this `id` is still in flight')))
    } else if (tag === undefined) {
      this.#startUntagged(call)
    } else {
      this.#startTagged(call, tag, bytes)
    }
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
    const admission = this.#ledgerLink.admit({
      tag,
      request,
      isIdempotent: () => call.isIdempotent,
      refusal: this.#refusal(call),
      answer: (text) => this.#answer(call, call.bound(text)),
      release: () => this.#answer(call, undefined),
      notify: (text) => this.#outgoing.notify(text),
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
    const under = Math.max(this.#inFlight.size, this.#running)
    // An answer may reach the peer a moment before the port says so: hence not one sum.
    if (under < this.#maxInFlight && this.#outgoing.unsent < 2 * this.#maxInFlight) return checkRights(call)
    return new CtError('ERR_PEER_BUSY', `at most ${this.#maxInFlight} requests may be in flight`)
  }

  #run(call: Call, finish: (text: string) => void): void {
    this.#running += 1
    if (this.#running === 1) this.#port.watch(true)
    void dispatch(call).then((text) => {
      this.#running -= 1
      if (this.#running === 0) this.#port.watch(false)
      finish(text)
      this.#settle()
    })
  }

  #stop(call: Call, reason: CtError): void {
    this.#answer(call, refusalText(call, reason))
    call.abort(reason)
  }

  #answer(call: Call, text: string | undefined): void {
    if (this.#inFlight.get(call.id) !== call) return
    this.#inFlight.delete(call.id)
    call.respond(text)
    this.#settle()
  }

  #notification(notification: Notification, bytes: Uint8Array): void {
    const id = cancelledId(notification)
    if (id === undefined) {
      this.#scope.upstream?.notified?.(notification.method, paramsTextIn(bytes))
      return
    }
    const call = this.#inFlight.get(id)
    if (call === undefined || call.request.method === 'initialize') return
    if (call.execution !== undefined) {
      call.execution.cancel()
    } else {
      this.#answer(call, undefined)
      call.abort(new CtError('ERR_CALL_CANCELLED', 'the caller cancelled the call'))
    }
  }

  #end(reason: CtError, final: boolean): void {
    if (this.#closed) return
    this.#closed = true
    const calls = [...this.#inFlight.values()]
    this.#inFlight.clear()
    this.#ledgerLink.close(final)
    this.#outgoing.close()
    this.#peer.end(reason)
    this.#scope.upstream?.close()
    for (const call of calls) if (call.tag === undefined) call.abort(reason)
    this.#settle()
  }

  #settle(): void {
    if (this.#idle.length === 0) return
    if (!this.#closed && (this.#inFlight.size > 0 || this.#running > 0 || this.#outgoing.unsent > 0)) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

const ENDED = new CtError('ERR_LINK_CLOSED', 'the serving side ended the session')
const NO_BYTES = new Uint8Array()
