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
  /** Runs the work on the book as it stands. It waits for no other process and writes nothing. */
  readonly read: <Result>(work: (page: BookView) => Result) => Result
  /**
   * Runs the work alone, and keeps all of what it wrote, or nothing when it throws.
   *
   * @throws {CtError} `ERR_PEER_BUSY` while another process writes, `ERR_STATE_UNAVAILABLE`
   */
  readonly update: <Result>(work: (page: BookPage) => Result) => Result
  readonly close: () => void
}

/** What may be read. */
export interface BookView {
  /** The signed offer that stands, with the terms it was made of, both as JSON texts. */
  readonly offer: () => KeptOffer | undefined
  /** Units sold in all, under whichever offer. */
  readonly sold: () => U64
  readonly findByBid: (bid: Hash) => Sale | undefined
  readonly findByMatch: (matchRef: Hash) => Sale | undefined
  readonly countSales: () => number
  /** True when a sale to this peer is kept. */
  readonly hasBuyer: (peer: HolderId) => boolean
  /** The latest sales, newest first. */
  readonly latestSales: (most: number) => readonly Sale[]
  /**
   * Bids of the peer that were counted in this window, 0 when none was counted in it yet, even if others go on in it;
   * `undefined` when there is no room to count one.
   */
  readonly bidsOf: (peer: HolderId, window: BidWindow) => number | undefined
  readonly hasReceipt: (receipt: Hash) => boolean
}

/** What an update may read and write. */
export interface BookPage extends BookView {
  readonly keepOffer: (offer: KeptOffer) => void
  /** Adds the sale and its units. */
  readonly addSale: (sale: NewSale) => void
  /** Forgets the sale whose bid expired first, if it had by then, but not its units; false when there is none. */
  readonly forgetSale: (expiredAt: UnixSeconds) => boolean
  /** Begins the book anew: no offer, nothing sold, no receipts. Bids stay counted. */
  readonly clear: () => void
  /**
   * Counts one bid of the peer, in the windows of all processes. When the clock was set back, the counts go on in the
   * window it now is. The count, or `undefined` for a peer too many.
   */
  readonly countBid: (peer: HolderId, window: BidWindow) => number | undefined
  /** Adds the receipt, which must be new, and its units to the sale. */
  readonly addReceipt: (receipt: Hash, matchRef: Hash, units: U64) => void
}

/** Windows begin at multiples of their length since 1970; one of 0 seconds lasts for ever. */
export interface BidWindow {
  readonly now: UnixSeconds
  readonly seconds: U64
  /** So many peers are counted. */
  readonly maxPeers: number
}

export interface KeptOffer {
  readonly offer: string
  readonly terms: string
}

export interface NewSale {
  /** Hash of what the bid's signature covers. */
  readonly bid: Hash
  readonly matchRef: Hash
  readonly consumer: HolderId
  /** The match as JSON. */
  readonly match: string
  /** The service that the bid names, as JSON. */
  readonly service: string | undefined
  readonly units: U64
  /** Of the bid. */
  readonly issuedAt: UnixSeconds
  /** Of the bid. */
  readonly expiresAt: UnixSeconds
}

export interface Sale extends NewSale {
  /** How many receipts there are for it. */
  readonly receipts: number
  /** Units of all of them together. */
  readonly unitsReceipted: U64
}
