import { describe, expect, it } from 'vitest'
import { seal } from '../../src/core/artefact.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { CAPACITY_OFFER, offerJson, openOffer, parseOffer } from '../../src/offers/offer.ts'
import { signedBy } from '../core/forged.ts'
import { bidOf, bookFile, Selling, START, terms, withUnits } from './selling.ts'
import { keyOf, seller, stranger } from './signed.ts'

const DAY = 86_400
const lasting = { expiresAt: U64_MAX }

describe('the standing offer', () => {
  it('is signed by the holder over the terms, for as long as it shall hold', async () => {
    const offer = (await Selling.open()).offer()
    expect(openOffer(offer, { now: u64(START) }).body).toEqual({
      holder: seller.id,
      ...terms,
      issuedAt: u64(START),
      expiresAt: u64(START + DAY),
    })
  })

  it('is the same at every call, after sales and after restarts, until the last quarter of its life', async () => {
    const selling = await Selling.open()
    const first = selling.offer()
    selling.bid(bidOf())
    expect(selling.offer()).toEqual(first)
    await selling.restart()
    expect(selling.offer()).toEqual(first)
    selling.now = START + (DAY * 3) / 4 - 1
    expect(selling.offer()).toEqual(first)
    await selling.restart()
    expect(selling.offer()).toEqual(first)
    selling.now += 1
    const second = selling.offer()
    expect(second.body).toEqual({
      ...first.body,
      units: u64(800),
      issuedAt: u64(selling.now),
      expiresAt: u64(selling.now + DAY),
    })
    await selling.restart()
    expect(selling.offer()).toEqual(second)
  })

  it('is one that still holds whenever it is shown, whatever its life and the clock', async () => {
    for (const ttlSeconds of [1, 2, 3, 4, 5, 8].map(u64)) {
      const selling = await Selling.open({ ttlSeconds })
      for (let second = 0; second < 12; second += 1) {
        selling.now = START + second
        expect(openOffer(selling.offer(), { now: u64(selling.now), skewSeconds: 0 }).body.units).toBe(1_000n)
      }
      selling.stop()
    }
  })

  it('is opened once and not at every call: its signature costs much', async () => {
    const selling = await Selling.open()
    selling.offer()
    await selling.restart()
    const opened = selling.offer()
    expect(selling.offer()).toBe(opened)
    selling.bid(bidOf())
    expect(selling.offer()).toBe(opened)
  })

  it('lasts to the end of time when it shall', async () => {
    const selling = await Selling.open({ ttlSeconds: U64_MAX })
    const first = selling.offer()
    expect(first.body.expiresAt).toBe(U64_MAX)
    selling.now += 100 * 365 * DAY
    expect(selling.offer()).toEqual(first)
  })

  it('is signed anew when the clock was set back before it, and sells no more for it', async () => {
    const selling = await Selling.open()
    selling.bid(bidOf())
    selling.now = START - 1
    expect(selling.offer().body).toMatchObject({ units: 800n, issuedAt: u64(START - 1) })
  })

  const changes = {
    kind: 'LocalHardware',
    models: ['m2', 'm1'],
    minPrice: u64(101),
    currency: 'd',
    services: [{ Custom: 'SafetyCheck' }],
  } as const
  for (const [member, value] of Object.entries(changes)) {
    it(`is signed anew over the units left when the operator changes its ${member}`, async () => {
      const selling = await Selling.open()
      selling.bid(bidOf())
      const first = selling.offer()
      await selling.restart({ terms: { ...terms, [member]: value } })
      expect(selling.offer().body).toEqual({ ...first.body, units: 800n, [member]: value })
    })
  }

  it('is signed anew when it shall hold for another time: one for ever would never go', async () => {
    const selling = await Selling.open({ ttlSeconds: U64_MAX })
    selling.offer()
    await selling.restart({ ttlSeconds: u64(60) })
    expect(selling.offer().body.expiresAt).toBe(u64(START + 60))
  })

  it('is not the kept one when that was tampered with, or is not of this holder', async () => {
    const selling = await Selling.open()
    const genuine = selling.offer()
    const wanted = selling.book.update((page) => page.offer())?.terms ?? ''
    const raised = { ...genuine, body: { ...genuine.body, units: u64(5_000) } }
    const foreign = seal(CAPACITY_OFFER, { ...genuine.body, holder: stranger.id }, stranger.secret)
    const pretended = signedBy(stranger.secret, CAPACITY_OFFER, genuine.body)
    const texts = ['', '{}', 'null', ...[raised, foreign, pretended].map((offer) => writeExactJson(offerJson(offer)))]
    for (const offer of texts) {
      selling.book.update((page) => page.keepOffer({ offer, terms: wanted }))
      expect(selling.offer()).toEqual(genuine)
    }
  })

  it('is kept apart from that of another holder, whose book is another file', async () => {
    const selling = await Selling.open()
    const other = await Selling.open({}, bookFile(), keyOf(0x54))
    selling.bid(bidOf())
    expect(other.offer().body).toMatchObject({ holder: keyOf(0x54).id, units: 1_000n })
  })
})

describe('capacity', () => {
  const soldOut = expect.objectContaining({ reason: 'sold_out' })
  const tooMany = expect.objectContaining({ reason: 'too_many_units' })
  const large = bidOf({ ...lasting, units: u64(801) })
  const rest = bidOf({ ...lasting, units: u64(800) })

  it('that is not there is refused after everything that could make a seller forget', async () => {
    const selling = await Selling.open()
    selling.bid(bidOf())
    expect(selling.bid(large)).toEqual(soldOut)
    await selling.restart()
    expect(selling.bid(large)).toEqual(soldOut)
    await selling.restart({ terms: { ...terms, currency: 'd' } })
    expect(selling.bid(large)).toEqual(tooMany)
    await selling.restart({ terms: { ...terms, models: ['m1'] } })
    expect(selling.bid(large)).toEqual(tooMany)
    selling.now += DAY
    expect(selling.bid(large)).toEqual(tooMany)
    selling.now = START
    expect(selling.bid(large)).toEqual(tooMany)
    expect(selling.bid(rest)).toMatchObject({ units: 800n })
    expect(selling.sold()).toBe(1_000n)
  })

  it('that the operator adds is on sale, and no more', async () => {
    const selling = await Selling.open()
    selling.bid(bidOf({ units: u64(1_000) }))
    await selling.restart(withUnits(1_500))
    expect(selling.offer().body.units).toBe(500n)
    expect(selling.bid(bidOf({ units: u64(501) }))).toEqual(tooMany)
    expect(selling.bid(bidOf({ units: u64(500) }))).toHaveProperty('matchRef')
  })

  it('that the operator takes away below what was sold leaves nothing on sale', async () => {
    const selling = await Selling.open()
    selling.bid(bidOf())
    await selling.restart(withUnits(100))
    expect(selling.offer().body.units).toBe(0n)
    expect(selling.bid(bidOf({ units: u64(1) }))).toEqual(tooMany)
    await selling.restart(withUnits(201))
    expect(selling.bid(bidOf({ units: u64(1) }))).toHaveProperty('matchRef')
    expect(selling.bid(bidOf({ units: u64(1), issuedAt: u64(1) }))).toEqual(soldOut)
  })

  it('is on sale again, all of it, only when the book is begun anew', async () => {
    const selling = await Selling.open()
    selling.bid(bidOf({ units: u64(1_000) }))
    selling.book.update((page) => page.clear())
    expect(selling.offer().body.units).toBe(1_000n)
    expect(selling.sold()).toBe(0n)
  })

  it('is never given back, not even when the sale is forgotten', async () => {
    const selling = await Selling.open()
    selling.bid(bidOf())
    const forgotten = selling.book.update((page) => [
      page.forgetSale(u64(START + 3_599)),
      page.forgetSale(u64(START + 3_600)),
      page.forgetSale(U64_MAX),
    ])
    expect(forgotten).toEqual([false, true, false])
    expect(selling.sold()).toBe(200n)
    expect(selling.book.update((page) => page.countSales())).toBe(0)
  })

  it('is kept as an offer that anybody can verify', async () => {
    const selling = await Selling.open(withUnits(U64_MAX))
    const offer = selling.offer()
    const kept = selling.book.update((page) => page.offer())
    expect(parseOffer(kept?.offer ?? '')).toEqual({ body: offer.body, signature: offer.signature })
    expect(offer.body.units).toBe(U64_MAX)
  })

  it('is sold for a book that is full only in the place of a sale whose bid has expired', async () => {
    const selling = await Selling.open()
    const first = selling.bid(bidOf())
    selling.alter({ countSales: () => 100_000 })
    expect(selling.bid(rest)).toEqual({ reason: 'book_full', message: expect.stringContaining('bid again later') })
    expect(selling.bid(bidOf())).toEqual(first)
    selling.now += 3_600
    expect(selling.bid(rest)).toMatchObject({ units: 800n })
    expect(selling.book.update((page) => page.latestSales(9).map(({ units }) => units))).toEqual([800n])
    expect(selling.sold()).toBe(1_000n)
  })
})
