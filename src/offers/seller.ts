/**
 * The seller's side of the auction: takes bids against the offer that stands and books what it sells.
 *
 * Holds: what is sold never exceeds the units on sale, whatever restarts, renews or reconnects. The same bid books
 * once and gets the same match; a bid is taken only from the peer who signed it. The texts of refusals are those that
 * callers of the original know; `detail.reason` says the same to programs.
 *
 * @module
 */
import { type Verified } from '../core/artefact.ts'
import { toHex } from '../core/bytes.ts'
import { CtError, isCtError } from '../core/errors.ts'
import { type ExactJson, writeExactJson } from '../core/exact-json.ts'
import { type Hash, type HolderId } from '../core/ids.ts'
import { type HolderKey, sha256, verifyMany } from '../core/keys.ts'
import { type Clock } from '../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../core/u64.ts'
import { CAPACITY_BID, type CapacityBid, openBid, readBid } from './bid.ts'
import { type BidWindow, type BookPage, type BookView, type NewSale, type SalesBook } from './book.ts'
import { type CapacityMatch, clearBid, matchJson, NO_MATCH_REASONS, parseMatch } from './clearing.ts'
import { type OfferConfig } from './config.ts'
import { type CapacityOffer } from './offer.ts'
import { createOffering, unitsLeft } from './offering.ts'
import { readRequest } from './request.ts'
import { serviceText } from './service-kind.ts'
import { createTries } from './tries.ts'

export interface SellerDeps {
  readonly book: SalesBook
  readonly holder: HolderKey
  readonly clock: Pick<Clock, 'now'>
  readonly skewSeconds: number
  /** Told of every sale once it is kept. */
  readonly onSale?: (match: CapacityMatch) => void
}

export interface Seller {
  readonly offer: () => Verified<CapacityOffer>
  /**
   * The match of the bid in `{"bid": …}`.
   *
   * @param args JSON text
   * @throws {CtError} `ERR_TOOL_FAILED` with `detail.reason`
   */
  readonly bid: (args: string, peer: HolderId) => CapacityMatch
}

/** Why a bid is refused, for programs, in the order in which it is checked. */
export const BID_REFUSALS = [
  'missing_bid',
  'malformed',
  'bidder_is_not_peer',
  'signature_invalid',
  'expired',
  'issued_in_the_future',
  'rate_limited',
  ...NO_MATCH_REASONS,
  'sold_out',
  'repeated_match_ref',
  'book_full',
] as const

type BidRefusal = (typeof BID_REFUSALS)[number]

/** More peers than one seller can be known to; the memory of their bids is bounded with them. */
export const MAX_BIDDING_PEERS = 100_000
/** Sales kept for repeated bids and for receipts. */
export const MAX_SALES = 100_000

export function createSeller(config: OfferConfig, { book, holder, clock, skewSeconds, onSale }: SellerDeps): Seller {
  const offering = createOffering(config, holder)
  const tries = createTries()

  /** What the book alone says of the bid: its match, or that the peer may submit no more. */
  const look = (page: BookView, name: Hash, { bidder }: CapacityBid, now: UnixSeconds) => {
    const earlier = page.findByBid(name)
    if (earlier !== undefined) return parseMatch(earlier.match)
    const count = page.bidsOf(bidder, windowAt(config, now))
    return count === undefined || count >= config.maxBids ? tooManyBids() : undefined
  }

  const sell = (page: BookPage, name: Hash, bid: Verified<CapacityBid>, now: UnixSeconds): CapacityMatch | CtError => {
    const count = page.countBid(bid.body.bidder, windowAt(config, now))
    if (count === undefined || count > config.maxBids) return tooManyBids()
    const match = clearBid(offering.standing(page, now), bid)
    if (typeof match === 'string') {
      return refusal('bid does not clear against this offer (kind/model/units/floor/expiry)', match)
    }
    const refused = refuseSale(page, match, config, now)
    if (refused !== undefined) return refused
    page.addSale(saleOf(name, bid.body, match))
    return match
  }

  const take = (args: string, peer: HolderId, now: UnixSeconds): CapacityMatch | CtError => {
    const bid = readOwnBid(args, peer, now, skewSeconds)
    const name = nameOfBid(bid.body)
    // What needs no writing waits for no other process, and costs no flush of the disk.
    const known = book.read((page) => look(page, name, bid.body, now))
    if (known !== undefined) return known
    // A refusal is returned, not thrown: the bid counts all the same.
    const [outcome, isNew] = book.update((page): readonly [CapacityMatch | CtError, boolean] => {
      const found = look(page, name, bid.body, now)
      return found === undefined ? [sell(page, name, bid, now), true] : [found, false]
    })
    if (isNew && !(outcome instanceof CtError)) onSale?.(outcome)
    return outcome
  }

  return {
    offer: () => {
      const now = unixSeconds(clock)
      return book.read((page) => offering.kept(page, now)) ?? book.update((page) => offering.standing(page, now))
    },
    bid: (args, peer) => {
      const now = unixSeconds(clock)
      if (tries.areSpent(peer, now)) throw tooManyBids()
      const outcome = orNote(
        () => take(args, peer, now),
        () => tries.note(peer, now),
      )
      if (outcome instanceof CtError) throw outcome
      return outcome
    },
  }
}

/** The work's result; what it refuses by throwing was a try in vain. */
function orNote<Result>(work: () => Result, note: () => void): Result {
  try {
    return work()
  } catch (error) {
    if (isCtError(error, 'ERR_TOOL_FAILED')) note()
    throw error
  }
}

function readOwnBid(args: string, peer: HolderId, now: UnixSeconds, skewSeconds: number): Verified<CapacityBid> {
  const sealed = orRefuse(
    () => readBid(bidIn(args), 'bid'),
    (error) => refusal(`malformed bid: ${error.message}`, 'malformed', error),
  )
  // It costs nothing, while a signature costs a verification.
  if (sealed.body.bidder !== peer) {
    throw refusal('the bidder of the bid is not the authenticated peer of this channel', 'bidder_is_not_peer')
  }
  return orRefuse(
    () => openBid(sealed, { now, skewSeconds, verifier: verifyMany }),
    (error) => refusal('bid signature invalid or expired', VALIDITY_REASONS[error.code] ?? 'signature_invalid', error),
  )
}

const VALIDITY_REASONS: Readonly<Record<string, BidRefusal>> = {
  ERR_ARTEFACT_EXPIRED: 'expired',
  ERR_ARTEFACT_EARLY: 'issued_in_the_future',
}

function bidIn(args: string): ExactJson {
  const bid = readRequest(args, 'arguments', 'bid')
  if (bid === undefined || bid === null) throw refusal('missing `bid` object', 'missing_bid')
  return bid
}

/** The work's result; what was wrong with an artefact becomes the refusal. */
function orRefuse<Result>(work: () => Result, refuse: (error: CtError) => CtError): Result {
  try {
    return work()
  } catch (error) {
    throw isCtError(error) && error.code !== 'ERR_TOOL_FAILED' ? refuse(error) : error
  }
}

function refuseSale(
  page: BookPage,
  match: CapacityMatch,
  { terms }: OfferConfig,
  now: UnixSeconds,
): CtError | undefined {
  if (match.units > unitsLeft(terms.units, page.sold())) {
    return refusal('offer capacity already committed to prior matches — not enough units remain', 'sold_out')
  }
  if (page.findByMatch(match.matchRef) !== undefined) {
    return refusal(
      'a bid with the same match_ref and other terms was matched before; sign it in another second',
      'repeated_match_ref',
    )
  }
  if (page.countSales() >= MAX_SALES && !page.forgetSale(now)) {
    return refusal('too many matched bids have not expired yet; bid again later', 'book_full')
  }
  return undefined
}

function saleOf(name: Hash, { service, issuedAt, expiresAt }: CapacityBid, match: CapacityMatch): NewSale {
  const { matchRef, consumer, units } = match
  return {
    bid: name,
    matchRef,
    consumer,
    match: writeExactJson(matchJson(match)),
    service: service === undefined ? undefined : serviceText(service),
    units,
    issuedAt,
    expiresAt,
  }
}

function windowAt({ windowSeconds }: OfferConfig, now: UnixSeconds): BidWindow {
  return { now, seconds: windowSeconds, maxPeers: MAX_BIDDING_PEERS }
}

function tooManyBids(): CtError {
  return refusal('bid rate limit exceeded for this consumer — slow down', 'rate_limited')
}

/** The signature is no part of it: one bid may have several. */
function nameOfBid(bid: CapacityBid): Hash {
  return toHex(sha256(CAPACITY_BID.preimage(bid, CAPACITY_BID.domain))) as Hash
}

function refusal(message: string, reason: BidRefusal, cause?: Error): CtError {
  return new CtError('ERR_TOOL_FAILED', message, { cause, detail: { reason } })
}
