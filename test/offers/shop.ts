import { expect } from 'vitest'
import { isCtError } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { u64 } from '../../src/core/u64.ts'
import { type SalesBook } from '../../src/offers/book.ts'
import { type CapacityMatch } from '../../src/offers/clearing.ts'
import { type Countersign, createCountersign } from '../../src/offers/countersigning.ts'
import {
  hashOfText,
  receiptJson,
  type SignedReceipt,
  USAGE_RECEIPT,
  type UsageReceipt,
} from '../../src/offers/receipt.ts'
import { createServedCalls, type ServedCalls } from '../../src/offers/served-calls.ts'
import { serviceText } from '../../src/offers/service-kind.ts'
import { signedBy } from '../core/forged.ts'
import { bidOf, Selling, START } from './selling.ts'
import { buyer, seller } from './signed.ts'

export const CHECK = serviceText('SafetyCheck')

/** A sale of 200 units to the buyer, and calls that were served to it. */
export class Shop {
  readonly served: ServedCalls = createServedCalls()
  readonly selling: Selling
  readonly match: CapacityMatch
  readonly #countersigns = new Map<SalesBook, Countersign>()

  static async open(): Promise<Shop> {
    return new Shop(await Selling.open())
  }

  private constructor(selling: Selling) {
    this.selling = selling
    const match = selling.bid(bidOf())
    if (!('matchRef' in match)) throw new TypeError(match.message)
    this.match = match
  }

  /** Serves a call of this number. */
  serve(call = 1, peer: HolderId = buyer.id, service = CHECK): this {
    this.served.note(peer, { request: hashOfText(`in ${call}`), response: hashOfText(`out ${call}`) }, service)
    return this
  }

  draft(changes: Partial<UsageReceipt> = {}, call = 1, key = buyer): SignedReceipt {
    const body: UsageReceipt = {
      provider: seller.id,
      consumer: buyer.id,
      kind: this.match.kind,
      model: this.match.model,
      unitsConsumed: u64(10),
      matchRef: this.match.matchRef,
      issuedAt: u64(START),
      requestHash: hashOfText(`in ${call}`),
      responseHash: hashOfText(`out ${call}`),
      ...changes,
    }
    return { body, signatures: { consumer: signedBy(key.secret, USAGE_RECEIPT, body).signature } }
  }

  /** The receipt with both signatures, or the reason why there is none. */
  ask(draft: SignedReceipt, peer: HolderId = buyer.id, book: SalesBook = this.selling.book): SignedReceipt | unknown {
    try {
      return this.send(writeExactJson({ receipt: receiptJson(draft) }), peer, book)
    } catch (error) {
      if (!isCtError(error, 'ERR_TOOL_FAILED')) throw error
      expect(error.message).toMatch(/^receipt refused: \S/)
      return error.detail['reason']
    }
  }

  send(paramsText: string, peer: HolderId = buyer.id, book: SalesBook = this.selling.book): SignedReceipt {
    return this.#countersign(book)(paramsText, peer)
  }

  /** One for each book, as there is one for each process. */
  #countersign(book: SalesBook): Countersign {
    const clock = { now: () => this.selling.now * 1_000 }
    const known = this.#countersigns.get(book)
    const made = known ?? createCountersign({ book, holder: seller, served: this.served, clock, skewSeconds: 60 })
    this.#countersigns.set(book, made)
    return made
  }
}
