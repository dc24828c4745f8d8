import { describe, expect, it } from 'vitest'
import { seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { isCtError } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Hash } from '../../src/core/ids.ts'
import { sha256 } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { CAPACITY_BID, type CapacityBid, NO_TERMS, openBid, parseBid } from '../../src/offers/bid.ts'
import {
  type CapacityMatch,
  clearBid,
  isSameMatch,
  matchJson,
  matchOf,
  type NoMatchReason,
  parseMatch,
} from '../../src/offers/clearing.ts'
import { CAPACITY_OFFER, type CapacityOffer, openOffer, parseOffer } from '../../src/offers/offer.ts'
import { itIsReadStrictly } from '../core/json-artefact.ts'
import vectors from '../vectors/offers.json' with { type: 'json' }
import { buyer, bytesOf, keyOf, seller, stranger } from './signed.ts'

const offer: CapacityOffer = {
  holder: seller.id,
  kind: 'CloudApiQuota',
  models: ['m1', 'm2'],
  units: u64(1_000),
  minPrice: u64(100),
  currency: 'c',
  issuedAt: u64(1_000),
  expiresAt: u64(9_000),
  services: ['SafetyCheck', { Custom: 'static_analysis' }],
}
const bid: CapacityBid = {
  bidder: buyer.id,
  kind: 'CloudApiQuota',
  model: 'm1',
  units: u64(200),
  totalPrice: u64(150),
  issuedAt: u64(1_100),
  expiresAt: u64(8_000),
  termsAck: NO_TERMS,
  service: undefined,
}

/** What comes of the two after each was changed so. */
function clearing(ofBid: Partial<CapacityBid>, ofOffer: Partial<CapacityOffer> = {}): CapacityMatch | NoMatchReason {
  return clearBid(
    seal(CAPACITY_OFFER, { ...offer, ...ofOffer }, seller.secret),
    seal(CAPACITY_BID, { ...bid, ...ofBid }, buyer.secret),
  )
}

describe('clearBid', () => {
  for (const vector of vectors.matches) {
    const offered = parseOffer(JSON.stringify({ ...vector.offer.body, signature: vector.offer.signature }))
    const wanted = parseBid(JSON.stringify({ ...vector.bid.body, signature: vector.bid.signature }))
    const bidder = keyOf(vector.bid.seed)
    const now = u64(vector.now)

    it(`is as in ${vector.name}`, () => {
      expect(seal(CAPACITY_OFFER, offered.body, keyOf(vector.offer.seed).secret).signature).toBe(offered.signature)
      expect(seal(CAPACITY_BID, wanted.body, bidder.secret).signature).toBe(wanted.signature)
      const match = clearBid(openOffer(offered, { now }), openBid(wanted, { now }))
      expect(match).toMatchObject({ matchRef: vector.match_ref, provider: offered.body.holder, consumer: bidder.id })
      expect(toHex(sha256(bytesOf(vector.preimage)))).toBe(vector.match_ref)
      if (vector.json !== undefined) expect(writeExactJson(matchJson(match as CapacityMatch))).toBe(vector.json)
    })

    for (const change of vector.no_match_when) {
      it(`finds no match, as in ${vector.name}, with ${change}`, () => {
        const [member = '', value = ''] = change.split(' ')
        const outcomes: Readonly<Record<string, string>> = {
          kind: 'kind_differs',
          model: 'model_not_offered',
          units: 'too_many_units',
          total_price: 'below_floor',
          now: 'ERR_ARTEFACT_EXPIRED',
        }
        const changes = JSON.stringify({
          ...vector.bid.body,
          [member]: /^\d+$/.test(value) ? Number(value) : value,
          signature: vector.bid.signature,
        })
        const later = member === 'now' ? u64(BigInt(value)) : now
        const outcome = (): unknown => {
          try {
            const resealed = seal(CAPACITY_BID, parseBid(changes).body, bidder.secret)
            return clearBid(openOffer(offered, { now: later }), openBid(resealed, { now: later }))
          } catch (error) {
            return isCtError(error) ? error.code : error
          }
        }
        expect(outcome()).toBe(outcomes[member])
      })
    }
  }

  const all: Readonly<Record<NoMatchReason, Partial<CapacityBid>>> = {
    kind_differs: { kind: 'LocalHardware' },
    model_not_offered: { model: 'm3' },
    service_not_offered: { service: 'CodeGeneration' },
    no_units: { units: u64(0) },
    too_many_units: { units: u64(1_001) },
    below_floor: { totalPrice: u64(99) },
  }
  const reasons = Object.entries(all)
  for (const [index, [reason, change]] of reasons.entries()) {
    it(`says ${reason}, also when everything after it is wrong as well`, () => {
      expect(clearing(change)).toBe(reason)
      const later = reasons
        .slice(index)
        .map(([, change]) => change)
        .toReversed()
      expect(clearing(Object.assign({}, ...later))).toBe(reason)
    })
  }

  const accepted: readonly (readonly [string, Partial<CapacityBid>, Partial<CapacityOffer>?])[] = [
    ['all units there are', { units: u64(1_000) }],
    ['a single unit', { units: u64(1) }],
    ['exactly the floor', { totalPrice: u64(100) }],
    ['far more than the floor', { totalPrice: U64_MAX }],
    ['nothing, where the floor is nothing', { totalPrice: u64(0) }, { minPrice: u64(0) }],
    ['the most units that can be counted', { units: U64_MAX }, { units: U64_MAX }],
    ['the last model', { model: 'm2' }],
    ['a fixed service', { service: 'SafetyCheck' }],
    ['a custom service', { service: { Custom: 'static_analysis' } }],
    ['no service, where none is declared', {}, { services: [] }],
    ['a service declared twice', { service: 'SafetyCheck' }, { services: ['SafetyCheck', 'SafetyCheck'] }],
  ]
  for (const [name, ofBid, ofOffer] of accepted) {
    it(`clears a bid for ${name}`, () => {
      const changed = { ...bid, ...ofBid }
      expect(clearing(ofBid, ofOffer)).toEqual({
        provider: seller.id,
        consumer: buyer.id,
        kind: changed.kind,
        model: changed.model,
        units: changed.units,
        totalPrice: changed.totalPrice,
        matchRef: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
    })
  }

  const refusedServices: readonly (readonly [string, Partial<CapacityBid>, Partial<CapacityOffer>?])[] = [
    ['any, where none is declared', { service: 'SafetyCheck' }, { services: [] }],
    ['a custom one by the name of a fixed one', { service: { Custom: 'SafetyCheck' } }],
    ['a custom one by the word for a fixed one', { service: { Custom: 'safety_check' } }],
    [
      'a fixed one, where a custom one has its name',
      { service: 'SafetyCheck' },
      { services: [{ Custom: 'SafetyCheck' }] },
    ],
    ['one in other case', { service: { Custom: 'Static_Analysis' } }],
    ['one that looks the same', { service: { Custom: 'static_analysis\u200b' } }],
    ['one without a name', { service: { Custom: '' } }],
  ]
  for (const [name, ofBid, ofOffer] of refusedServices) {
    it(`refuses the service ${name}`, () => {
      expect(clearing(ofBid, ofOffer)).toBe('service_not_offered')
    })
  }

  it('refuses every model where none is offered, and names that only look alike', () => {
    expect(clearing({}, { models: [] })).toBe('model_not_offered')
    for (const model of ['', 'M1', 'm1 ', 'm1,m2']) expect(clearing({ model })).toBe('model_not_offered')
  })

  it('refuses no units even where none are on sale', () => {
    expect(clearing({ units: u64(0) }, { units: u64(0) })).toBe('no_units')
  })
})

describe('matchOf', () => {
  const refOf = (ofBid: Partial<CapacityBid>, ofOffer: Partial<CapacityOffer> = {}): Hash =>
    matchOf({ ...offer, ...ofOffer }, { ...bid, ...ofBid }).matchRef

  it('refers to everything that the match says, and to when both sides signed', () => {
    const refs = [
      refOf({}),
      refOf({}, { holder: stranger.id }),
      refOf({ bidder: stranger.id }),
      refOf({ bidder: seller.id }, { holder: buyer.id }),
      refOf({ kind: 'LocalHardware' }),
      refOf({ model: 'm2' }),
      refOf({ model: '' }),
      refOf({ units: u64(201) }),
      refOf({ totalPrice: u64(151) }),
      refOf({ units: u64(150), totalPrice: u64(200) }),
      refOf({ issuedAt: u64(1_101) }),
      refOf({}, { issuedAt: u64(1_001) }),
      refOf({ issuedAt: offer.issuedAt }, { issuedAt: bid.issuedAt }),
    ]
    expect(new Set(refs).size).toBe(refs.length)
  })

  it('refers to nothing else', () => {
    expect(refOf({ service: 'SafetyCheck', termsAck: '1'.repeat(64) as Hash, expiresAt: u64(1) })).toBe(refOf({}))
    expect(refOf({}, { currency: 'd', minPrice: u64(1), expiresAt: u64(1), models: [], services: [] })).toBe(refOf({}))
  })
})

describe('parseMatch', () => {
  itIsReadStrictly({
    sample: matchOf(offer, bid),
    parse: parseMatch,
    write: matchJson,
    hex: { provider: 64, consumer: 64, match_ref: 64 },
    numbers: ['units', 'total_price'],
    texts: ['model'],
    lists: [],
    optional: [],
  })
})

describe('isSameMatch', () => {
  const match = matchOf(offer, bid)
  const others: Readonly<{ [Member in keyof CapacityMatch]: CapacityMatch[Member] }> = {
    provider: stranger.id,
    consumer: stranger.id,
    kind: 'LocalHardware',
    model: 'm2',
    units: u64(201),
    totalPrice: u64(151),
    matchRef: NO_TERMS,
  }

  it('is true of a match and the same from JSON', () => {
    expect(isSameMatch(match, parseMatch(writeExactJson(matchJson(match))))).toBe(true)
  })

  for (const [member, value] of Object.entries(others)) {
    it(`is false when ${member} differs`, () => {
      expect(isSameMatch(match, { ...match, [member]: value })).toBe(false)
    })
  }
})
