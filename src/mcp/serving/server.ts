/**
 * The serving side of MCP over one link.
 *
 * Holds: nothing but requests is answered. State belongs to the link, never to an id that a peer chose.
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
import { type CallLedger } from './call-ledger.ts'
import { CallsInFlight } from './calls-in-flight.ts'
import { type Face } from './faces.ts'
import { refuseBuiltIn } from './methods.ts'
import { Outgoing } from './outgoing.ts'
import { scopeFor } from './rights.ts'
import { ServedPeer } from './served-peer.ts'
import { type Behind, behind } from './served-upstream.ts'

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
  readonly #calls: CallsInFlight
  #initialized = false
  #closed = false

  constructor(port: Port, { ledger, limits, ...service }: ServeOptions) {
    const { holder, freshRun } = port.peer
    refuseBuiltIn(service.methods?.keys() ?? [])
    this.#port = port
    const limit = limits?.maxInFlight ?? MAX_IN_FLIGHT
    this.#outgoing = new Outgoing({
      port,
      log: service.log,
      maxUnsent: 2 * limit,
      onSent: () => this.#calls.settle(),
    })
    this.#peer = new ServedPeer(port.peer, this.#outgoing)
    this.#service = behind(service, this.#peer, (text) => this.#outgoing.notify(text))
    this.#scope = scopeFor(port, this.#service)
    const ledgerLink = ledger.open(holder, freshRun)
    this.#calls = new CallsInFlight({ port, outgoing: this.#outgoing, ledgerLink, limit })
    port.receive((message) => this.#receive(message))
    void port.closed.then(({ reason, final }) => this.#end(reason, final))
  }

  get isInitialized(): boolean {
    return this.#initialized
  }

  get inFlight(): number {
    return this.#calls.size
  }

  drain(signal?: AbortSignal): Promise<void> {
    return this.#calls.drain(signal)
  }

  limitTo(limits: PeerLimits): void {
    this.#scope = scopeFor(this.#port, { ...this.#service, ...limits })
  }

  close(reason?: CtError): void {
    if (reason !== undefined) this.#calls.stop(reason)
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
        this.#notification(single)
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
    if (modern) this.#peer.asked(request.params)
    if (request.method === 'initialize') {
      this.#initialized = true
      this.#peer.greeted(request.params)
      this.#scope.upstream?.initialized?.()
    }
    const face: Face = modern ? 'modern' : this.#initialized ? 'full' : 'bare'
    this.#calls.start(new Call(this.#scope, request, face, tag, respond), bytes)
  }

  #notification(notification: Notification): void {
    const id = cancelledId(notification)
    if (id !== undefined) this.#calls.cancel(id)
    else this.#scope.upstream?.notified?.(notification.method, notification.source('params') ?? '{}')
  }

  #end(reason: CtError, final: boolean): void {
    if (this.#closed) return
    this.#closed = true
    const left = this.#calls.close(final)
    this.#outgoing.close()
    this.#peer.end(reason)
    this.#scope.upstream?.close()
    for (const call of left) call.abort(reason)
    this.#calls.settle()
  }
}

const ENDED = new CtError('ERR_LINK_CLOSED', 'the serving side ended the session')
const NO_BYTES = new Uint8Array()
