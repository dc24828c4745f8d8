import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Sealed } from '../../src/core/artefact.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { bidJson, type CapacityBid } from '../../src/offers/bid.ts'
import { matchOf } from '../../src/offers/clearing.ts'
import { type OfferConfig } from '../../src/offers/config.ts'
import { bidOf, Selling, START, terms, withUnits } from './selling.ts'
import { buyer, seller, stranger } from './signed.ts'

const NO_CLEARING = 'bid does not clear against this offer (kind/model/units/floor/expiry)'
const NOT_VALID = 'bid signature invalid or expired'
const SOLD_OUT = 'offer capacity already committed to prior matches — not enough units remain'
const TOO_MANY_BIDS = 'bid rate limit exceeded for this consumer — slow down'
const NOT_PEER = 'the bidder of the bid is not the authenticated peer of this channel'

describe('createSeller', () => {
  it('answers a bid with the match that the buyer computes from the offer it was shown', async () => {
    const selling = await Selling.open()
    const offer = selling.offer()
    const bid = bidOf({ service: 'SafetyCheck' })
    expect(selling.bid(bid)).toEqual(matchOf(offer.body, bid.body))
    expect(selling.sold()).toBe(200n)
  })

  it('names the first thing that is missing or malformed, with the words of the original', async () => {
    const selling = await Selling.open()
    for (const args of ['{}', '[]', 'null', '7', '"bid"', '{"bid":null}', '{"Bid":{}}', '{"__proto__":{"bid":1}}']) {
      expect([args, selling.send(args)]).toEqual([args, { message: 'missing `bid` object', reason: 'missing_bid' }])
    }
    const malformed = ['{"bid":{}}', '{"bid":7}', '{"bid":[]}', '{"bid":"x"}', '', '{', '{"bid":{},"bid":{}}']
    for (const args of malformed) {
      const outcome = selling.send(args)
      expect([args, outcome]).toEqual([args, { message: expect.any(String), reason: 'malformed' }])
      expect('message' in outcome && outcome.message).toMatch(/^malformed bid: \S/)
    }
    expect(selling.sold()).toBe(0n)
  })

  const wrongMembers = {
    bidder: 'ab',
    kind: 'Gpu',
    units: 1.5,
    total_price: -1n,
    issued_at: U64_MAX + 1n,
    expires_at: '9',
    terms_ack: null,
    service: 'safety_check',
    signature: 'zz',
  } as const
  for (const [member, value] of Object.entries(wrongMembers)) {
    it(`calls a bid malformed for its ${member}, and names that`, async () => {
      const outcome = (await Selling.open()).bidWith((json) => ({ ...json, [member]: value }))
      expect(outcome).toEqual({ message: expect.stringContaining(`bid.${member}`), reason: 'malformed' })
    })
  }

  const invalid: readonly (readonly [string, string, Sealed<CapacityBid>])[] = [
    ['that another key signed', 'signature_invalid', bidOf({ bidder: buyer.id }, stranger)],
    ['that was changed after signing', 'signature_invalid', changed({ units: u64(1) })],
    ['that gained a service after signing', 'signature_invalid', changed({ service: 'SafetyCheck' })],
    ['that expired long ago', 'expired', bidOf({ expiresAt: u64(1) })],
    ['that expires this very second', 'expired', bidOf({ expiresAt: u64(START) })],
    ['that was issued 61 s in the future', 'issued_in_the_future', bidOf({ issuedAt: u64(START + 61) })],
    ['of the end of time', 'issued_in_the_future', bidOf({ issuedAt: U64_MAX, expiresAt: U64_MAX })],
  ]
  for (const [name, reason, bid] of invalid) {
    it(`refuses a bid ${name}`, async () => {
      const selling = await Selling.open()
      expect(selling.bid(bid)).toEqual({ message: NOT_VALID, reason })
      expect(selling.sold()).toBe(0n)
    })
  }

  const valid: readonly (readonly [string, Partial<CapacityBid>])[] = [
    ['expires in a second', { expiresAt: u64(START + 1) }],
    ['never expires', { expiresAt: U64_MAX }],
    ['was issued 59 s in the future', { issuedAt: u64(START + 59) }],
    ['was issued 60 s in the future', { issuedAt: u64(START + 60) }],
    ['was issued long ago', { issuedAt: u64(0) }],
    ['costs as much as can be counted', { totalPrice: U64_MAX }],
    ['takes the last unit', { units: u64(1_000) }],
  ]
  for (const [name, changes] of valid) {
    it(`takes a bid that ${name}`, async () => {
      const selling = await Selling.open()
      expect(selling.bid(bidOf(changes))).toMatchObject({ consumer: buyer.id, provider: seller.id })
    })
  }

  it('takes a bid from its bidder alone, whoever else has it', async () => {
    const selling = await Selling.open()
    for (const peer of [stranger.id, seller.id]) {
      expect(selling.bid(bidOf(), peer)).toEqual({ message: NOT_PEER, reason: 'bidder_is_not_peer' })
    }
    const match = selling.bid(bidOf())
    expect(match).toHaveProperty('matchRef')
    expect(selling.bid(bidOf(), stranger.id)).toEqual({ message: NOT_PEER, reason: 'bidder_is_not_peer' })
  })

  const unclear: readonly (readonly [string, Partial<CapacityBid>])[] = [
    ['kind_differs', { kind: 'LocalHardware' }],
    ['model_not_offered', { model: 'm3' }],
    ['service_not_offered', { service: 'CodeGeneration' }],
    ['service_not_offered', { service: { Custom: 'Static-Analysis' } }],
    ['service_not_offered', { service: { Custom: 'safety_check' } }],
    ['no_units', { units: u64(0) }],
    ['too_many_units', { units: u64(1_001) }],
    ['too_many_units', { units: U64_MAX }],
    ['below_floor', { totalPrice: u64(99) }],
  ]
  for (const [reason, changes] of unclear) {
    it(`says ${reason} of ${writeExactJson(shown(changes))}`, async () => {
      const selling = await Selling.open()
      expect(selling.bid(bidOf(changes))).toEqual({ message: NO_CLEARING, reason })
      expect(selling.sold()).toBe(0n)
    })
  }

  it('checks what costs least first: each step hides what comes after it', async () => {
    const selling = await Selling.open({ ...withUnits(100), maxBids: 2 })
    expect(selling.bid(bidOf({ units: u64(100) }))).toHaveProperty('matchRef')
    const soldOut = bidOf({ units: u64(1) })
    expect(selling.bid(soldOut)).toEqual({ message: SOLD_OUT, reason: 'sold_out' })
    // The limiter comes before the match, the match before the capacity.
    const unclearAndSoldOut = bidOf({ units: u64(1), totalPrice: u64(1) })
    expect(selling.bid(unclearAndSoldOut)).toEqual({ message: TOO_MANY_BIDS, reason: 'rate_limited' })
    selling.now += 60
    expect(selling.bid(unclearAndSoldOut)).toEqual({ message: NO_CLEARING, reason: 'below_floor' })
    // Who the peer is comes before the signature, the signature before the time, all of them before the limiter.
    const expired = bidOf({ expiresAt: u64(1), totalPrice: u64(1) })
    expect(selling.bid(expired)).toEqual({ message: NOT_VALID, reason: 'expired' })
    const forged = { ...expired, signature: bidOf().signature }
    expect(selling.bid(forged)).toEqual({ message: NOT_VALID, reason: 'signature_invalid' })
    expect(selling.bid(forged, stranger.id)).toEqual({ message: NOT_PEER, reason: 'bidder_is_not_peer' })
    // The shape comes before all of them.
    const shapeless = writeExactJson({ bid: { ...bidJson(forged), units: 'many' } })
    expect(selling.send(shapeless, stranger.id)).toMatchObject({ reason: 'malformed' })
  })

  it('books every unit of a seller who has as many as can be counted, and not one more', async () => {
    const selling = await Selling.open(withUnits(U64_MAX))
    const most = bidOf({ units: u64(U64_MAX - 1n) })
    expect(selling.bid(most)).toMatchObject({ units: U64_MAX - 1n })
    expect(selling.bid(bidOf({ units: U64_MAX }))).toEqual({ message: SOLD_OUT, reason: 'sold_out' })
    expect(selling.bid(bidOf({ units: u64(2) }))).toEqual({ message: SOLD_OUT, reason: 'sold_out' })
    expect(selling.bid(bidOf({ units: u64(1) }))).toHaveProperty('matchRef')
    expect(selling.sold()).toBe(U64_MAX)
    await selling.restart(withUnits(U64_MAX))
    expect(selling.bid(bidOf({ units: u64(1), issuedAt: u64(1) }))).toMatchObject({ reason: 'sold_out' })
    expect(selling.bid(most)).toMatchObject({ units: U64_MAX - 1n })
  })
})

describe('a peer that bids in vain', () => {
  const forged = { ...bidOf(), signature: bidOf({}, stranger).signature }
  const vain: Readonly<Record<string, (selling: Selling) => unknown>> = {
    'a signature that is wrong': (selling) => selling.bid(forged),
    'a bid that is malformed': (selling) => selling.send('{"bid":{}}'),
    'no bid': (selling) => selling.send('{}'),
    'no JSON': (selling) => selling.send('{'),
    "another's bid": (selling) => selling.bid(bidOf({}, stranger), buyer.id),
    'a bid that expired': (selling) => selling.bid(bidOf({ expiresAt: u64(1) })),
  }
  for (const [name, bid] of Object.entries(vain)) {
    it(`is heard only so often in a minute with ${name}, and others are not kept waiting for it`, async () => {
      const selling = await Selling.open()
      for (let tries = 0; tries < 60; tries += 1) expect(bid(selling)).not.toMatchObject({ reason: 'rate_limited' })
      expect(selling.bid(bidOf())).toEqual({ message: TOO_MANY_BIDS, reason: 'rate_limited' })
      expect(bid(selling)).toMatchObject({ reason: 'rate_limited' })
      expect(selling.bid(bidOf({ units: u64(1) }, stranger))).toHaveProperty('matchRef')
      selling.now += 60
      expect(selling.bid(bidOf())).toHaveProperty('matchRef')
    })
  }

  it('is refused by the length of its text alone, before that is read', async () => {
    const selling = await Selling.open()
    const message = 'malformed bid: arguments: expected at most 16384 characters, found 16385'
    expect(selling.send(`{${' '.repeat(16_384)}`)).toEqual({ message, reason: 'malformed' })
    const { length } = writeExactJson({ bid: bidJson(bidOf()) })
    const padded = `${' '.repeat(16_384 - length)}${writeExactJson({ bid: bidJson(bidOf()) })}`
    expect(selling.send(padded)).toHaveProperty('matchRef')
  })
})

describe('a book that another process is writing', () => {
  it('still shows the offer, repeats matches and refuses peers over their limit, at once', async () => {
    const selling = await Selling.open({ maxBids: 1 })
    const offer = selling.offer()
    const match = selling.bid(bidOf())
    const other = hold(selling)
    expect(selling.offer()).toBe(offer)
    expect(selling.bid(bidOf())).toEqual(match)
    expect(selling.bid(bidOf({ units: u64(1) }))).toMatchObject({ reason: 'rate_limited' })
    other.exec('ROLLBACK')
  })

  it('makes bids wait for a moment, and no longer than a ping may however many there are', async () => {
    const selling = await Selling.open()
    const other = hold(selling)
    const start = performance.now()
    expect(() => selling.bid(bidOf())).toThrow(expect.objectContaining({ code: 'ERR_PEER_BUSY' }))
    for (let bids = 0; bids < 40; bids += 1) expect(() => selling.bid(bidOf({ units: u64(2) }))).toThrow()
    expect(performance.now() - start).toBeLessThan(3_000)
    other.exec('ROLLBACK')
    expect(selling.bid(bidOf())).toHaveProperty('matchRef')
  })

  function hold({ path }: Selling): DatabaseSync {
    const other = new DatabaseSync(path)
    onTestFinished(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    return other
  }
})

describe('the same bid again', () => {
  const later: Readonly<Record<string, (selling: Selling) => Promise<unknown> | unknown>> = {
    'at once': () => {},
    'with the clock later': (selling) => {
      selling.now += 3_599
    },
    'with the clock set back': (selling) => {
      selling.now -= 50
    },
    'after a restart': (selling) => selling.restart(),
    'after the offer was signed anew': (selling) => {
      const { issuedAt } = selling.offer().body
      selling.now += 3_000
      expect(selling.offer().body.issuedAt).not.toBe(issuedAt)
    },
    'after the operator changed all terms': (selling) => {
      const other = { kind: 'LocalHardware', models: ['m9'], minPrice: u64(1), currency: 'd', services: [] } as const
      return selling.restart({ terms: { ...terms, ...other, units: u64(1) } })
    },
    'after all was sold': (selling) => selling.bid(bidOf({ units: u64(800) })),
    'with no more bids allowed': (selling) => {
      const other = bidOf({ model: 'm3' })
      for (let tries = 0; tries < 60; tries += 1) selling.bid(other)
      expect(selling.bid(other)).toEqual({ message: TOO_MANY_BIDS, reason: 'rate_limited' })
    },
  }
  const settings: Partial<OfferConfig> = { ttlSeconds: u64(4_000) }
  for (const [name, happen] of Object.entries(later)) {
    it(`gets the same match and is booked once, ${name}`, async () => {
      const selling = await Selling.open(settings)
      const match = selling.bid(bidOf())
      expect(match).toHaveProperty('matchRef')
      await happen(selling)
      const sold = selling.sold()
      expect(selling.bid(bidOf())).toEqual(match)
      expect(selling.sold()).toBe(sold)
    })
  }

  it('is another bid when anything in it differs that was signed', async () => {
    const selling = await Selling.open()
    expect(selling.bid(bidOf())).toHaveProperty('matchRef')
    expect(selling.bid(bidOf({ issuedAt: u64(START - 1) }))).toHaveProperty('matchRef')
    expect(selling.sold()).toBe(400n)
  })

  it('is refused when it differs only in what its match_ref does not cover: two sales would have one name', async () => {
    const selling = await Selling.open()
    expect(selling.bid(bidOf())).toHaveProperty('matchRef')
    for (const changes of [{ service: 'SafetyCheck' }, { expiresAt: u64(START + 9) }] as const) {
      expect(selling.bid(bidOf(changes))).toMatchObject({ reason: 'repeated_match_ref' })
    }
    expect(selling.sold()).toBe(200n)
  })

  it('is refused once it has expired, as an offer to buy that no longer stands', async () => {
    const selling = await Selling.open()
    selling.bid(bidOf())
    selling.now += 3_600
    expect(selling.bid(bidOf())).toEqual({ message: NOT_VALID, reason: 'expired' })
  })
})

function changed(changes: Partial<CapacityBid>): Sealed<CapacityBid> {
  const bid = bidOf()
  return { ...bid, body: { ...bid.body, ...changes } }
}

function shown({ units, totalPrice, service, ...others }: Partial<CapacityBid>) {
  return {
    ...(others.kind === undefined ? {} : { kind: others.kind }),
    ...(others.model === undefined ? {} : { model: others.model }),
    ...(units === undefined ? {} : { units }),
    ...(totalPrice === undefined ? {} : { totalPrice }),
    ...(service === undefined ? {} : { service }),
  }
}
