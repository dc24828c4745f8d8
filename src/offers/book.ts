/**
 * What a seller must remember: the offer that stands, what was sold, to whom, and how often each peer bid.
 *
 * Holds: an update is one transaction, across processes too, so two sellers with one book never sell a unit twice.
 *
 * @module
 */
import { type Hash, type HolderId } from '../core/ids.ts'
import { type U64, type UnixSeconds } from '../core/u64.ts'

export interface SalesBook {
  /** Runs the work alone, and keeps all of what it wrote, or nothing when it throws. */
  readonly update: <Result>(work: (page: BookPage) => Result) => Result
  readonly close: () => void
}

/** What an update may read and write. */
export interface BookPage {
  /** The signed offer that stands, with the terms it was made of, both as JSON texts. */
  readonly offer: () => KeptOffer | undefined
  readonly keepOffer: (offer: KeptOffer) => void
  /** Units sold in all, under whichever offer. */
  readonly sold: () => U64
  readonly findByBid: (bid: Hash) => Sale | undefined
  readonly findByMatch: (matchRef: Hash) => Sale | undefined
  /** Adds the sale and its units. */
  readonly addSale: (sale: Sale) => void
  readonly countSales: () => number
  /** Forgets the oldest sale whose bid had expired by then, but not its units; false when there is none. */
  readonly forgetSale: (expiredAt: UnixSeconds) => boolean
  /** The latest sales, newest first. */
  readonly latestSales: (most: number) => readonly Sale[]
  /** Begins the book anew: no offer, nothing sold, no receipts. Bids stay counted. */
  readonly clear: () => void
  /**
   * Counts one bid of the peer in the window that began then; forgets earlier windows. When the clock was set back, the
   * counts go on in the window it now is. The count, or `undefined` for a peer too many.
   */
  readonly countBid: (peer: HolderId, windowBegan: UnixSeconds, maxPeers: number) => number | undefined
  readonly hasReceipt: (receipt: Hash) => boolean
  readonly receiptsOf: (matchRef: Hash) => { readonly count: number; readonly units: bigint }
  readonly addReceipt: (receipt: Hash, matchRef: Hash, units: U64) => void
}

export interface KeptOffer {
  readonly offer: string
  readonly terms: string
}

export interface Sale {
  /** Hash of what the bid's signature covers. */
  readonly bid: Hash
  readonly matchRef: Hash
  /** The match as JSON. */
  readonly match: string
  readonly units: U64
  /** Of the bid. */
  readonly expiresAt: UnixSeconds
}
