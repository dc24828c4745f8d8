import { describe, expect, it } from 'vitest'
import { type Sealed, seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Signature } from '../../src/core/ids.ts'
import { u64 } from '../../src/core/u64.ts'
import { bidJson, CAPACITY_BID, type CapacityBid, NO_TERMS, openBid, parseBid } from '../../src/offers/bid.ts'
import { openTextBitFlips } from '../core/bit-flips.ts'
import { signedBy } from '../core/forged.ts'
import { itIsReadStrictly } from '../core/json-artefact.ts'
import { membersOf, textOf, without } from '../core/json-members.ts'
import { verifyQuickly } from '../core/quick-verifier.ts'
import vectors from '../vectors/offers.json' with { type: 'json' }
import { narrow, wide } from './arbitraries.ts'
import { buyer, itIsEncodedOnce, keyOf, stranger } from './signed.ts'

const NOW = u64(2_000)
const body: CapacityBid = {
  bidder: buyer.id,
  kind: 'LocalHardware',
  model: 'µ',
  units: u64(10),
  totalPrice: u64(60),
  issuedAt: u64(1_500),
  expiresAt: u64(4_000),
  termsAck: NO_TERMS,
  service: { Custom: 'static_analysis' },
}
const sealedWith = (service: CapacityBid['service']): Sealed<CapacityBid> => {
  const bid = { ...body, service }
  return { body: bid, signature: seal(CAPACITY_BID, bid, buyer.secret).signature }
}
const sample = sealedWith(body.service)
const members = membersOf(bidJson(sample))

describe('CAPACITY_BID', () => {
  for (const { name, seed, body: fields, preimage, signature, json } of vectors.bids) {
    it(`is as in ${name}`, () => {
      const read = parseBid(JSON.stringify({ ...fields, signature: signature ?? '00'.repeat(64) }))
      expect(toHex(CAPACITY_BID.preimage(read.body, CAPACITY_BID.domain))).toBe(preimage)
      if (seed === undefined) return
      const { secret, id } = keyOf(seed)
      const made = seal(CAPACITY_BID, read.body, secret)
      expect(made.signature).toBe(signature)
      expect(openBid(read, { now: NOW }).body.bidder).toBe(id)
      expect(writeExactJson(bidJson(made))).toBe(json)
    })
  }

  itIsEncodedOnce({
    kind: CAPACITY_BID,
    wide: wide.bid,
    narrow: narrow.bid,
    parse: parseBid,
    write: bidJson,
    wrap: (bid, signature) => ({ body: bid, signature: signature as Signature }),
  })

  it('tells no service, a fixed one and a custom one of its name apart', () => {
    const services: readonly CapacityBid['service'][] = [
      undefined,
      'SafetyCheck',
      { Custom: 'SafetyCheck' },
      { Custom: 'safety_check' },
      { Custom: '' },
    ]
    expect(new Set(services.map((service) => sealedWith(service).signature)).size).toBe(services.length)
  })
})

describe('parseBid', () => {
  itIsReadStrictly({
    sample,
    parse: parseBid,
    write: bidJson,
    hex: { bidder: 64, terms_ack: 64, signature: 128 },
    numbers: ['units', 'total_price', 'issued_at', 'expires_at'],
    texts: ['model'],
    lists: [],
    optional: ['service'],
  })

  it('reads null and nothing alike as no service, and writes null', () => {
    const none = sealedWith(undefined)
    const written = membersOf(bidJson(none))
    expect(written['service']).toBe('null')
    for (const text of [textOf(written), textOf(without(written, 'service'))]) {
      expect(parseBid(text)).toEqual(none)
      expect(openBid(parseBid(text), { now: NOW })).toMatchObject(none)
    }
  })

  for (const text of [
    '"static_analysis"',
    '"safety_check"',
    '"Custom"',
    '"constructor"',
    '{}',
    '[]',
    '[null]',
    '4',
    'false',
  ]) {
    it(`refuses the service ${text}`, () => {
      expect(() => parseBid(textOf({ ...members, service: text }))).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    })
  }

  for (const text of [
    '{"Custom":"a","x":1}',
    '{"x":1,"Custom":"a"}',
    '{"Custom":1}',
    '{"Custom":"a","Custom":"b"}',
    '{"Custom":"\\ud800"}',
  ]) {
    it(`refuses the custom service ${text}`, () => {
      expect(() => parseBid(textOf({ ...members, service: text }))).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    })
  }
})

describe('openBid', () => {
  const services: readonly (readonly [string, CapacityBid['service']])[] = [
    ['no service', undefined],
    ['a fixed service', 'CodeGeneration'],
    ['a custom service', { Custom: 'static_analysis' }],
  ]
  for (const [name, service] of services) {
    it(`refuses every change of one bit of a bid for ${name}, or reads the same`, () => {
      const text = writeExactJson(bidJson(sealedWith(service)))
      const outcome = openTextBitFlips(text, (changed) => {
        return writeExactJson(bidJson(openBid(parseBid(changed), { now: NOW, verifier: verifyQuickly })))
      })
      expect(outcome).toMatchObject({
        ERR_ARTEFACT_INVALID: expect.any(Number),
        ERR_SIGNATURE_INVALID: expect.any(Number),
        same: expect.any(Number),
      })
    })
  }

  const times = [
    { name: 'in its last second', now: 3_999 },
    { name: 'at its expiry', now: 4_000, code: 'ERR_ARTEFACT_EXPIRED' },
    { name: '59 seconds early', now: 1_441 },
    { name: '61 seconds early', now: 1_439, code: 'ERR_ARTEFACT_EARLY' },
  ]
  for (const { name, now, code } of times) {
    it(`${code === undefined ? 'accepts' : 'refuses'} a bid ${name}`, () => {
      const opened = (): unknown => openBid(sample, { now: u64(now) })
      if (code === undefined) expect(opened()).toMatchObject(sample)
      else expect(opened).toThrow(expect.objectContaining({ code }))
    })
  }

  const forged: readonly { readonly name: string; readonly bid: Sealed<CapacityBid> }[] = [
    { name: 'that somebody else signed', bid: signedBy(stranger.secret, CAPACITY_BID, body) },
    { name: 'in another name', bid: { ...sample, body: { ...body, bidder: stranger.id } } },
    { name: 'whose service was taken out', bid: { ...sample, body: { ...body, service: undefined } } },
    { name: 'signed in the unframed form', bid: seal({ ...CAPACITY_BID, domain: 'bare' }, body, buyer.secret) },
  ]
  for (const { name, bid } of forged) {
    it(`refuses a bid ${name}`, () => {
      expect(() => openBid(bid, { now: NOW, acceptLegacy: true })).toThrow(
        expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }),
      )
    })
  }
})
