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
import { type ExactJson, parseExactJson, writeExactJson } from '../core/exact-json.ts'
import { type Hash, type HolderId } from '../core/ids.ts'
import { isExactObject, own } from '../core/json-shape.ts'
import { type HolderKey, sha256, verifyMany } from '../core/keys.ts'
import { type Clock } from '../core/time.ts'
import { type UnixSeconds, u64, unixSeconds } from '../core/u64.ts'
import { CAPACITY_BID, type CapacityBid, openBid, readBid } from './bid.ts'
import { type BookPage, type SalesBook } from './book.ts'
import { type CapacityMatch, clearBid, matchJson, NO_MATCH_REASONS, parseMatch } from './clearing.ts'
import { type OfferConfig } from './config.ts'
import { type CapacityOffer } from './offer.ts'
import { standingOffer, unitsLeft } from './offering.ts'

export interface SellerDeps {
  readonly book: SalesBook
  readonly holder: HolderKey
  readonly clock: Pick<Clock, 'now'>
  readonly skewSeconds: number
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
  'signature_invalid',
  'expired',
  'issued_in_the_future',
  'bidder_is_not_peer',
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

export function createSeller(config: OfferConfig, { book, holder, clock, skewSeconds }: SellerDeps): Seller {
  const offerOn = (page: BookPage, now: UnixSeconds): Verified<CapacityOffer> =>
    standingOffer(page, config, holder, now)

  const sell = (page: BookPage, bid: Verified<CapacityBid>, now: UnixSeconds): CapacityMatch | CtError => {
    const name = nameOfBid(bid.body)
    const earlier = page.findByBid(name)
    if (earlier !== undefined) return parseMatch(earlier.match)
    if (!mayBid(page, bid.body.bidder, now, config)) {
      return refusal('bid rate limit exceeded for this consumer — slow down', 'rate_limited')
    }
    const offer = offerOn(page, now)
    const match = clearBid(offer, bid)
    if (typeof match === 'string') {
      return refusal('bid does not clear against this offer (kind/model/units/floor/expiry)', match)
    }
    if (match.units > unitsLeft(config.terms.units, page.sold())) {
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
    page.addSale({
      bid: name,
      matchRef: match.matchRef,
      match: writeExactJson(matchJson(match)),
      units: match.units,
      expiresAt: bid.body.expiresAt,
    })
    return match
  }

  return {
    offer: () => book.update((page) => offerOn(page, unixSeconds(clock))),
    bid: (args, peer) => {
      const now = unixSeconds(clock)
      const bid = readOwnBid(args, peer, now, skewSeconds)
      // A refusal is returned, not thrown: the bid counts all the same.
      const outcome = book.update((page) => sell(page, bid, now))
      if (outcome instanceof CtError) throw outcome
      return outcome
    },
  }
}

function readOwnBid(args: string, peer: HolderId, now: UnixSeconds, skewSeconds: number): Verified<CapacityBid> {
  const sealed = orRefuse(
    () => readBid(bidIn(args), 'bid'),
    (error) => refusal(`malformed bid: ${error.message}`, 'malformed', error),
  )
  const bid = orRefuse(
    () => openBid(sealed, { now, skewSeconds, verifier: verifyMany }),
    (error) => refusal('bid signature invalid or expired', VALIDITY_REASONS[error.code] ?? 'signature_invalid', error),
  )
  if (bid.body.bidder !== peer) {
    throw refusal('the bidder of the bid is not the authenticated peer of this channel', 'bidder_is_not_peer')
  }
  return bid
}

const VALIDITY_REASONS: Readonly<Record<string, BidRefusal>> = {
  ERR_ARTEFACT_EXPIRED: 'expired',
  ERR_ARTEFACT_EARLY: 'issued_in_the_future',
}

function bidIn(args: string): ExactJson {
  const value = parseExactJson(args, 'arguments')
  const bid = isExactObject(value) ? own(value, 'bid') : undefined
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

/** One bid more of this peer, if that is not too many in this window. */
function mayBid(page: BookPage, peer: HolderId, now: UnixSeconds, { maxBids, windowSeconds }: OfferConfig): boolean {
  // By its beginning and not by its number: windows of another length count on from there.
  const windowBegan = u64(windowSeconds === 0n ? 0n : now - (now % windowSeconds))
  const count = page.countBid(peer, windowBegan, MAX_BIDDING_PEERS)
  return count !== undefined && count <= maxBids
}

/** The signature is no part of it: one bid may have several. */
function nameOfBid(bid: CapacityBid): Hash {
  return toHex(sha256(CAPACITY_BID.preimage(bid, CAPACITY_BID.domain))) as Hash
}

function refusal(message: string, reason: BidRefusal, cause?: Error): CtError {
  return new CtError('ERR_TOOL_FAILED', message, { cause, detail: { reason } })
}
