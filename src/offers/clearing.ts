/**
 * Whether a bid clears against an offer, and the match that comes of it. Pure: buyer and seller compute the same.
 *
 * @module
 */
import { requireVerified, type Verified } from '../core/artefact.ts'
import { toHex } from '../core/bytes.ts'
import { type ExactObject } from '../core/exact-json.ts'
import { type Hash, type HolderId, parseHash } from '../core/ids.ts'
import { hexAs, holderId, parseAs, type Read, shape, text, wholeNumber } from '../core/json-shape.ts'
import { sha256 } from '../core/keys.ts'
import { Preimage } from '../core/preimage.ts'
import { type U64 } from '../core/u64.ts'
import { type CapacityBid } from './bid.ts'
import { CAPACITY_TAGS, type CapacityKind, capacityKind } from './capacity-kind.ts'
import { type CapacityOffer } from './offer.ts'
import { isSameService } from './service-kind.ts'

export interface CapacityMatch {
  readonly provider: HolderId
  readonly consumer: HolderId
  readonly kind: CapacityKind
  readonly model: string
  readonly units: U64
  readonly totalPrice: U64
  /** Covers all of the above and when both sides signed; not the service, the currency or the terms. */
  readonly matchRef: Hash
}

/** Why a bid does not clear, for programs, in the order in which it is checked. */
export const NO_MATCH_REASONS = [
  'kind_differs',
  'model_not_offered',
  'service_not_offered',
  'no_units',
  'too_many_units',
  'below_floor',
] as const

export type NoMatchReason = (typeof NO_MATCH_REASONS)[number]

/** The match, or the first reason why there is none. Both have been opened, so both hold now. */
export function clearBid(
  verifiedOffer: Verified<CapacityOffer>,
  verifiedBid: Verified<CapacityBid>,
): CapacityMatch | NoMatchReason {
  requireVerified(verifiedOffer, verifiedBid)
  const { body: offer } = verifiedOffer
  const { body: bid } = verifiedBid
  const { service } = bid
  if (bid.kind !== offer.kind) return 'kind_differs'
  if (!offer.models.includes(bid.model)) return 'model_not_offered'
  if (service !== undefined && !offer.services.some((offered) => isSameService(offered, service))) {
    return 'service_not_offered'
  }
  if (bid.units === 0n) return 'no_units'
  if (bid.units > offer.units) return 'too_many_units'
  if (bid.totalPrice < offer.minPrice) return 'below_floor'
  return matchOf(offer, bid)
}

/** The match of an offer and a bid that clear. */
export function matchOf(offer: CapacityOffer, bid: CapacityBid): CapacityMatch {
  const terms = {
    provider: offer.holder,
    consumer: bid.bidder,
    kind: bid.kind,
    model: bid.model,
    units: bid.units,
    totalPrice: bid.totalPrice,
  }
  const covered = new Preimage('ct-capacity-match-v1', 'bare')
    .id(terms.provider)
    .id(terms.consumer)
    .tag(CAPACITY_TAGS[terms.kind])
    .text(terms.model)
    .u64(terms.units)
    .u64(terms.totalPrice)
    .u64(bid.issuedAt)
    .u64(offer.issuedAt)
    .bytes()
  return { ...terms, matchRef: toHex(sha256(covered)) as Hash }
}

const members = shape({
  provider: holderId,
  consumer: holderId,
  kind: capacityKind,
  model: text,
  units: wholeNumber,
  total_price: wholeNumber,
  match_ref: hexAs(parseHash),
})

export const readMatch: Read<CapacityMatch> = (value, at) => {
  const { total_price: totalPrice, match_ref: matchRef, ...terms } = members(value, at)
  return { ...terms, totalPrice, matchRef }
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function parseMatch(json: string): CapacityMatch {
  return parseAs(readMatch, json, 'capacity match')
}

/** Members in the order in which the original writes them. */
export function matchJson({ totalPrice, matchRef, ...terms }: CapacityMatch): ExactObject {
  const { provider, consumer, kind, model, units } = terms
  return { provider, consumer, kind, model, units, total_price: totalPrice, match_ref: matchRef }
}

/** True when both say the same in every member. */
export function isSameMatch(left: CapacityMatch, right: CapacityMatch): boolean {
  return (
    left.matchRef === right.matchRef &&
    left.provider === right.provider &&
    left.consumer === right.consumer &&
    left.kind === right.kind &&
    left.model === right.model &&
    left.units === right.units &&
    left.totalPrice === right.totalPrice
  )
}
