/**
 * One stay of a member at its broker: a stream from the join to its end.
 *
 * Holds: it ends, with a reason, whatever the broker does: an unanswered join after 10 s, silence after 45 s. Nothing
 * is delivered after its end. What waits to be written is bounded: the broker is told nothing more while it does not read.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { CtError, toCtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { type KnownRevocations } from '../membership/known-revocations.ts'
import { isUnspoken } from '../node/optimistic-select.ts'
import { encodeRendezvousFrame, RendezvousReader } from './framing.ts'
import {
  encodeFromMember,
  type FromBroker,
  type FromMember,
  type Hint,
  type Join,
  type Joined,
  MAX_LIST_MESSAGE_BYTES,
  type Peer,
  parseFromBroker,
  RENDEZVOUS_PROTOCOL,
  type Revoked,
} from './messages.ts'
import { noBroker, refusalOf } from './refused.ts'

const ALIVE_EVERY_MS = 15_000
/** Three signs of life that did not come. */
const SILENCE_MS = 45_000
const JOIN_TIMEOUT_MS = 10_000
const OPEN_TIMEOUT_MS = 5_000
const LEAVE_TIMEOUT_MS = 1_000
/** A broker that ends a stay sooner with `expired` did not wait for anybody. */
const MIN_STAY_MS = 1_000

export type StayEnd =
  /** Nobody came in time. */
  | { readonly kind: 'expired' }
  /** By the broker, or because it could not be heard any more. */
  | { readonly kind: 'ended'; readonly reason: CtError }
  | { readonly kind: 'left' }

export interface StayOptions {
  readonly join: Join
  /** What the broker knows better is learnt, and what it does not know it is told. */
  readonly revocations: KnownRevocations
  readonly clock: Clock
  /** In the order in which they came, the join's answer first. */
  readonly onMessage: (message: Joined | Peer | Hint) => void
}

export class Stay {
  readonly ended: Promise<StayEnd>
  readonly #connection: Connection
  readonly #stream: Stream
  readonly #options: StayOptions
  readonly #ended = Promise.withResolvers<StayEnd>()
  readonly #began: number
  #over = false
  #joined = false
  #cancelSilence: () => void
  #cancelAlive: () => void = () => {}
  readonly #forgetNewer: () => void
  /** Sequence of the newest list that the broker is known to have. */
  #brokerKnows = 0n
  /** Of the newest that it was told of since its last sign of life. */
  #told = 0n

  /** @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_PROTOCOL` when no broker is at the far end */
  static async open(connection: Connection, options: StayOptions, signal: AbortSignal): Promise<Stay> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(OPEN_TIMEOUT_MS)])
    try {
      return new Stay(connection, await connection.newStream(RENDEZVOUS_PROTOCOL, { signal: bounded }), options)
    } catch (error) {
      signal.throwIfAborted()
      throw openFailure(error)
    }
  }

  constructor(connection: Connection, stream: Stream, options: StayOptions) {
    this.#connection = connection
    this.#stream = stream
    this.#options = options
    this.ended = this.#ended.promise
    this.#began = options.clock.monotonic()
    this.#cancelSilence = options.clock.after(JOIN_TIMEOUT_MS, () =>
      this.#onSilence('the broker did not answer the join'),
    )
    const { revocations } = options
    this.#forgetNewer = revocations.onNewer(() => this.#tellNewer())
    this.#listen()
    const { sequence: knows, shown: successions } = revocations
    this.#write({
      ...options.join,
      ...(knows === 0n ? {} : { knows }),
      ...(successions.length === 0 ? {} : { successions }),
    })
    this.#beAlive()
  }

  /** Dropped while the broker does not read; what is said of itself is said again. */
  say(message: Exclude<FromMember, Join>): void {
    if (!this.#over && !this.#stream.writableNeedsDrain) this.#write(message)
  }

  /** Gives the place up. */
  leave(): void {
    if (this.#over) return
    this.#end({ kind: 'left' })
  }

  #listen(): void {
    const reader = new RendezvousReader(MAX_LIST_MESSAGE_BYTES)
    const read = (chunk: Uint8Array): void => {
      for (const payload of reader.push(chunk)) {
        const message = this.#over ? undefined : parseFromBroker(payload)
        if (message !== undefined) this.#onMessage(message)
      }
    }
    this.#stream.addEventListener('message', ({ data }) => {
      if (this.#over) return
      this.#heard()
      try {
        if (data instanceof Uint8Array) read(data)
        else for (const part of data) read(part)
      } catch (error) {
        this.#end({ kind: 'ended', reason: toCtError(error) })
      }
    })
    this.#stream.addEventListener('remoteCloseWrite', () => this.#lose('the broker ended the stay'))
    this.#stream.addEventListener('close', ({ error }) =>
      isUnspoken(error) ? this.#end({ kind: 'ended', reason: openFailure(error) }) : this.#lose(LOST),
    )
    if (this.#stream.status !== 'open') this.#lose(LOST)
  }

  #onMessage(message: FromBroker): void {
    switch (message.kind) {
      case 'joined':
        this.#joined = true
        // It says so at once if it does not.
        this.#brokerKnows = this.#options.revocations.sequence
        this.#heard()
        this.#options.onMessage(message)
        return
      case 'revoked':
        this.#learn(message)
        return
      case 'noted':
        this.#brokerKnows = message.sequence
        this.#tellNewer()
        return
      case 'peer':
      case 'hint':
        this.#options.onMessage(message)
        return
      case 'expired':
        this.#end(this.#lastedMs() < MIN_STAY_MS ? ended('the broker did not wait for a peer') : { kind: 'expired' })
        return
      case 'refused':
        this.#end({ kind: 'ended', reason: refusalOf(message, ' the join') })
        return
      case 'alive':
        this.#told = 0n
        this.#tellNewer()
    }
  }

  #learn({ list, successions = [] }: Revoked): void {
    const { sequence } = list.body
    // Before anybody is told of it, who would else tell the broker.
    if (sequence > this.#brokerKnows) this.#brokerKnows = sequence
    try {
      this.#options.revocations.follow(successions)
      this.#options.revocations.learn(list)
    } catch {
      // Whoever made that up: the operator did not say it.
    }
  }

  /** Once: a broker that has no time or room for it now is not told again with each of its words. */
  #tellNewer(): void {
    const { newest, sequence } = this.#options.revocations
    if (this.#joined && newest !== undefined && sequence > this.#brokerKnows && sequence > this.#told) {
      this.#told = sequence
      this.say({ kind: 'revoked', list: newest, successions: this.#options.revocations.shown })
    }
  }

  #lastedMs(): number {
    return this.#options.clock.monotonic() - this.#began
  }

  #heard(): void {
    if (!this.#joined) return
    // Its word alone: nothing that the operator signs says that there is no newer list.
    this.#options.revocations.confirm()
    this.#cancelSilence()
    this.#cancelSilence = this.#options.clock.after(SILENCE_MS, () =>
      this.#onSilence('the broker gave no sign of life'),
    )
  }

  #beAlive(): void {
    this.#cancelAlive = this.#options.clock.after(ALIVE_EVERY_MS, () => {
      this.say({ kind: 'alive' })
      this.#beAlive()
    })
  }

  #write(message: FromMember): void {
    try {
      this.#stream.send(encodeRendezvousFrame(encodeFromMember(message)))
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error))
    }
  }

  /** Nothing else gets through on that connection either. */
  #onSilence(why: string): void {
    this.#lose(why)
    this.#connection.abort(new CtError('ERR_PEER_UNRESPONSIVE', why))
  }

  #lose(why: string): void {
    this.#end(ended(why))
  }

  #end(end: StayEnd): void {
    if (this.#over) return
    this.#over = true
    this.#cancelSilence()
    this.#cancelAlive()
    this.#forgetNewer()
    this.#stream.close({ signal: AbortSignal.timeout(LEAVE_TIMEOUT_MS) }).catch((error: unknown) => {
      this.#stream.abort(toCtError(error))
    })
    this.#ended.resolve(end)
  }
}

function ended(why: string): StayEnd {
  return { kind: 'ended', reason: new CtError('ERR_LINK_LOST', why) }
}

const LOST = 'the connection to the broker is lost'

function openFailure(error: unknown): CtError {
  if (error instanceof CtError) return error
  if (isUnspoken(error)) return noBroker(error)
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error)
  return new CtError('ERR_LINK_LOST', `the broker does not answer (${text})`, { cause: error })
}
