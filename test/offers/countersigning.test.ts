import { describe, expect, it } from 'vitest'
import { type Hash } from '../../src/core/ids.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { type Sale, type SalesBook } from '../../src/offers/book.ts'
import { type CapacityMatch } from '../../src/offers/clearing.ts'
import { checkReceipt, hashOfText, type SignedReceipt } from '../../src/offers/receipt.ts'
import { serviceText } from '../../src/offers/service-kind.ts'
import { bidOf, Selling, START, withUnits } from './selling.ts'
import { Shop } from './shop.ts'
import { buyer, seller, stranger } from './signed.ts'

describe('createCountersign', () => {
  it('adds the signature of the provider to a receipt for a served call', async () => {
    const shop = await Shop.open()
    const draft = shop.serve().draft()
    const receipt = shop.ask(draft) as SignedReceipt
    expect(receipt.body).toEqual(draft.body)
    expect(receipt.signatures.consumer).toBe(draft.signatures.consumer)
    checkReceipt(receipt, ['provider', 'consumer'], { now: u64(START) })
  })

  const refusals: Readonly<Record<string, readonly [string, (shop: Shop) => unknown]>> = {
    'for another peer': ['not_consumer', (shop) => shop.ask(shop.draft(), stranger.id)],
    'of another agent': ['not_provider', (shop) => shop.ask(shop.draft({ provider: stranger.id }))],
    'without a signature': ['signature_invalid', (shop) => shop.ask({ ...shop.draft(), signatures: {} })],
    'that the provider alone signed': [
      'signature_invalid',
      (shop) => {
        const { body, signatures } = shop.draft({}, 1, seller)
        return shop.ask({
          body,
          signatures: { provider: signatures.consumer as NonNullable<typeof signatures.consumer> },
        })
      },
    ],
    'that somebody else signed': ['signature_invalid', (shop) => shop.ask(shop.draft({}, 1, stranger))],
    'that was changed after signing': [
      'signature_invalid',
      (shop) => shop.ask({ ...shop.draft(), body: shop.draft({ unitsConsumed: u64(11) }).body }),
    ],
    'of the future': ['signature_invalid', (shop) => shop.ask(shop.draft({ issuedAt: u64(START + 61) }))],
    'under a match that is none': [
      'unknown_match',
      (shop) => shop.ask(shop.draft({ matchRef: '0'.repeat(64) as Hash })),
    ],
    'under a match of somebody else': [
      'unknown_match',
      (shop) => {
        const other = shop.selling.bid(bidOf({}, stranger)) as CapacityMatch
        return shop.ask(shop.draft({ matchRef: other.matchRef }))
      },
    ],
    'for another kind': ['match_differs', (shop) => shop.ask(shop.draft({ kind: 'LocalHardware' }))],
    'for another model that is offered': ['match_differs', (shop) => shop.ask(shop.draft({ model: 'm2' }))],
    'for no units': ['no_units', (shop) => shop.ask(shop.draft({ unitsConsumed: u64(0) }))],
    'for more units than were matched': ['too_many_units', (shop) => shop.ask(shop.draft({ unitsConsumed: u64(201) }))],
    'for all the units there are': ['too_many_units', (shop) => shop.ask(shop.draft({ unitsConsumed: U64_MAX }))],
    'for a call that was not served': ['unknown_call', (shop) => shop.ask(shop.draft({}, 2))],
    'for another answer': [
      'unknown_call',
      (shop) => shop.ask(shop.draft({ responseHash: hashOfText('what I had hoped for') })),
    ],
    'for what was served to somebody else': [
      'unknown_call',
      (shop) => {
        shop.serve(2, stranger.id)
        return shop.ask(shop.draft({}, 2))
      },
    ],
  }
  for (const [name, [reason, ask]] of Object.entries(refusals)) {
    it(`refuses a receipt ${name}, and still signs the right one`, async () => {
      const shop = await Shop.open()
      shop.serve()
      expect(ask(shop)).toBe(reason)
      expect(shop.ask(shop.draft())).toHaveProperty('signatures.provider')
    })
  }

  it('refuses an agent that would sell to itself', async () => {
    const shop = await Shop.open()
    const draft = shop.serve(1, seller.id).draft({ consumer: seller.id }, 1, seller)
    expect(shop.ask(draft, seller.id)).toBe('signature_invalid')
  })

  it('signs one receipt for each call that was served', async () => {
    const shop = await Shop.open()
    shop.serve().serve()
    expect(shop.ask(shop.draft())).toHaveProperty('body')
    expect(shop.ask(shop.draft({ issuedAt: u64(START + 1) }))).toHaveProperty('body')
    expect(shop.ask(shop.draft({ issuedAt: u64(START + 2) }))).toBe('unknown_call')
    expect(shop.ask(shop.draft({ unitsConsumed: u64(1) }))).toBe('unknown_call')
  })

  it('gives the same receipt the same signature again, also after a restart, and counts it once', async () => {
    const shop = await Shop.open()
    const draft = shop
      .serve()
      .serve()
      .draft({ unitsConsumed: u64(100) })
    const receipt = shop.ask(draft)
    expect(shop.ask(draft)).toEqual(receipt)
    await shop.selling.restart()
    expect(shop.ask(draft)).toEqual(receipt)
    // The repetition has used up neither units nor the second call.
    expect(shop.ask(shop.draft({ unitsConsumed: u64(100), issuedAt: u64(START + 1) }))).toHaveProperty('body')
  })

  it('keeps to the units that were matched over all receipts and restarts', async () => {
    const shop = await Shop.open()
    for (let call = 1; call <= 4; call += 1) shop.serve(call)
    expect(shop.ask(shop.draft({ unitsConsumed: u64(150) }, 1))).toHaveProperty('body')
    await shop.selling.restart()
    expect(shop.ask(shop.draft({ unitsConsumed: u64(51) }, 2))).toBe('too_many_units')
    expect(shop.ask(shop.draft({ unitsConsumed: u64(50) }, 2))).toHaveProperty('body')
    expect(shop.ask(shop.draft({ unitsConsumed: u64(1) }, 3))).toBe('too_many_units')
    expect(shop.ask(shop.draft({ unitsConsumed: u64(150) }, 1))).toHaveProperty('body')
  })

  it('counts the units of each match for itself', async () => {
    const shop = await Shop.open()
    const second = shop.selling.bid(bidOf({ issuedAt: u64(START - 1) })) as CapacityMatch
    shop.serve(1).serve(2)
    expect(shop.ask(shop.draft({ unitsConsumed: u64(200) }, 1))).toHaveProperty('body')
    expect(shop.ask(shop.draft({ unitsConsumed: u64(200), matchRef: second.matchRef }, 2))).toHaveProperty('body')
  })

  it('adds units without losing a digit', async () => {
    const selling = await Selling.open(withUnits(U64_MAX))
    const match = selling.bid(bidOf({ units: U64_MAX })) as CapacityMatch
    const shop = await Shop.open()
    const book = selling.book
    shop.serve(1).serve(2).serve(3)
    const half = { matchRef: match.matchRef, unitsConsumed: u64(2n ** 63n) }
    expect(shop.ask(shop.draft(half, 1), buyer.id, book)).toHaveProperty('body')
    expect(shop.ask(shop.draft(half, 2), buyer.id, book)).toBe('too_many_units')
    const rest = { ...half, unitsConsumed: u64(2n ** 63n - 1n) }
    expect(shop.ask(shop.draft(rest, 2), buyer.id, book)).toHaveProperty('body')
    expect(shop.ask(shop.draft({ ...half, unitsConsumed: u64(1) }, 3), buyer.id, book)).toBe('too_many_units')
  })

  it('forgets no call whose receipt could not be written down', async () => {
    const shop = await Shop.open()
    const { book } = shop.selling
    const full: SalesBook = {
      read: (work) => book.read(work),
      close: () => book.close(),
      update: (work) =>
        book.update((page) => {
          work(page)
          throw new Error('database or disk is full')
        }),
    }
    const draft = shop.serve().draft()
    expect(() => shop.ask(draft, buyer.id, full)).toThrow('disk is full')
    expect(shop.ask(draft)).toHaveProperty('body')
  })

  it('takes a call for the service that was bought, and any for a bid that names none', async () => {
    const shop = await Shop.open()
    const named = shop.selling.bid(bidOf({ issuedAt: u64(START - 1), service: 'SafetyCheck' })) as CapacityMatch
    shop.serve(1, buyer.id, serviceText({ Custom: 'static_analysis' })).serve(2)
    const { matchRef } = named
    expect(shop.ask(shop.draft({ matchRef }, 1))).toBe('match_differs')
    expect(shop.ask(shop.draft({ matchRef }, 2))).toHaveProperty('body')
    expect(shop.ask(shop.draft({}, 1))).toHaveProperty('body')
    // The same words to two services: each match gets its own call.
    shop.serve(3, buyer.id, serviceText({ Custom: 'static_analysis' })).serve(3)
    expect(shop.ask(shop.draft({ matchRef }, 3))).toHaveProperty('body')
    expect(shop.ask(shop.draft({ matchRef, unitsConsumed: u64(1) }, 3))).toBe('match_differs')
    expect(shop.ask(shop.draft({ unitsConsumed: u64(1) }, 3))).toHaveProperty('body')
  })

  it('refuses a receipt that is older than the bid, but for clocks that differ', async () => {
    const shop = await Shop.open()
    shop.serve(1).serve(2)
    expect(shop.ask(shop.draft({ issuedAt: u64(0) }))).toBe('before_match')
    expect(shop.ask(shop.draft({ issuedAt: u64(START - 61) }))).toBe('before_match')
    expect(shop.ask(shop.draft({ issuedAt: u64(START - 60) }))).toHaveProperty('body')
  })

  it('keeps to so many receipts of one match', async () => {
    const shop = await Shop.open()
    shop.serve(1).serve(2)
    const first = shop.draft({}, 1)
    const receipt = shop.ask(first)
    const sale = shop.selling.book.read((page) => page.findByMatch(shop.match.matchRef)) as Sale
    shop.selling.alter({ findByMatch: () => ({ ...sale, receipts: 4_096 }) })
    expect(shop.ask(shop.draft({}, 2))).toBe('too_many_receipts')
    expect(shop.ask(first)).toEqual(receipt)
  })
})
