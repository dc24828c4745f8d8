/**
 * One host over HTTP as a duplex: its POSTs are what it says, and what it is told goes to the answer it belongs to, or
 * to the stream of what belongs to none.
 *
 * Holds: every request goes on under a number that is used once, so that it does not matter which ids hosts choose; an
 * answer reaches the POST its request came with and no other. What cannot be told anywhere is kept, within bounds, for a
 * host that comes to listen.
 *
 * @module
 */
import { encodeUtf8 } from '../../core/bytes.ts'
import { CtError } from '../../core/errors.ts'
import { type IncomingMessage, type LinkEnd, type OutgoingMessage } from '../../core/link.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { LOCAL_HOST } from '../adapter/line-port.ts'
import { type Port } from '../port.ts'
import { cancelledId, errorText, type IdText, notificationText, type Request } from '../wire/envelope.ts'
import { codedError } from '../wire/rpc-error.ts'
import { SUBSCRIPTION_KEY } from '../wire/subscriptions.ts'
import { type EventBudget } from './event-budget.ts'
import { EventStream } from './event-stream.ts'
import { Exchange, type ExchangeOptions } from './exchange.ts'
import { type EventSink } from './http.ts'
import { type Member, type Posted, renumbered } from './incoming.ts'
import { KEEP_FINISHED_MS, MAX_BODY_BYTES, MAX_KEPT_STREAMS } from './limits.ts'
import { replaceMember } from './member-edits.ts'
import { answerText, readOutgoing, subscriptionIn } from './outgoing.ts'
import { type EventId } from './sse.ts'

export interface HostLinkOptions {
  /** It lasts for several POSTs, and a client can come back to a stream; else for one. */
  readonly isSession: boolean
  readonly budget: EventBudget
  readonly clock: Clock
  readonly log: Log
}

/** One request under way. */
interface Sent {
  readonly exchange: Exchange
  /** What the host calls it. */
  readonly id: IdText
  readonly method: string
  /** What the host calls its progress, as JSON text. */
  readonly token: string | undefined
}

export type PostOptions = Omit<ExchangeOptions, 'expected' | 'isBatch' | 'stream' | 'onDone' | 'clock'>

/** Of what belongs to no request. */
const UNASKED = 'g'

export class HostLink implements Port {
  readonly peer = { holder: LOCAL_HOST }
  readonly isReady = true
  readonly sendLimitBytes = MAX_BODY_BYTES
  readonly receiveLimitBytes = MAX_BODY_BYTES
  readonly peerInFlight = 0
  readonly closed: Promise<LinkEnd>
  readonly #options: HostLinkOptions
  readonly #close: (end: LinkEnd) => void
  readonly #sent = new Map<number, Sent>()
  readonly #streams = new Map<string, EventStream>()
  readonly #unasked: EventStream
  #listener: (message: IncomingMessage) => void = () => {}
  #lastHop = 0
  #lastStream = 0
  #ended: CtError | undefined
  #usedAt: number

  constructor(options: HostLinkOptions) {
    const { promise, resolve } = Promise.withResolvers<LinkEnd>()
    const { isSession, budget, clock } = options
    this.#options = options
    this.closed = promise
    this.#close = resolve
    this.#usedAt = clock.monotonic()
    this.#unasked = new EventStream({ name: isSession ? UNASKED : undefined, budget, clock })
    this.#streams.set(UNASKED, this.#unasked)
  }

  /** Somebody waits for an answer or listens. */
  get isBusy(): boolean {
    return this.#sent.size > 0 || [...this.#streams.values()].some(({ hasReader }) => hasReader)
  }

  /** When it was last used, on the clock that never goes backwards. */
  get usedAt(): number {
    return this.#usedAt
  }

  touch(): void {
    this.#usedAt = this.#options.clock.monotonic()
  }

  receive(listener: (message: IncomingMessage) => void): void {
    this.#listener = listener
  }

  watch(): void {}

  /** Takes what was posted; false when there is nothing to answer in it. */
  post({ members, isBatch }: Posted, options: PostOptions): boolean {
    const expected = members.filter(({ single: { kind } }) => kind === 'request' || kind === 'invalid').length
    if (expected === 0) {
      for (const member of members) this.#pass(member)
      return false
    }
    const exchange = new Exchange({
      ...options,
      expected,
      isBatch,
      stream: () => this.#newStream(),
      onDone: () => this.#onDone(),
      clock: this.#options.clock,
    })
    for (const member of members) this.#take(member, exchange)
    return true
  }

  /** Listens to what belongs to no request; whoever listened before listens no more. */
  listen(sink: EventSink, primed: boolean): void {
    this.#unasked.read(sink, 0, primed)
  }

  /** The stream that a client comes back to, if what it missed is kept. */
  find({ stream, sequence }: EventId): EventStream | undefined {
    const found = this.#streams.get(stream)
    // What belongs to no request can be asked for anew: those who come back need not have all of it.
    return found !== undefined && (found === this.#unasked || found.keepsAfter(sequence)) ? found : undefined
  }

  send({ text }: OutgoingMessage): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    try {
      this.#route(text)
      return Promise.resolve()
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Answers what is under way with the reason, and ends every stream. */
  end(reason: CtError): void {
    if (this.#ended !== undefined) return
    this.#ended = reason
    for (const { exchange, id } of this.#sent.values()) exchange.answer(errorText(id, codedError(reason)))
    this.#sent.clear()
    for (const stream of this.#streams.values()) {
      stream.close()
      stream.forget()
    }
    this.#streams.clear()
    this.#close({ reason, final: true })
  }

  /** Lets go of what nobody came back for. */
  sweep(): void {
    const before = this.#options.clock.monotonic() - KEEP_FINISHED_MS
    for (const [name, stream] of this.#streams) {
      if (stream.isSettled && (stream.finishedAt ?? before) < before) this.#letGo(name, stream)
    }
  }

  #take(member: Member, exchange: Exchange): void {
    const { single, text } = member
    if (single.kind === 'request') this.#request(single, text, exchange)
    else if (single.kind === 'invalid') exchange.answer(errorText(single.id, single.error))
    else this.#pass(member)
  }

  #request(request: Request, text: string, exchange: Exchange): void {
    const { id, method } = request
    this.#lastHop += 1
    const hop = this.#lastHop
    const passed = renumbered(text, request, hop)
    this.#sent.set(hop, { exchange, id, method, token: passed.token })
    this.#deliver(passed.text)
  }

  /** What is no request. */
  #pass({ single, text }: Member): void {
    const id = single.kind === 'notification' ? cancelledId(single) : undefined
    if (id === undefined) this.#deliver(text)
    else this.#cancel(id)
  }

  #cancel(id: IdText): void {
    const named = [...this.#sent].filter(([, sent]) => sent.id === id)
    const [only] = named
    // With several of one id nobody knows which is meant, and the others must not suffer.
    if (only === undefined || named.length > 1) return
    const [hop, { exchange, method }] = only
    if (method === 'initialize') return
    this.#deliver(notificationText('notifications/cancelled', { requestId: hop }))
    if (this.#sent.delete(hop)) exchange.answer(undefined)
  }

  #deliver(text: string): void {
    if (this.#ended === undefined) this.#listener({ kind: 'text', bytes: encodeUtf8(text) })
  }

  #route(text: string): void {
    const outgoing = readOutgoing(text)
    if (outgoing.kind === 'answer') {
      const sent = this.#sent.get(outgoing.hop)
      this.#sent.delete(outgoing.hop)
      sent?.exchange.answer(answerText(sent.id, outgoing.rest))
    } else if (outgoing.kind === 'progress') {
      this.#progress(outgoing.hop, text)
    } else if (this.#options.isSession) {
      this.#tellUnasked(text, outgoing.kind === 'request')
    } else {
      if (outgoing.kind === 'request') throw new CtError('ERR_CALL_INVALID', 'this client takes no requests')
      this.#anyExchange()?.tell(this.#readdressed(text))
    }
  }

  /** What belongs to a subscription names it as the host does. */
  #readdressed(text: string): string {
    const hop = subscriptionIn(text)
    const sent = hop === undefined ? undefined : this.#sent.get(hop)
    return sent === undefined ? text : replaceMember(text, ['params', '_meta', SUBSCRIPTION_KEY], sent.id)
  }

  #progress(hop: number, text: string): void {
    const sent = this.#sent.get(hop)
    if (sent?.token === undefined) return
    sent.exchange.tell(replaceMember(text, ['params', 'progressToken'], sent.token))
  }

  /** A request that nobody hears would wait for ever, so it goes to whoever waits for something else. */
  #tellUnasked(text: string, isRequest: boolean): void {
    if (isRequest && !this.#unasked.hasReader && this.#anyExchange()?.tell(text) === true) return
    this.#unasked.push(text)
  }

  #anyExchange(): Exchange | undefined {
    return [...this.#sent.values()].at(-1)?.exchange
  }

  #newStream(): EventStream {
    const { isSession, budget, clock } = this.#options
    if (!isSession) return new EventStream({ budget, clock })
    if (this.#streams.size >= MAX_KEPT_STREAMS) {
      const oldest = [...this.#streams].find(([, { isSettled }]) => isSettled)
      if (oldest !== undefined) this.#letGo(...oldest)
    }
    this.#lastStream += 1
    const name = `s${this.#lastStream.toString(36)}`
    const stream = new EventStream({ name, budget, clock })
    this.#streams.set(name, stream)
    return stream
  }

  #letGo(name: string, stream: EventStream): void {
    this.#streams.delete(name)
    stream.forget()
  }

  #onDone(): void {
    if (!this.#options.isSession) this.end(new CtError('ERR_LINK_CLOSED', 'the request is answered'))
    else this.touch()
  }
}
