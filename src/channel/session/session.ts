/**
 * One authenticated duplex between two members: messages, calls that survive a reconnect, a raw pipe, and an end that
 * always has a reason.
 *
 * Holds: `ready` and `closed` settle whatever the peer does; after `closed` nothing is delivered; no promise is ever
 * left to reject unhandled; memory towards a peer that does not read is bounded by the outbox, towards one that does
 * not stop by one message in assembly.
 *
 * @module
 */
import { CtError, retryAfterOf, toCtError } from '../../core/errors.ts'
import { type IncomingMessage, type LinkEnd, type OutgoingMessage } from '../../core/link.ts'
import { type Membership } from '../membership/credentials.ts'
import { CALL_TAG_BYTES, encodeCallTag } from './call-tag.ts'
import { whenItIs } from './expiry.ts'
import {
  CALL_TYPES,
  encodeFrame,
  encodeFrameHead,
  encodeTextFrame,
  FRAME,
  FrameReader,
  type FrameType,
  MAX_PAYLOAD_BYTES,
  MESSAGE_TYPES,
} from './frame.ts'
import { Heartbeat } from './heartbeat.ts'
import { type Bye, encodeBye, encodeHello, type Hello, parseBye, parseHello } from './hello.ts'
import { Inbox } from './inbox.ts'
import { MeteredWire } from './metered-wire.ts'
import { Outbox } from './outbox.ts'
import { Pings } from './pings.ts'
import { PipeFlow } from './pipe-flow.ts'
import { goodbye, lost, membershipExpired, modeMismatch, saidGoodbye, slow, tooLarge, unused } from './session-end.ts'
import { type SessionOptions, type SessionPeer } from './session-options.ts'
import { Vitals } from './vitals.ts'
import { type Wire } from './wire.ts'

/** A stranger that says nothing is let go after this. */
export const HELLO_TIMEOUT_MS = 10_000
/** Time for the last frames to leave before the stream is torn down. */
const FINISH_TIMEOUT_MS = 3_000
/** Before its hello, a peer is sent nothing larger. */
const BEFORE_HELLO_LIMIT_BYTES = MAX_PAYLOAD_BYTES - CALL_TAG_BYTES

export class Session {
  /** Authenticated; the rest once the peer is admitted. */
  peer: SessionPeer
  readonly closed: Promise<LinkEnd>
  /** The peer's hello, once it is admitted; rejects with the refusal or with why the session ended before. */
  readonly ready: Promise<Hello>
  readonly pipe: PipeFlow
  readonly vitals: Vitals
  readonly #wire: MeteredWire
  readonly #options: SessionOptions
  readonly #outbox: Outbox
  readonly #inbox: Inbox
  readonly #heartbeat: Heartbeat
  readonly #pings: Pings
  readonly #closed = Promise.withResolvers<LinkEnd>()
  readonly #ready = Promise.withResolvers<Hello>()
  #remote: Hello | undefined
  #ended = false
  #forgetExpiry: () => void = () => {}
  #onAwaiting: (awaiting: boolean) => void = () => {}
  #finished: Promise<void> = Promise.resolve()

  constructor(wire: Wire, options: SessionOptions) {
    const { clock, local, greetsFirst } = options
    this.peer = { holder: options.peer }
    this.closed = this.#closed.promise
    this.ready = this.#ready.promise
    this.ready.catch(() => {})
    this.#wire = new MeteredWire(wire)
    this.#options = options
    this.#inbox = new Inbox(local.limits.messageBytes)
    this.#outbox = new Outbox(this.#wire, {
      clock,
      answers: local.mode === 'serve',
      onBroken: (error) => this.#break(lost(error)),
      onSlow: () => this.#break(slow(this.#outbox.queuedBytes)),
    })
    this.pipe = new PipeFlow((type, payload) => {
      if (!this.isReady && options.holdsBack === true) throw new RangeError('expected a pipe to wait for its peer')
      this.#outbox.express(encodeFrameHead(type, NO_HEAD, payload.length), payload)
    })
    this.#pings = new Pings(this.#outbox, this.#wire, clock)
    this.vitals = new Vitals(this.#wire, this.#pings)
    this.#heartbeat = new Heartbeat({
      clock,
      idleSeconds: local.limits.idleSeconds,
      patience: () => this.#pings.patienceMs,
      onAsk: () => this.#pings.ask(),
      onSilence: () => this.#onSilence(),
      onIdle: () => this.end(unused(local.limits.idleSeconds), { final: false }),
    })
    if (greetsFirst) this.#greet()
    const cancel = clock.after(HELLO_TIMEOUT_MS, () => {
      if (!this.isReady) this.end(new CtError('ERR_TIMEOUT', `no hello within ${HELLO_TIMEOUT_MS / 1000} s`))
    })
    this.ready.then(cancel, cancel)
    this.#listen()
  }

  get receiveLimitBytes(): number {
    return this.#options.local.limits.messageBytes
  }

  /** Requests the peer works on at once, as it announced. */
  get peerInFlight(): number {
    return this.#remote?.limits.inFlight ?? 0
  }

  get sendLimitBytes(): number {
    return this.#remote?.limits.messageBytes ?? BEFORE_HELLO_LIMIT_BYTES
  }

  /** The peer is admitted. */
  get isReady(): boolean {
    return this.#remote !== undefined
  }

  /** Resolves when the last frame of an ended session has left, or cannot leave any more. */
  get finished(): Promise<void> {
    return this.#finished
  }

  /** Resolves when nothing waits to be written any more, the session has ended, or the signal aborts. */
  flushed(signal: AbortSignal): Promise<void> {
    return this.#outbox.emptied(signal)
  }

  /** Sets the one listener of messages; what came earlier is delivered first. */
  receive(listener: (message: IncomingMessage) => void): void {
    this.#inbox.receive(listener)
  }

  /**
   * Queues one message; resolves at once while little waits, else when the peer has taken enough.
   *
   * Rejects with `ERR_MESSAGE_TOO_LARGE` before anything is queued, or with the reason the session ended.
   */
  send(message: OutgoingMessage): Promise<void> {
    const textBytes = Buffer.byteLength(message.text)
    const isTooLarge = textBytes > this.sendLimitBytes
    // Before the hello neither the peer's limit nor, perhaps, the peer is known: wait for it, or for why there is none.
    if (!this.isReady && (isTooLarge || this.#options.holdsBack === true)) {
      return this.ready.then(() => this.send(message))
    }
    if (isTooLarge) return Promise.reject(tooLarge(textBytes, this.sendLimitBytes))
    if (!this.#outbox.hasRoom) return this.#outbox.room(textBytes).then(() => this.#queue(message, textBytes))
    this.#queue(message, textBytes)
    return SENT
  }

  /** Sets the one who is told when an answer begins to be awaited, and when none is any more. */
  onAwaiting(listener: (awaiting: boolean) => void): void {
    this.#onAwaiting = listener
  }

  /** True while an answer is awaited: the peer is then checked every second instead of now and then. */
  watch(watched: boolean): void {
    this.#heartbeat.watch(watched)
    this.#onAwaiting(watched)
  }

  /**
   * Ends the session from this side: the peer is told code and reason.
   *
   * @param final this side will not take the session up again
   */
  end(reason: CtError, { final = true, retryAfterMs }: { final?: boolean; retryAfterMs?: number } = {}): void {
    if (this.#ended) return
    this.#outbox.last(encodeFrame(FRAME.bye, encodeBye(goodbye(reason, final, retryAfterMs))))
    this.#finish({ reason, final })
    this.#closeWire()
  }

  #queue({ text, call }: OutgoingMessage, textBytes: number): void {
    this.#heartbeat.used()
    const head = call === undefined ? NO_HEAD : encodeCallTag(call)
    const types = call === undefined ? MESSAGE_TYPES : CALL_TYPES
    // Calls keep their order, on which the numbers in their tags rest.
    const overtakes = call === undefined || !this.#outbox.hasBulk
    if (overtakes && head.length + textBytes <= MAX_PAYLOAD_BYTES) {
      this.#outbox.express(encodeTextFrame(types.whole, head, text, textBytes))
    } else {
      this.#outbox.bulk(types, head, Buffer.from(text))
    }
  }

  #greet(): void {
    this.#outbox.express(encodeFrame(FRAME.hello, encodeHello(this.#options.local)))
    this.#outbox.flush()
  }

  #listen(): void {
    const reader = new FrameReader((type, payload) => {
      if (!this.#ended) this.#onFrame(type, payload)
    })
    this.#wire.listen({
      onBytes: (bytes) => {
        if (this.#ended) return
        this.#heartbeat.heard()
        this.#pings.heard()
        try {
          reader.push(bytes)
        } catch (error) {
          this.end(toCtError(error))
        }
      },
      onEnd: (error) => this.#break(lost(error)),
    })
  }

  #onFrame(type: FrameType, payload: Uint8Array): void {
    if (type === FRAME.bye) this.#onBye(parseBye(payload))
    else if (this.#remote !== undefined) this.#onSessionFrame(type, payload, this.#remote)
    else if (type === FRAME.hello) this.#onHello(parseHello(payload))
    else throw new CtError('ERR_PROTOCOL', `expected a hello first, found a frame of type ${type}`)
  }

  #onSessionFrame(type: FrameType, payload: Uint8Array, { run }: Hello): void {
    if (type === FRAME.ping) {
      this.#pings.onPing(payload)
    } else if (type === FRAME.pong) {
      this.#pings.onPong(payload)
    } else if (type === FRAME.hello) {
      throw new CtError('ERR_PROTOCOL', 'expected one hello, found a second')
    } else {
      this.#heartbeat.used()
      const known =
        this.#options.local.mode === 'pipe' ? this.pipe.onFrame(type, payload) : this.#inbox.onFrame(type, payload, run)
      if (!known) throw new CtError('ERR_PROTOCOL', `frame type ${type} does not belong in this session`)
    }
  }

  #onHello(hello: Hello): void {
    const admitted = this.#options.admit(hello)
    const refusal = admitted instanceof CtError ? admitted : modeMismatch(this.#options.local.mode, hello.mode)
    if (refusal !== undefined) {
      const retryAfterMs = retryAfterOf(refusal)
      this.end(refusal, retryAfterMs === undefined ? {} : { final: false, retryAfterMs })
      return
    }
    this.#remote = hello
    this.peer = { ...this.peer, run: hello.run, ...(hello.calls === 'fresh' ? { freshRun: hello.run } : {}) }
    if (admitted !== undefined && !(admitted instanceof CtError)) this.#admitMember(admitted)
    if (!this.#options.greetsFirst) this.#greet()
    this.#outbox.allowBulk()
    this.#ready.resolve(hello)
  }

  #admitMember(membership: Membership): void {
    this.peer = { ...this.peer, membership }
    const { expiresAt } = membership
    this.#forgetExpiry = whenItIs(expiresAt, this.#options.clock, () => this.end(membershipExpired(expiresAt)))
  }

  #onBye(bye: Bye): void {
    this.#finish({ reason: saidGoodbye(bye), final: bye.final })
    this.#closeWire()
  }

  // A peer that is not read cannot be heard; whether it takes anything is then the outbox's to say.
  #onSilence(): void {
    if (this.#outbox.isFull) this.#heartbeat.heard()
    else if (this.#outbox.isBlocked) this.#break(slow(this.#outbox.queuedBytes))
    else this.#break(new CtError('ERR_PEER_UNRESPONSIVE', 'the peer gave no sign of life'))
  }

  #closeWire(): void {
    this.#finished = this.#wire.finish(AbortSignal.timeout(FINISH_TIMEOUT_MS))
  }

  // The link is of no more use: nothing can be said any more.
  #break(reason: CtError): void {
    this.#finish({ reason, final: false })
    this.#wire.destroy(reason)
  }

  #finish(end: LinkEnd): void {
    if (this.#ended) return
    this.#ended = true
    this.#heartbeat.stop()
    this.#pings.end()
    this.#forgetExpiry()
    this.#outbox.end(end.reason)
    this.#inbox.clear()
    this.pipe.fail(end.reason)
    this.#ready.reject(end.reason)
    this.#closed.resolve(end)
  }
}

const NO_HEAD = new Uint8Array(0)
const SENT: Promise<void> = Promise.resolve()
