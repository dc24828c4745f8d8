/**
 * Capacity on sale: offers, bids, matches and receipts, and the seller's book.
 *
 * @module
 */
export { bidJson, CAPACITY_BID, type CapacityBid, openBid, parseBid } from './bid.ts'
export type { Sale } from './book.ts'
export { openBook } from './book-file.ts'
export { type CapacityMatch, isSameMatch, matchJson, matchOf, parseMatch } from './clearing.ts'
export {
  bidOf,
  OFFER_ENV,
  type OfferConfig,
  offerOf,
  readBidConfig,
  readOfferConfig,
} from './config.ts'
export { type CountersignDeps, countersign } from './countersigning.ts'
export { CAPACITY_OFFER, type CapacityOffer, offerJson, openOffer, parseOffer } from './offer.ts'
export {
  checkReceipt,
  hashOfText,
  parseReceipt,
  type ReceiptParty,
  readReceipt,
  receiptJson,
  type SignedReceipt,
  USAGE_RECEIPT,
  type UsageReceipt,
} from './receipt.ts'
export { createSeller, type Seller } from './seller.ts'
export { createServedCalls, type ServedCalls } from './served-calls.ts'
export { describeService, isSameService, nameOfService, type ServiceKind, serviceKindOf } from './service-kind.ts'
