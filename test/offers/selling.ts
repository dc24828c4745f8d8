/**
 * A seller with a book of its own in a temporary folder, a clock that the test sets, and buyers that bid.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Sealed, type Verified } from '../../src/core/artefact.ts'
import { isCtError } from '../../src/core/errors.ts'
import { type ExactObject, writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { type HolderKey } from '../../src/core/keys.ts'
import { u64 } from '../../src/core/u64.ts'
import { bidJson, CAPACITY_BID, type CapacityBid, NO_TERMS } from '../../src/offers/bid.ts'
import { type BookPage, type SalesBook } from '../../src/offers/book.ts'
import { openBook } from '../../src/offers/book-file.ts'
import { type CapacityMatch } from '../../src/offers/clearing.ts'
import { type OfferConfig } from '../../src/offers/config.ts'
import { type CapacityOffer } from '../../src/offers/offer.ts'
import { createSeller, type Seller } from '../../src/offers/seller.ts'
import { signedBy } from '../core/forged.ts'
import { config, START } from './settings.ts'
import { buyer, keyOf } from './signed.ts'

export { START, terms, withUnits } from './settings.ts'

/** A path in a folder that is removed after the test. */
export function bookFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ct-book-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'sales.db')
}

/** A bid of the buyer for 200 units, issued at {@link START} and good for an hour, but for what is changed. */
export function bidOf(changes: Partial<CapacityBid> = {}, key: HolderKey = buyer): Sealed<CapacityBid> {
  const body: CapacityBid = {
    bidder: key.id,
    kind: 'CloudApiQuota',
    model: 'm1',
    units: u64(200),
    totalPrice: u64(150),
    issuedAt: u64(START),
    expiresAt: u64(START + 3_600),
    termsAck: NO_TERMS,
    service: undefined,
    ...changes,
  }
  return signedBy(key.secret, CAPACITY_BID, body)
}

/** The book, but for what is changed. */
function altered(book: SalesBook, changes: Partial<BookPage>): SalesBook {
  const page = (real: BookPage): BookPage =>
    new Proxy(real, {
      get: (target, name: keyof BookPage) => {
        const member: unknown = changes[name] ?? target[name]
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  return {
    read: (work) => book.read((real) => work(page(real as BookPage))),
    update: (work) => book.update((real) => work(page(real))),
    close: () => book.close(),
  }
}

/** What a seller refuses a bid with. */
export interface Refused {
  readonly reason: unknown
  readonly message: string
}

export class Selling {
  /** Unix seconds; may have a fraction. */
  now = START
  readonly path: string
  readonly #holder: HolderKey
  #book: SalesBook
  #seller: Seller

  static async open(settings: Partial<OfferConfig> = {}, path: string = bookFile(), holder = keyOf(0x51)) {
    return new Selling(path, holder, await openBook(path), { ...config, ...settings })
  }

  private constructor(path: string, holder: HolderKey, book: SalesBook, settings: OfferConfig) {
    this.path = path
    this.#holder = holder
    this.#book = book
    this.#seller = this.#start(settings)
    onTestFinished(() => this.stop())
  }

  get book(): SalesBook {
    return this.#book
  }

  /** As another process would begin: nothing is left of this one but the file. */
  async restart(settings: Partial<OfferConfig> = {}): Promise<this> {
    this.#book.close()
    this.#book = await openBook(this.path)
    this.#seller = this.#start({ ...config, ...settings })
    return this
  }

  stop(): void {
    try {
      this.#book.close()
    } catch {}
  }

  offer(): Verified<CapacityOffer> {
    return this.#seller.offer()
  }

  sold(): bigint {
    return this.#book.update((page) => page.sold())
  }

  /** The match, or why there is none. */
  bid(bid: Sealed<CapacityBid>, peer: HolderId = bid.body.bidder): CapacityMatch | Refused {
    return this.send(writeExactJson({ bid: bidJson(bid) }), peer)
  }

  bidWith(changes: (json: ExactObject) => ExactObject, peer: HolderId = buyer.id): CapacityMatch | Refused {
    return this.send(writeExactJson({ bid: changes(bidJson(bidOf())) }), peer)
  }

  send(args: string, peer: HolderId = buyer.id): CapacityMatch | Refused {
    try {
      return this.#seller.bid(args, peer)
    } catch (error) {
      if (!isCtError(error, 'ERR_TOOL_FAILED')) throw error
      return { reason: error.detail['reason'], message: error.message }
    }
  }

  /** Goes on with a book of which this is changed. */
  alter(changes: Partial<BookPage>): void {
    this.#book = altered(this.#book, changes)
    this.#seller = this.#start(config)
  }

  #start(settings: OfferConfig): Seller {
    const clock = { now: () => this.now * 1_000 }
    return createSeller(settings, { book: this.#book, holder: this.#holder, clock, skewSeconds: 60 })
  }
}
