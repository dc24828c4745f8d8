/**
 * The broker's side of the card registry: one question on each stream, answered at once.
 *
 * Holds: a card is kept only for the holder that the handshake proved, so nobody else can keep an outdated one alive,
 * and only after its signature was checked; nobody makes the broker wait, keep bytes, or check signatures without end.
 *
 * @module
 */
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import {
  type CardAnswer,
  type CardRequest,
  encodeCardAnswer,
  MAX_CARD_ANSWER_BYTES,
  MAX_CARD_REQUEST_BYTES,
  parseCardRequest,
} from '../card-registry/messages.ts'
import { encodeLengthFrame, RendezvousReader } from '../rendezvous/framing.ts'
import { refusedFor } from '../rendezvous/refused.ts'
import { type CardRegistry, type ListedCard } from './cards.ts'
import { type Counters } from './counters.ts'
import { type MemberPeer, type MemberWire } from './member-link.ts'
import { Quota, sourceOf } from './quota.ts'
import { busy, categoryOf, refusal, shuttingDown } from './refusals.ts'

/** Reads a card and checks that its holder signed it and that it holds now. Throws a `CtError` when not. */
export type ReadCard = (text: string, now: UnixSeconds) => ListedCard

/** Time to ask. */
export const ASK_MS = 5_000
/** Questions that have not come in full, in all and from one source. */
export const MAX_ASKING = 256
export const MAX_ASKING_OF_SOURCE = 32
/** Questions of one source. */
export const QUESTIONS = { budget: 300, windowMs: 10_000, maxKeys: 4_096 }
/** Cards of one holder; an honest one has a new card every few hours, and says again that it is there every few minutes. */
export const PUBLISHES = { budget: 10, windowMs: 60_000, maxKeys: 16_384 }
/** Time for the answer to leave. */
const FINISH_MS = 3_000
const SWEEP_MS = 10_000

export interface CardServerOptions {
  readonly registry: CardRegistry
  readonly read: ReadCard
  /** Of this holder a card is taken. */
  readonly mayPublish: (holder: HolderId) => boolean
  readonly isDraining: () => boolean
  readonly counters: Counters
  readonly clock: Clock
  readonly log: Log
}

type Asker = Pick<MemberPeer, 'holder' | 'observed'>

export class CardServer {
  readonly #options: CardServerOptions
  readonly #questions = new Quota(QUESTIONS)
  readonly #publishes = new Quota(PUBLISHES)
  /** Of each source, how many are about to ask. */
  readonly #asking = new Map<string, number>()
  #askers = 0
  #stopSweeping: () => void = () => {}

  constructor(options: CardServerOptions) {
    this.#options = options
  }

  start(): void {
    const { clock, registry, counters } = this.#options
    this.#stopSweeping = clock.after(SWEEP_MS, () => {
      counters.cardsExpired += registry.sweep(unixSeconds(clock))
      this.start()
    })
  }

  stop(): void {
    this.#stopSweeping()
  }

  /** Answers what is asked on the stream. */
  accept(wire: MemberWire, asker: Asker): void {
    const source = sourceOf(asker.observed.host)
    const refused = this.#notNow(source)
    if (refused !== undefined) {
      this.#end(wire, this.#refused(asker, refused))
      return
    }
    const reader = new RendezvousReader(MAX_CARD_REQUEST_BYTES)
    let isOver = false
    const settle = (): boolean => {
      if (isOver) return false
      isOver = true
      cancel()
      this.#countAsking(source, -1)
      return true
    }
    const finish = (answer: CardAnswer): void => {
      if (settle()) this.#end(wire, answer)
    }
    const cancel = this.#options.clock.after(ASK_MS, () =>
      finish(this.#refused(asker, new CtError('ERR_TIMEOUT', `expected a question within ${ASK_MS / 1_000} s`))),
    )
    this.#countAsking(source, 1)
    wire.listen({
      onBytes: (bytes) => {
        if (isOver) return
        try {
          const [payload] = reader.push(bytes)
          if (payload !== undefined) finish(this.#answer(parseCardRequest(payload), asker, source))
        } catch (error) {
          // What is no error of ours is a defect of ours: it costs this stream, and nobody else anything.
          finish(this.#refused(asker, toCtError(error)))
        }
      },
      onEnd: () => {
        if (settle()) wire.destroy(new CtError('ERR_LINK_LOST', 'the stream ended before a question'))
      },
    })
  }

  #notNow(source: string): CtError | undefined {
    const { clock, isDraining } = this.#options
    if (isDraining()) return shuttingDown()
    const now = clock.monotonic()
    const wait = this.#questions.waitOf(source, now)
    if (wait > 0) return busy('this address asks too often', wait)
    if (this.#askers >= MAX_ASKING || (this.#asking.get(source) ?? 0) >= MAX_ASKING_OF_SOURCE)
      return busy('too many are asking at once', ASK_MS)
    this.#questions.note(source, now)
    return undefined
  }

  #answer(request: CardRequest, asker: Asker, source: string): CardAnswer {
    const { registry, counters, clock, log } = this.#options
    const { holder } = asker
    switch (request.kind) {
      case 'find': {
        counters.cardQueries += 1
        return { kind: 'found', ...registry.find(request, unixSeconds(clock)) }
      }
      case 'withdraw': {
        const found = registry.withdraw(holder)
        if (found) log.info('broker.card_withdrawn', { peer: shortId(holder) })
        return { kind: 'withdrawn', found }
      }
      case 'publish': {
        const until = this.#publish(request.card, holder, source)
        if (until instanceof CtError) return this.#refused(asker, until)
        counters.cardsPublished += 1
        log.info('broker.card_published', { peer: shortId(holder) })
        return { kind: 'published', until }
      }
    }
  }

  #publish(text: string, holder: HolderId, source: string): UnixSeconds | CtError {
    const { registry, mayPublish, clock } = this.#options
    const monotonic = clock.monotonic()
    const wait = this.#publishes.waitOf(holder, monotonic)
    if (wait > 0) return busy('this holder publishes too often', wait)
    this.#publishes.note(holder, monotonic)
    if (!mayPublish(holder)) return refusal('not-member', 'this broker keeps cards of members that are present alone')
    const now = unixSeconds(clock)
    const card = this.#read(text, now)
    if (card instanceof CtError) return card
    if (card.holder !== holder) return refusal('possession', 'expected the card of the holder that publishes it')
    return registry.publish(card, { text, source, now })
  }

  #read(text: string, now: UnixSeconds): ListedCard | CtError {
    try {
      return this.#options.read(text, now)
    } catch (error) {
      if (!isCtError(error)) throw error
      const { code, message } = error
      const category = code === 'ERR_ARTEFACT_INVALID' ? 'malformed' : 'card-verify'
      return new CtError(code, message, { cause: error, detail: { category } })
    }
  }

  #refused({ holder }: Asker, error: CtError): CardAnswer {
    const { counters, log } = this.#options
    const { code, message } = error
    const category = categoryOf(error)
    counters.cardsRefused += 1
    // Of those that come too often there may be any number.
    const level = category === 'busy' ? 'debug' : 'warn'
    log[level]('broker.card_refused', { peer: shortId(holder), code, category, reason: message })
    return refusedFor(error, category)
  }

  #end(wire: MemberWire, answer: CardAnswer): void {
    try {
      wire.write([encodeLengthFrame(encodeCardAnswer(answer), MAX_CARD_ANSWER_BYTES)])
    } catch (error) {
      wire.destroy(toCtError(error, 'ERR_LINK_LOST'))
      return
    }
    wire
      .finish(AbortSignal.timeout(FINISH_MS))
      .catch((error: unknown) => wire.destroy(toCtError(error, 'ERR_LINK_LOST')))
  }

  #countAsking(source: string, by: 1 | -1): void {
    this.#askers += by
    const left = (this.#asking.get(source) ?? 0) + by
    if (left > 0) this.#asking.set(source, left)
    else this.#asking.delete(source)
  }
}
