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
import { CtError, toCtError } from '../core/errors.ts'
import { type HolderId } from '../core/ids.ts'
import { type Clock } from '../core/time.ts'
import { Assembly, type IncomingMessage } from './assembly.ts'
import { CALL_TAG_BYTES, type CallTag, encodeCallTag, parseCallTag } from './call-tag.ts'
import { encodeFrame, encodeTextFrame, FRAME, FrameReader, type FrameType, MAX_PAYLOAD_BYTES } from './frame.ts'
import { type Bye, encodeBye, encodeHello, type Hello, parseBye, parseHello, type SessionMode } from './hello.ts'
import { Liveness } from './liveness.ts'
import { Outbox } from './outbox.ts'
import { PipeFlow } from './pipe-flow.ts'
import { type Wire } from './wire.ts'

/** A stranger that says nothing is let go after this. */
export const HELLO_TIMEOUT_MS = 10_000
/** Time for the last frames to leave before the stream is torn down. */
const FINISH_TIMEOUT_MS = 3_000
/** Before its hello, a peer is sent nothing larger. */
const BEFORE_HELLO_LIMIT_BYTES = MAX_PAYLOAD_BYTES - CALL_TAG_BYTES
const PING_BYTES = 8
/** Messages kept until somebody listens; a listener is set in the turn in which the session is ready. */
const MAX_WAITING = 256

export interface OutgoingMessage {
  /** One JSON text. */
  readonly text: string
  readonly call?: CallTag
}

export interface SessionEnd {
  readonly reason: CtError
  /** The peer will not take the session up again by itself. */
  readonly final: boolean
}

export interface SessionOptions {
  readonly peer: HolderId
  readonly local: Hello
  /** The dialler greets at once; the other side says nothing to a stranger before it is admitted. */
  readonly greetsFirst: boolean
  /** Checks the peer's hello; an error refuses the session with its code and message. */
  readonly admit: (hello: Hello) => CtError | undefined
  readonly clock: Clock
}

export class Session {
  readonly peer: { readonly holder: HolderId }
  readonly closed: Promise<SessionEnd>
  /** The peer's hello, once it is admitted; rejects with the refusal or with why the session ended before. */
  readonly ready: Promise<Hello>
  readonly pipe: PipeFlow
  readonly #wire: Wire
  readonly #options: SessionOptions
  readonly #outbox: Outbox
  readonly #assembly: Assembly
  readonly #liveness: Liveness
  readonly #settleClosed: (end: SessionEnd) => void
  readonly #settleReady: { readonly resolve: (hello: Hello) => void; readonly reject: (error: CtError) => void }
  #remote: Hello | undefined
  #ended = false
  #listener: ((message: IncomingMessage) => void) | undefined
  #waiting: IncomingMessage[] = []
  #lastMessage: number
  #cancelCheck: () => void = () => {}
  #bytesReceived = 0
  #finished: Promise<void> = Promise.resolve()

  constructor(wire: Wire, options: SessionOptions) {
    const { clock, local } = options
    this.peer = { holder: options.peer }
    this.#wire = wire
    this.#options = options
    this.#lastMessage = clock.monotonic()
    this.#liveness = new Liveness(this.#lastMessage)
    this.#assembly = new Assembly(local.limits.messageBytes)
    this.#outbox = new Outbox(wire, {
      monotonic: clock.monotonic,
      onBroken: (error) => this.#break(lost(error)),
    })
    this.pipe = new PipeFlow((type, payload) => this.#outbox.express(encodeFrame(type, payload)))
    const closed = Promise.withResolvers<SessionEnd>()
    const ready = Promise.withResolvers<Hello>()
    ready.promise.catch(() => {})
    this.closed = closed.promise
    this.ready = ready.promise
    this.#settleClosed = closed.resolve
    this.#settleReady = ready
    if (options.greetsFirst) this.#greet()
    const cancelHello = clock.after(HELLO_TIMEOUT_MS, () => {
      if (this.#remote === undefined)
        this.end(new CtError('ERR_TIMEOUT', `the peer sent no hello within ${HELLO_TIMEOUT_MS / 1000} s`))
    })
    this.closed.then(cancelHello, cancelHello)
    this.#listen()
    this.#armCheck()
  }

  get mode(): SessionMode {
    return this.#options.local.mode
  }

  get receiveLimitBytes(): number {
    return this.#options.local.limits.messageBytes
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

  get bytesReceived(): number {
    return this.#bytesReceived
  }

  /** Sets the one listener of messages; what came earlier is delivered first. */
  receive(listener: (message: IncomingMessage) => void): void {
    this.#listener = listener
    const waiting = this.#waiting
    this.#waiting = []
    for (const message of waiting) listener(message)
  }

  /**
   * Queues one message; resolves at once while little waits, else when the peer has taken enough.
   *
   * Rejects with `ERR_MESSAGE_TOO_LARGE` before anything is queued, or with the reason the session ended.
   */
  send({ text, call }: OutgoingMessage): Promise<void> {
    const textBytes = Buffer.byteLength(text)
    if (textBytes > this.sendLimitBytes) {
      if (this.#remote !== undefined || this.#ended) return Promise.reject(tooLarge(textBytes, this.sendLimitBytes))
      return this.ready.then(() => this.send(call === undefined ? { text } : { text, call }))
    }
    if (!this.#outbox.hasRoom) return this.#outbox.room().then(() => this.#queue(text, textBytes, call))
    this.#queue(text, textBytes, call)
    return SENT
  }

  #queue(text: string, textBytes: number, call: CallTag | undefined): void {
    this.#lastMessage = this.#options.clock.monotonic()
    const head = call === undefined ? NO_HEAD : encodeCallTag(call)
    if (head.length + textBytes <= MAX_PAYLOAD_BYTES) {
      this.#outbox.express(encodeTextFrame(call === undefined ? FRAME.message : FRAME.call, head, text, textBytes))
    } else {
      this.#outbox.bulk(call === undefined ? FRAME.messageOpen : FRAME.callOpen, head, Buffer.from(text))
    }
  }

  /** True while an answer is awaited: the peer is then checked every second instead of now and then. */
  watch(watched: boolean): void {
    this.#liveness.watch(watched, this.#options.clock.monotonic())
    this.#lastMessage = this.#options.clock.monotonic()
    this.#armCheck()
  }

  /**
   * Ends the session from this side: the peer is told code and reason, and `closed` resolves when the last frame left.
   *
   * @param final this side will not take the session up again
   */
  end(
    reason: CtError,
    { final = true, retryAfterMs }: { readonly final?: boolean; readonly retryAfterMs?: number } = {},
  ): void {
    if (this.#ended) return
    const bye: Bye = {
      code: reason.code,
      reason: reason.message,
      final,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }
    this.#outbox.express(encodeFrame(FRAME.bye, encodeBye(bye)))
    this.#outbox.flush()
    this.#finish({ reason, final })
    this.#closeWire()
  }

  #closeWire(): void {
    const signal = AbortSignal.timeout(FINISH_TIMEOUT_MS)
    this.#finished = this.#wire.finish(signal).catch((error: unknown) => this.#wire.destroy(toCtError(error)))
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
        this.#bytesReceived += bytes.length
        this.#liveness.heard(this.#options.clock.monotonic())
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
    if (type === FRAME.bye) {
      this.#onBye(parseBye(payload))
      return
    }
    if (this.#remote === undefined) {
      if (type !== FRAME.hello)
        throw new CtError('ERR_PROTOCOL', `expected a hello first, found a frame of type ${type}`)
      this.#onHello(parseHello(payload))
      return
    }
    this.#onSessionFrame(type, payload, this.#remote)
  }

  #onSessionFrame(type: FrameType, payload: Uint8Array, remote: Hello): void {
    switch (type) {
      case FRAME.message:
        this.#deliver(this.#assembly.whole(payload))
        break
      case FRAME.call:
        this.#deliver(this.#assembly.whole(payload.subarray(CALL_TAG_BYTES), parseCallTag(payload, remote.run)))
        break
      case FRAME.messageOpen:
        this.#assembly.begin(payload)
        break
      case FRAME.callOpen:
        this.#assembly.begin(payload.subarray(CALL_TAG_BYTES), parseCallTag(payload, remote.run))
        break
      case FRAME.part:
        this.#assembly.continue(payload)
        break
      case FRAME.last:
        this.#deliver(this.#assembly.finish(payload))
        break
      case FRAME.ping:
        if (payload.length !== PING_BYTES) throw new CtError('ERR_PROTOCOL', `expected a ping of ${PING_BYTES} bytes`)
        this.#outbox.express(encodeFrame(FRAME.pong, payload))
        break
      case FRAME.pong:
        break
      case FRAME.data:
      case FRAME.end:
      case FRAME.endAck:
      case FRAME.credit:
        if (this.mode !== 'pipe') throw new CtError('ERR_PROTOCOL', 'expected messages, found the frames of a raw pipe')
        this.pipe.onFrame(type, payload)
        break
      case FRAME.hello:
      case FRAME.bye:
        throw new CtError('ERR_PROTOCOL', 'expected one hello, found a second')
    }
  }

  #onHello(hello: Hello): void {
    const refusal = this.#options.admit(hello) ?? modeMismatch(this.mode, hello.mode)
    if (refusal !== undefined) {
      const retryAfterMs = refusal.detail['retryAfterMs']
      this.end(refusal, typeof retryAfterMs === 'number' ? { final: false, retryAfterMs } : {})
      return
    }
    this.#remote = hello
    if (!this.#options.greetsFirst) this.#greet()
    this.#outbox.allowBulk()
    this.#settleReady.resolve(hello)
  }

  #onBye({ code, reason, final, retryAfterMs }: Bye): void {
    const detail = { byPeer: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    this.#finish({ reason: new CtError(code, reason, { detail }), final })
    this.#closeWire()
  }

  #deliver(message: IncomingMessage): void {
    if (this.mode === 'pipe') throw new CtError('ERR_PROTOCOL', 'expected the frames of a raw pipe, found a message')
    this.#lastMessage = this.#options.clock.monotonic()
    if (this.#listener !== undefined) this.#listener(message)
    else if (this.#waiting.push(message) > MAX_WAITING)
      throw new CtError('ERR_PROTOCOL', 'too many messages before the session was ready')
  }

  #armCheck(): void {
    this.#cancelCheck()
    if (this.#ended) return
    this.#cancelCheck = this.#options.clock.after(this.#liveness.checkMs, () => this.#check())
  }

  #check(): void {
    const now = this.#options.clock.monotonic()
    const verdict = this.#liveness.check(now)
    if (verdict === 'give-up') {
      this.#break(this.#silence())
      return
    }
    const { idleSeconds } = this.#options.local.limits
    if (idleSeconds > 0 && now - this.#lastMessage >= idleSeconds * 1000 && this.#liveness.idle) {
      this.end(new CtError('ERR_SESSION_IDLE', `no message for ${idleSeconds} s`), { final: false })
      return
    }
    if (verdict === 'ask') this.#outbox.express(encodeFrame(FRAME.ping, Buffer.alloc(PING_BYTES)))
    this.#armCheck()
  }

  #silence(): CtError {
    return this.#outbox.blockedSince === undefined
      ? new CtError('ERR_PEER_UNRESPONSIVE', 'the peer gave no sign of life')
      : new CtError('ERR_PEER_SLOW', `the peer does not read: ${this.#outbox.queuedBytes} bytes wait for it`)
  }

  /** The link is of no more use: nothing can be said any more. */
  #break(reason: CtError): void {
    this.#finish({ reason, final: false })
    this.#wire.destroy(reason)
  }

  #finish(end: SessionEnd): void {
    if (this.#ended) return
    this.#ended = true
    this.#cancelCheck()
    this.#outbox.end(end.reason)
    this.pipe.fail(end.reason)
    this.#waiting = []
    this.#settleReady.reject(end.reason)
    this.#settleClosed(end)
  }
}

function modeMismatch(local: SessionMode, remote: SessionMode): CtError | undefined {
  const fits = local === 'pipe' ? remote === 'pipe' : local !== remote && remote !== 'pipe'
  return fits
    ? undefined
    : new CtError(
        'ERR_PEER_REFUSED',
        `one side must serve and the other call, or both pipe; found ${local} and ${remote}`,
      )
}

function lost(error: Error | undefined): CtError {
  return new CtError(
    'ERR_LINK_LOST',
    'the connection broke without a word',
    error === undefined ? {} : { cause: error },
  )
}

function tooLarge(bytes: number, limit: number): CtError {
  return new CtError('ERR_MESSAGE_TOO_LARGE', `expected a message of at most ${limit} bytes, found ${bytes}`, {
    detail: { bytes, limit },
  })
}

const NO_HEAD = new Uint8Array(0)
const SENT: Promise<void> = Promise.resolve()
