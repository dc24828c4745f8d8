/**
 * What is asked of the card registry of a broker, and what it answers: one question and one answer on each stream.
 *
 * Each is `u32 length (big endian) ‖ CBOR map` with the kind in `t`; unknown keys are ignored. A card travels as the JSON
 * text that its holder signed, so that whoever gets it checks the very text himself. Holds: no request is larger than
 * {@link MAX_CARD_REQUEST_BYTES}, no answer than {@link MAX_CARD_ANSWER_BYTES}.
 *
 * @module
 */
import { encode } from 'cborg'
import { type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { bigCount, bytesOf, type Fields, idIn, malformed, readMap } from '../rendezvous/fields.ts'
import { encodeRefused, parseRefused, type Refused } from '../rendezvous/refused.ts'
import { isCount } from '../strict-cbor.ts'

export const CARDS_PROTOCOL = '/ct-agent/cards/1'
/** Of the text of one card, in UTF-8: room for dozens of skills with their examples. */
export const MAX_CARD_BYTES = 16_384
/** A card, and what stands around it. */
export const MAX_CARD_REQUEST_BYTES = MAX_CARD_BYTES + 1_024
export const MAX_CARD_ANSWER_BYTES = 131_072
/** Cards in one answer; the next page has more. */
export const MAX_PAGE_CARDS = 64
/** Of a role or a skill that is looked for. */
const MAX_TERM_CHARS = 1_024

/** The sender's own card: nobody else's is taken. */
export interface Publish {
  readonly kind: 'publish'
  readonly card: string
}

/** Of the sender's own card. */
export interface Withdraw {
  readonly kind: 'withdraw'
}

export interface CardQuery {
  /** One of the card's role tags, to the letter. */
  readonly role?: string | undefined
  /** The id of one of the card's skills, to the letter. */
  readonly skill?: string | undefined
}

export interface Find extends CardQuery {
  readonly kind: 'find'
  /** Cards in the answer; it may have fewer and still not be the last. */
  readonly limit: number
  /** Where the answer before this one ended. */
  readonly after?: HolderId | undefined
}

export type CardRequest = Publish | Withdraw | Find

export interface Published {
  readonly kind: 'published'
  /** The first second in which the registry no longer has it, unless it is published again before. */
  readonly until: UnixSeconds
}

export interface Withdrawn {
  readonly kind: 'withdrawn'
  /** False when there was none. */
  readonly found: boolean
}

export interface Found {
  readonly kind: 'found'
  /** In the order of their holders' keys. */
  readonly cards: readonly string[]
  /** There may be more after this one. */
  readonly next?: HolderId | undefined
}

export type CardAnswer = Published | Withdrawn | Found | Refused

export function encodeCardRequest(request: CardRequest): Uint8Array {
  switch (request.kind) {
    case 'publish':
      return encode({ t: 'publish', card: request.card })
    case 'withdraw':
      return encode({ t: 'withdraw' })
    case 'find': {
      const { role, skill, limit, after } = request
      return encode({
        t: 'find',
        ...(role === undefined ? {} : { role }),
        ...(skill === undefined ? {} : { skill }),
        limit,
        ...(after === undefined ? {} : { after: bytesOf(after) }),
      })
    }
  }
}

export function encodeCardAnswer(answer: CardAnswer): Uint8Array {
  switch (answer.kind) {
    case 'published':
      return encode({ t: 'published', until: answer.until })
    case 'withdrawn':
      return encode({ t: 'withdrawn', found: answer.found })
    case 'found': {
      const { cards, next } = answer
      return encode({ t: 'found', cards, ...(next === undefined ? {} : { next: bytesOf(next) }) })
    }
    case 'refused':
      return encodeRefused(answer)
  }
}

/** @throws {CtError} `ERR_PROTOCOL` */
export function parseCardRequest(payload: Uint8Array): CardRequest {
  const map = readMap(payload)
  switch (map.get('t')) {
    case 'publish':
      return { kind: 'publish', card: cardIn(map.get('card')) }
    case 'withdraw':
      return { kind: 'withdraw' }
    case 'find':
      return {
        kind: 'find',
        role: termIn(map, 'role'),
        skill: termIn(map, 'skill'),
        limit: limitIn(map),
        after: holderIn(map, 'after'),
      }
    default:
      throw malformed('expected publish, withdraw or find')
  }
}

/** @throws {CtError} `ERR_PROTOCOL` */
export function parseCardAnswer(payload: Uint8Array): CardAnswer {
  const map = readMap(payload)
  switch (map.get('t')) {
    case 'published':
      return { kind: 'published', until: bigCount(map, 'until') }
    case 'withdrawn':
      return { kind: 'withdrawn', found: map.get('found') === true }
    case 'found': {
      const cards = map.get('cards')
      if (!Array.isArray(cards) || cards.length > MAX_PAGE_CARDS) {
        throw malformed(`expected at most ${MAX_PAGE_CARDS} cards`)
      }
      return { kind: 'found', cards: cards.map(cardIn), next: holderIn(map, 'next') }
    }
    case 'refused':
      return parseRefused(map)
    default:
      throw malformed('expected an answer of a card registry')
  }
}

function cardIn(value: unknown): string {
  if (typeof value === 'string' && Buffer.byteLength(value) <= MAX_CARD_BYTES) return value
  throw malformed(`expected a card as text of at most ${MAX_CARD_BYTES} bytes`)
}

function termIn(map: Fields, key: string): string | undefined {
  const value = map.get(key)
  if (value === undefined || (typeof value === 'string' && value.length <= MAX_TERM_CHARS)) return value
  throw malformed(`expected a text of at most ${MAX_TERM_CHARS} characters in ${key}`)
}

function limitIn(map: Fields): number {
  const value = map.get('limit')
  if (isCount(value) && value > 0) return Math.min(value, MAX_PAGE_CARDS)
  throw malformed('expected a whole number from 1 on in limit')
}

function holderIn(map: Fields, key: string): HolderId | undefined {
  return map.has(key) ? idIn<HolderId>(map, key) : undefined
}
