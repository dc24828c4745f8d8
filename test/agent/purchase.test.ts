import { describe, expect, it } from 'vitest'
import { examine } from '../../src/agent/buying/offer-examination.ts'
import { buy } from '../../src/agent/buying/purchase.ts'
import { type Caller } from '../../src/agent/calling/caller.ts'
import { seal, type Verified } from '../../src/core/artefact.ts'
import { isCtError } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { u64 } from '../../src/core/u64.ts'
import { CAPACITY_BID, type CapacityBid, NO_TERMS } from '../../src/offers/bid.ts'
import { type CapacityMatch, matchJson, matchOf } from '../../src/offers/clearing.ts'
import { CAPACITY_OFFER, type CapacityOffer, offerJson } from '../../src/offers/offer.ts'
import { START, terms } from '../offers/settings.ts'
import { buyer, seller } from '../offers/signed.ts'

const life = { issuedAt: u64(START), expiresAt: u64(START + 600) }

function offerOf(changes: Partial<CapacityOffer> = {}): Verified<CapacityOffer> {
  return seal(CAPACITY_OFFER, { holder: seller.id, ...terms, ...life, ...changes }, seller.secret)
}

function bidOf(changes: Partial<CapacityBid> = {}): Verified<CapacityBid> {
  const body = { bidder: buyer.id, kind: terms.kind, model: 'm1', units: u64(10), totalPrice: u64(100), ...life }
  return seal(CAPACITY_BID, { ...body, termsAck: NO_TERMS, service: undefined, ...changes }, buyer.secret)
}

interface Seller {
  /** What it answers a bid with, as JSON. */
  readonly answer: string
  /** What it shows afterwards. */
  readonly renewed?: Verified<CapacityOffer>
}

/** The outcome, and how many bids were sent. */
async function purchase(
  offers: Parameters<typeof buy>[1],
  bid: Verified<CapacityBid>,
  { answer, renewed = offers[0] }: Seller,
) {
  let bids = 0
  const call = async (_: string, params: unknown) => {
    const isBid = JSON.stringify(params).includes('auction/bid')
    if (isBid) bids += 1
    const text = isBid ? answer : writeExactJson(offerJson(renewed))
    return { text: `{"result":${text}}`, result: JSON.parse(text) }
  }
  const caller = { call } as Partial<Caller> as Caller
  const again = (offer: string) => examine({ offer, card: undefined, tools: [] }, seller.id, { now: u64(START) })
  try {
    const bought = await buy(caller, offers, bid, again)
    return { bids, ...bought }
  } catch (error) {
    if (!isCtError(error)) throw error
    return { bids, code: error.code, message: error.message, reason: error.detail['reason'] }
  }
}

function answering(offer: Verified<CapacityOffer>, bid: Verified<CapacityBid>, changes: Partial<CapacityMatch> = {}) {
  return writeExactJson(matchJson({ ...matchOf(offer.body, bid.body), ...changes }))
}

describe('buy', () => {
  it('believes the match that follows from the offer and the bid', async () => {
    const [offer, bid] = [offerOf(), bidOf({ service: 'SafetyCheck' })]
    const found = await purchase([offer], bid, { answer: answering(offer, bid) })
    expect(found).toEqual({ bids: 1, offer, match: matchOf(offer.body, bid.body) })
  })

  const unclear: readonly (readonly [Partial<CapacityBid>, string, string])[] = [
    [{ kind: 'LocalHardware' }, 'kind_differs', 'expected kind CloudApiQuota, found LocalHardware'],
    [{ model: 'm3' }, 'model_not_offered', 'expected "m1"|"m2" as the model, found "m3"'],
    [{ service: 'CodeGeneration' }, 'service_not_offered', 'as the service, found CodeGeneration'],
    [{ units: u64(0) }, 'no_units', 'expected more than 0 units, found 0'],
    [{ units: u64(1_001) }, 'too_many_units', 'expected at most 1000 units, found 1001'],
    [{ totalPrice: u64(99) }, 'below_floor', 'expected a price of at least 100, found 99'],
  ]
  for (const [changes, reason, words] of unclear) {
    it(`sends no bid that does not clear: ${reason}`, async () => {
      const [offer, bid] = [offerOf(), bidOf(changes)]
      const found = await purchase([offer], bid, { answer: answering(offer, bid) })
      expect(found).toMatchObject({ bids: 0, code: 'ERR_USAGE', reason })
      expect(found).toHaveProperty('message', expect.stringContaining(words))
    })
  }

  const twists: readonly (readonly [string, Partial<CapacityMatch>])[] = [
    ['provider', { provider: buyer.id }],
    ['consumer', { consumer: seller.id }],
    ['kind', { kind: 'LocalHardware' }],
    ['model', { model: 'm2' }],
    ['units', { units: u64(9) }],
    ['total_price', { totalPrice: u64(101) }],
    ['match_ref', { matchRef: '0'.repeat(64) as CapacityMatch['matchRef'] }],
  ]
  for (const [member, changes] of twists) {
    it(`names the ${member} of a match that does not follow`, async () => {
      const [offer, bid] = [offerOf(), bidOf()]
      const found = await purchase([offer], bid, { answer: answering(offer, bid, changes) })
      expect(found).toMatchObject({ bids: 1, code: 'ERR_MATCH_INVALID' })
      expect(found).toHaveProperty('message', expect.stringMatching(`^match: expected ${member} `))
    })
  }

  for (const answer of ['null', '{}', '[]', '"yes"', '{"structuredContent":{"units":1}}']) {
    it(`takes ${answer} for no match`, async () => {
      expect(await purchase([offerOf()], bidOf(), { answer })).toMatchObject({ bids: 1, code: 'ERR_MATCH_INVALID' })
    })
  }

  it('believes no match with an offer that was signed anew and does not clear', async () => {
    const bid = bidOf()
    const renewed = offerOf({ issuedAt: u64(START - 1), units: u64(9) })
    const found = await purchase([offerOf()], bid, { answer: answering(renewed, bid), renewed })
    expect(found).toMatchObject({ bids: 1, code: 'ERR_MATCH_INVALID' })
    expect(found).toHaveProperty('message', expect.stringContaining('too_many_units'))
  })

  it('believes a match with an offer that was signed anew and says the same', async () => {
    const bid = bidOf()
    const renewed = offerOf({ issuedAt: u64(START - 1), units: u64(10) })
    const found = await purchase([offerOf()], bid, { answer: answering(renewed, bid), renewed })
    expect(found).toMatchObject({ bids: 1, match: matchOf(renewed.body, bid.body), offer: { body: renewed.body } })
  })

  it('takes a bid that was made for an earlier offer to the seller again, and believes the match with that', async () => {
    const [earlier, bid] = [offerOf(), bidOf()]
    const now = offerOf({ issuedAt: u64(START + 1), units: u64(0) })
    const answer = answering(earlier, bid)
    expect(await purchase([now, earlier], bid, { answer })).toMatchObject({ bids: 1, offer: earlier })
    expect(await purchase([now], bid, { answer })).toMatchObject({ bids: 0, reason: 'too_many_units' })
  })
})
