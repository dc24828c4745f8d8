/**
 * The agent cards that a broker keeps so that others find them: one for each holder, in memory.
 *
 * Pure: no clock, no socket, no signature; whoever publishes has had the card read and checked before. Holds: never more
 * cards than the limits allow, in all and from one source; a holder's card is never replaced by an older one; an expired
 * card is never handed out.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { saturatingAdd, type UnixSeconds, u64 } from '../../core/u64.ts'
import { type CardQuery, type Find, MAX_CARD_ANSWER_BYTES, MAX_CARD_BYTES } from '../card-registry/messages.ts'
import { busy, refusal } from './refusals.ts'

/** What the registry has to know of a card. */
export interface ListedCard {
  readonly holder: HolderId
  readonly roles: readonly string[]
  /** Their ids. */
  readonly skills: readonly string[]
  readonly issuedAt: UnixSeconds
  readonly expiresAt: UnixSeconds
}

export interface CardLimits {
  readonly cards: number
  /** Published from one address. */
  readonly perSource: number
}

/** Of a card that nobody publishes again: holders that are gone for good do not fill the registry for years. */
export const MAX_STAY_SECONDS = 7 * 86_400
/** Roles, and skills, of one card: a query looks at all of them, of all cards. */
export const MAX_CARD_TERMS = 64
/** Until others have expired, or were withdrawn. */
const FULL_RETRY_MS = 60_000
/** Of an answer, what is not a card; and of each card, what stands before it. */
const ANSWER_HEAD_BYTES = 256
const CARD_HEAD_BYTES = 5

interface Entry extends ListedCard {
  readonly text: string
  readonly bytes: number
  readonly source: string
  readonly until: UnixSeconds
}

export interface Page {
  readonly cards: readonly string[]
  readonly next?: HolderId | undefined
}

export class CardRegistry {
  readonly #limits: CardLimits
  readonly #cards = new Map<HolderId, Entry>()
  readonly #sources = new Map<string, number>()
  /** The holders in the order of their keys, so that a page begins where the one before ended, whatever came meanwhile. */
  readonly #order: HolderId[] = []

  constructor(limits: CardLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#cards.size
  }

  /** How long the card stays, or why it is not taken. Of two cards of one second the later one to come stands. */
  publish(
    card: ListedCard,
    { text, source, now }: { readonly text: string; readonly source: string; readonly now: UnixSeconds },
  ): UnixSeconds | CtError {
    const bytes = Buffer.byteLength(text)
    if (bytes > MAX_CARD_BYTES) return refusal('len-oob', `expected a card of at most ${MAX_CARD_BYTES} bytes`)
    if (card.roles.length > MAX_CARD_TERMS || card.skills.length > MAX_CARD_TERMS) {
      return refusal('malformed', `expected at most ${MAX_CARD_TERMS} roles and as many skills in a card`)
    }
    const known = this.#cards.get(card.holder)
    if (known !== undefined && card.issuedAt < known.issuedAt) {
      return refusal('stale', `expected a card issued at ${known.issuedAt} or later, found one of ${card.issuedAt}`)
    }
    const until = earlier(card.expiresAt, saturatingAdd(now, u64(MAX_STAY_SECONDS)))
    if (until <= now) return new CtError('ERR_ARTEFACT_EXPIRED', 'expected a card that holds, found an expired one')
    if (this.#isFull(source, known)) this.sweep(now)
    if (this.#cards.size - count(known) >= this.#limits.cards)
      return busy('the broker keeps as many cards as it can', FULL_RETRY_MS)
    if (this.#isFull(source, known)) return busy('this address has published as many cards as it may', FULL_RETRY_MS)
    if (known !== undefined) this.#remove(known)
    const { holder, roles, skills, issuedAt, expiresAt } = card
    this.#add({ holder, roles, skills, issuedAt, expiresAt, text, bytes, source, until })
    return until
  }

  /** False when there was none. */
  withdraw(holder: HolderId): boolean {
    const entry = this.#cards.get(holder)
    if (entry !== undefined) this.#remove(entry)
    return entry !== undefined
  }

  /** Cards that fit, and where to go on; fewer than asked for where an answer would grow too large. */
  find({ limit, after, ...query }: Omit<Find, 'kind'>, now: UnixSeconds): Page {
    const cards: string[] = []
    let bytes = ANSWER_HEAD_BYTES
    for (let at = after === undefined ? 0 : this.#placeAfter(after); at < this.#order.length; at += 1) {
      const entry = this.#entryAt(at)
      if (entry === undefined || now >= entry.until || !fits(entry, query)) continue
      bytes += entry.bytes + CARD_HEAD_BYTES
      if (cards.length === limit || bytes > MAX_CARD_ANSWER_BYTES) return { cards, next: this.#order[at - 1] }
      cards.push(entry.text)
    }
    return { cards }
  }

  /** Forgets what has expired; how many that were. */
  sweep(now: UnixSeconds): number {
    const expired = [...this.#cards.values()].filter(({ until }) => now >= until)
    for (const entry of expired) this.#remove(entry)
    return expired.length
  }

  #isFull(source: string, known: Entry | undefined): boolean {
    const { cards, perSource } = this.#limits
    const own = known?.source === source ? 1 : 0
    return this.#cards.size - count(known) >= cards || (this.#sources.get(source) ?? 0) - own >= perSource
  }

  #add(entry: Entry): void {
    this.#cards.set(entry.holder, entry)
    this.#order.splice(this.#placeAfter(entry.holder), 0, entry.holder)
    this.#sources.set(entry.source, (this.#sources.get(entry.source) ?? 0) + 1)
  }

  #remove({ holder, source }: Entry): void {
    this.#cards.delete(holder)
    this.#order.splice(this.#placeAfter(holder) - 1, 1)
    const left = (this.#sources.get(source) ?? 0) - 1
    if (left > 0) this.#sources.set(source, left)
    else this.#sources.delete(source)
  }

  #entryAt(at: number): Entry | undefined {
    const holder = this.#order[at]
    return holder === undefined ? undefined : this.#cards.get(holder)
  }

  /** Of the first holder whose key is greater. */
  #placeAfter(holder: HolderId): number {
    let [low, high] = [0, this.#order.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#order[middle] ?? '') <= holder) low = middle + 1
      else high = middle
    }
    return low
  }
}

function fits({ roles, skills }: Entry, { role, skill }: CardQuery): boolean {
  return (role === undefined || roles.includes(role)) && (skill === undefined || skills.includes(skill))
}

function count(entry: Entry | undefined): number {
  return entry === undefined ? 0 : 1
}

function earlier(one: UnixSeconds, other: UnixSeconds): UnixSeconds {
  return one < other ? one : other
}
