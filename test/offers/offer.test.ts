import { describe, expect, it } from 'vitest'
import { type Sealed, seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Signature } from '../../src/core/ids.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { CAPACITY_OFFER, type CapacityOffer, offerJson, openOffer, parseOffer } from '../../src/offers/offer.ts'
import { openTextBitFlips } from '../core/bit-flips.ts'
import { signedBy } from '../core/forged.ts'
import { itIsReadStrictly } from '../core/json-artefact.ts'
import { membersOf, textOf, without } from '../core/json-members.ts'
import { verifyQuickly } from '../core/quick-verifier.ts'
import vectors from '../vectors/offers.json' with { type: 'json' }
import { narrow, wide } from './arbitraries.ts'
import { itIsEncodedOnce, keyOf, seller, stranger } from './signed.ts'

const NOW = u64(2_000)
const body: CapacityOffer = {
  holder: seller.id,
  kind: 'CloudApiQuota',
  models: ['claude-opus-4-8', 'µ'],
  units: u64(1_000),
  minPrice: u64(50),
  currency: '€',
  issuedAt: u64(1_000),
  expiresAt: u64(5_000),
  services: ['SafetyCheck', { Custom: 'static_analysis' }],
}
const sealed = seal(CAPACITY_OFFER, body, seller.secret)
const sample: Sealed<CapacityOffer> = { body, signature: sealed.signature }
const members = membersOf(offerJson(sample))

describe('CAPACITY_OFFER', () => {
  for (const { name, seed, body: fields, preimage, signature, json } of vectors.offers) {
    it(`is as in ${name}`, () => {
      const read = parseOffer(JSON.stringify({ ...fields, signature: signature ?? '00'.repeat(64) }))
      expect(toHex(CAPACITY_OFFER.preimage(read.body, CAPACITY_OFFER.domain))).toBe(preimage)
      if (seed === undefined) return
      const { secret, id } = keyOf(seed)
      const made = seal(CAPACITY_OFFER, read.body, secret)
      expect(made.signature).toBe(signature)
      expect(openOffer(read, { now: read.body.issuedAt }).body.holder).toBe(id)
      if (json !== undefined) expect(writeExactJson(offerJson(made))).toBe(json)
    })
  }

  itIsEncodedOnce({
    kind: CAPACITY_OFFER,
    wide: wide.offer,
    narrow: narrow.offer,
    parse: parseOffer,
    write: offerJson,
    wrap: (offer, signature) => ({ body: offer, signature: signature as Signature }),
  })
})

describe('parseOffer', () => {
  itIsReadStrictly({
    sample,
    parse: parseOffer,
    write: offerJson,
    hex: { holder_pubkey: 64, signature: 128 },
    numbers: ['units_available', 'min_price', 'issued_at', 'expires_at'],
    texts: ['currency_id'],
    lists: ['models'],
    optional: ['services'],
  })

  it('reads an offer without services as one that declares none, as older offers are written', () => {
    expect(parseOffer(textOf(without(members, 'services'))).body.services).toEqual([])
  })

  const services = [
    'null',
    '{}',
    '"SafetyCheck"',
    '["safetycheck"]',
    '["static_analysis"]',
    '["toString"]',
    '["Custom"]',
    '[null]',
    '[4]',
    '[{}]',
    '[["SafetyCheck"]]',
    '[{"SafetyCheck":null}]',
    '[{"Custom":null}]',
    '[{"Custom":"a","x":1}]',
    '[{"Custom":"a","Custom":"a"}]',
    '[{"custom":"a"}]',
    JSON.stringify(Array.from({ length: 4_097 }, () => 'SafetyCheck')),
  ]
  for (const text of services) {
    it(`refuses the services ${text.slice(0, 30)}`, () => {
      expect(() => parseOffer(textOf({ ...members, services: text }))).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    })
  }

  for (const text of [
    '"cloud"',
    '"cloudapiquota"',
    '"toString"',
    '"__proto__"',
    '""',
    '0',
    'null',
    '["CloudApiQuota"]',
  ]) {
    it(`refuses the kind ${text}`, () => {
      expect(() => parseOffer(textOf({ ...members, kind: text }))).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    })
  }
})

describe('openOffer', () => {
  it('refuses every change of one bit, or reads the same', () => {
    const outcome = openTextBitFlips(textOf(members), (text) =>
      writeExactJson(offerJson(openOffer(parseOffer(text), { now: NOW, verifier: verifyQuickly }))),
    )
    expect(outcome).toMatchObject({
      ERR_ARTEFACT_INVALID: expect.any(Number),
      ERR_SIGNATURE_INVALID: expect.any(Number),
      // The case of a hex digit.
      same: expect.any(Number),
    })
  })

  const times = [
    { name: 'in its first second', now: 1_000n },
    { name: 'in its last second', now: 4_999n },
    { name: 'at its expiry', now: 5_000n, code: 'ERR_ARTEFACT_EXPIRED' },
    { name: 'long after it', now: U64_MAX, code: 'ERR_ARTEFACT_EXPIRED' },
    { name: '59 seconds after it', now: 5_059n, code: 'ERR_ARTEFACT_EXPIRED' },
    { name: '59 seconds early', now: 941n },
    { name: '60 seconds early', now: 940n },
    { name: '61 seconds early', now: 939n, code: 'ERR_ARTEFACT_EARLY' },
    { name: '1 second early without any skew', now: 999n, skewSeconds: 0, code: 'ERR_ARTEFACT_EARLY' },
    { name: 'in its first second without any skew', now: 1_000n, skewSeconds: 0 },
    { name: '600 seconds early with so much skew', now: 400n, skewSeconds: 600 },
  ]
  for (const { name, now, code, ...skew } of times) {
    it(`${code === undefined ? 'accepts' : 'refuses'} an offer ${name}`, () => {
      const opened = (): unknown => openOffer(sample, { now: u64(now), ...skew })
      if (code === undefined) expect(opened()).toMatchObject(sample)
      else expect(opened).toThrow(expect.objectContaining({ code }))
    })
  }

  const forged: readonly { readonly name: string; readonly offer: Sealed<CapacityOffer> }[] = [
    { name: 'that somebody else signed', offer: signedBy(stranger.secret, CAPACITY_OFFER, body) },
    { name: 'in another name', offer: { ...sample, body: { ...body, holder: stranger.id } } },
    {
      name: 'with a service added',
      offer: { ...sample, body: { ...body, services: [...body.services, 'CodeGeneration'] } },
    },
    {
      name: 'with its services in another order',
      offer: { ...sample, body: { ...body, services: body.services.toReversed() } },
    },
    {
      name: 'with a custom service by the name of a fixed one',
      offer: { ...sample, body: { ...body, services: [{ Custom: 'SafetyCheck' }, { Custom: 'static_analysis' }] } },
    },
    { name: 'that is expired and forged', offer: { ...sample, body: { ...body, expiresAt: u64(1) } } },
  ]
  for (const { name, offer } of forged) {
    it(`refuses an offer ${name}`, () => {
      expect(() => openOffer(offer, { now: NOW })).toThrow(expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }))
    })
  }

  it('refuses the form in which domains were not framed, even where legacy forms are accepted', () => {
    const legacy = seal({ ...CAPACITY_OFFER, domain: 'bare' }, body, seller.secret)
    expect(() => openOffer(legacy, { now: NOW, acceptLegacy: true })).toThrow(
      expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }),
    )
  })
})
