/**
 * Capacity on sale: offers, bids, matches and receipts, and the seller's book.
 *
 * @module
 */
export { bidJson, CAPACITY_BID, type CapacityBid, openBid, parseBid } from './bid.ts'
export type { Sale, SalesBook } from './book.ts'
export { openBook } from './book-file.ts'
export {
  type CapacityMatch,
  clearBid,
  isSameMatch,
  matchJson,
  type NoMatchReason,
  parseMatch,
} from './clearing.ts'
export {
  bidOf,
  OFFER_ENV,
  type OfferConfig,
  offerOf,
  readBidConfig,
  readOfferConfig,
} from './config.ts'
export { createCountersign } from './countersigning.ts'
export { CAPACITY_OFFER, type CapacityOffer, offerJson, openOffer, parseOffer } from './offer.ts'
export {
  type Consumption,
  checkReceipt,
  hashOfText,
  parseReceipt,
  type ReceiptParty,
  receiptJson,
  receiptOf,
  type SignedReceipt,
  USAGE_RECEIPT,
  type UsageReceipt,
} from './receipt.ts'
export { createSeller, type Seller } from './seller.ts'
export { createServedCalls, type ServedCalls } from './served-calls.ts'
export {
  describeService,
  isSameService,
  nameOfService,
  type ServiceKind,
  serviceKindOf,
  serviceText,
} from './service-kind.ts'
