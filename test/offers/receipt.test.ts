import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/core/bytes.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Signature } from '../../src/core/ids.ts'
import { type HolderKey, sign } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import {
  checkReceipt,
  hashOfText,
  parseReceipt,
  type ReceiptParty,
  receiptJson,
  type SignedReceipt,
  USAGE_RECEIPT,
  type UsageReceipt,
} from '../../src/offers/receipt.ts'
import { openTextBitFlips } from '../core/bit-flips.ts'
import { itIsReadStrictly } from '../core/json-artefact.ts'
import { membersOf, textOf, without } from '../core/json-members.ts'
import { verifyQuickly } from '../core/quick-verifier.ts'
import vectors from '../vectors/offers.json' with { type: 'json' }
import { narrow, wide } from './arbitraries.ts'
import { buyer, itIsEncodedOnce, keyOf, seller, stranger } from './signed.ts'

const NOW = u64(2_100)
const BOTH: readonly ReceiptParty[] = ['provider', 'consumer']
const body: UsageReceipt = {
  provider: seller.id,
  consumer: buyer.id,
  kind: 'CloudApiQuota',
  model: 'µ2',
  unitsConsumed: u64(10),
  matchRef: hashOfText('match'),
  issuedAt: u64(2_100),
  requestHash: hashOfText('question'),
  responseHash: hashOfText('answer'),
}
const signedBy = ({ secret }: HolderKey, receipt = body): Signature => {
  return toHex(sign(USAGE_RECEIPT.preimage(receipt, 'framed'), secret)) as Signature
}
const signatures = { provider: signedBy(seller), consumer: signedBy(buyer) }
const sample: SignedReceipt = { body, signatures }
const members = membersOf(receiptJson(sample))

describe('USAGE_RECEIPT', () => {
  for (const vector of vectors.receipts) {
    it(`is as in ${vector.name}`, () => {
      const signed = { provider_sig: vector.provider_sig, consumer_sig: vector.consumer_sig }
      const read = parseReceipt(JSON.stringify({ ...vector.body, ...signed }))
      expect(toHex(USAGE_RECEIPT.preimage(read.body, USAGE_RECEIPT.domain))).toBe(vector.preimage)
      if (vector.provider_seed === undefined || vector.consumer_seed === undefined) return
      expect(signedBy(keyOf(vector.provider_seed), read.body)).toBe(vector.provider_sig)
      expect(signedBy(keyOf(vector.consumer_seed), read.body)).toBe(vector.consumer_sig)
      expect(() => checkReceipt(read, BOTH, { now: read.body.issuedAt })).not.toThrow()
      if (vector.json !== undefined) expect(writeExactJson(receiptJson(read))).toBe(vector.json)
      if (vector.request !== undefined) expect(hashOfText(vector.request)).toBe(read.body.requestHash)
      if (vector.response !== undefined) expect(hashOfText(vector.response)).toBe(read.body.responseHash)
    })
  }

  itIsEncodedOnce({
    kind: USAGE_RECEIPT,
    wide: wide.receipt,
    narrow: narrow.receipt,
    parse: parseReceipt,
    write: receiptJson,
    wrap: (receipt, signature): SignedReceipt => ({
      body: receipt,
      signatures: { provider: signature as Signature, consumer: '0f'.repeat(64) as Signature },
    }),
  })
})

describe('parseReceipt', () => {
  itIsReadStrictly({
    sample,
    parse: parseReceipt,
    write: receiptJson,
    hex: {
      provider: 64,
      consumer: 64,
      match_ref: 64,
      request_hash: 64,
      response_hash: 64,
      provider_sig: 128,
      consumer_sig: 128,
    },
    numbers: ['units_consumed', 'issued_at'],
    texts: ['model'],
    lists: [],
    optional: ['provider_sig', 'consumer_sig'],
  })

  it('reads a draft with one signature or none, and writes it without the others', () => {
    for (const party of BOTH) {
      const draft = { body, signatures: { [party]: signatures[party] } }
      const text = textOf(without(members, party === 'provider' ? 'consumer_sig' : 'provider_sig'))
      expect(writeExactJson(receiptJson(draft))).toBe(text)
      expect(parseReceipt(text)).toEqual(draft)
    }
    const bare = textOf(without(without(members, 'provider_sig'), 'consumer_sig'))
    expect(writeExactJson(receiptJson({ body, signatures: {} }))).toBe(bare)
    expect(parseReceipt(bare)).toEqual({ body, signatures: {} })
  })
})

describe('checkReceipt', () => {
  it('refuses every change of one bit, or reads the same', () => {
    const outcome = openTextBitFlips(textOf(members), (text) => {
      const receipt = parseReceipt(text)
      checkReceipt(receipt, BOTH, { now: NOW, verifier: verifyQuickly })
      return writeExactJson(receiptJson(receipt))
    })
    expect(outcome).toMatchObject({
      ERR_ARTEFACT_INVALID: expect.any(Number),
      ERR_SIGNATURE_INVALID: expect.any(Number),
      same: expect.any(Number),
    })
  })

  it('accepts a draft for the party that signed it alone', () => {
    const draft = { body, signatures: { provider: signatures.provider } }
    expect(() => checkReceipt(draft, ['provider'], { now: NOW })).not.toThrow()
    for (const parties of [['consumer'], BOTH] as const) {
      expect(() => checkReceipt(draft, parties, { now: NOW })).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    }
  })

  const alone: UsageReceipt = { ...body, consumer: seller.id }
  const swapped: UsageReceipt = { ...body, provider: buyer.id, consumer: seller.id }
  const refusals: readonly { readonly name: string; readonly receipt: SignedReceipt; readonly code: string }[] = [
    {
      name: 'both signatures swapped',
      receipt: { body, signatures: { provider: signatures.consumer, consumer: signatures.provider } },
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'the parties swapped',
      receipt: { body: swapped, signatures: { provider: signatures.consumer, consumer: signatures.provider } },
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: "the provider's signature twice",
      receipt: { body, signatures: { ...signatures, consumer: signatures.provider } },
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: "a stranger's signature for the consumer's",
      receipt: { body, signatures: { ...signatures, consumer: signedBy(stranger) } },
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'more units than were signed',
      receipt: { body: { ...body, unitsConsumed: u64(11) }, signatures },
      code: 'ERR_SIGNATURE_INVALID',
    },
    { name: 'no signature', receipt: { body, signatures: {} }, code: 'ERR_ARTEFACT_INVALID' },
    {
      name: 'one key for both parties',
      receipt: { body: alone, signatures: { provider: signedBy(seller, alone), consumer: signedBy(seller, alone) } },
      code: 'ERR_ARTEFACT_INVALID',
    },
  ]
  for (const { name, receipt, code } of refusals) {
    it(`refuses a receipt with ${name}`, () => {
      expect(() => checkReceipt(receipt, BOTH, { now: NOW })).toThrow(expect.objectContaining({ code }))
    })
  }

  it('refuses one key for both parties whichever signatures are asked for', () => {
    const receipt = { body: alone, signatures: { provider: signedBy(seller, alone) } }
    expect(() => checkReceipt(receipt, ['provider'], { now: NOW })).toThrow(
      expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
    )
  })

  const times = [
    { name: '59 seconds early', now: u64(2_041) },
    { name: '60 seconds early', now: u64(2_040) },
    { name: '61 seconds early', now: u64(2_039), code: 'ERR_ARTEFACT_EARLY' },
    { name: 'as old as can be', now: U64_MAX },
  ]
  for (const { name, now, code } of times) {
    it(`${code === undefined ? 'accepts' : 'refuses'} a receipt ${name}`, () => {
      const check = (): void => checkReceipt(sample, BOTH, { now })
      if (code === undefined) expect(check).not.toThrow()
      else expect(check).toThrow(expect.objectContaining({ code }))
    })
  }
})

describe('the checks of a receipt', () => {
  const early = { now: u64(0) }
  const forged = { provider: signatures.provider, consumer: signatures.provider }

  it('come in this order: both have signed, both signatures are right, the time', () => {
    expect(codeOfCheck({ body, signatures: { provider: signedBy(stranger) } }, early)).toBe('ERR_ARTEFACT_INVALID')
    expect(codeOfCheck({ body, signatures: forged }, early)).toBe('ERR_SIGNATURE_INVALID')
    expect(codeOfCheck(sample, early)).toBe('ERR_ARTEFACT_EARLY')
  })

  function codeOfCheck(receipt: SignedReceipt, at: { readonly now: typeof NOW }): unknown {
    try {
      checkReceipt(receipt, BOTH, at)
      return undefined
    } catch (error) {
      return (error as { code?: unknown }).code
    }
  }
})

describe('hashOfText', () => {
  it('refuses half a surrogate pair, which would have the hash of another text', () => {
    for (const text of ['\ud800', 'a\udc00b']) {
      expect(() => hashOfText(text)).toThrow(expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }))
    }
    expect(hashOfText('\ufffd')).toBe('83d544ccc223c057d2bf80d3f2a32982c32c3c0db8e2674820da5064783fb097')
  })

  it('is the SHA-256 of the UTF-8 bytes', () => {
    expect(hashOfText('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(hashOfText('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(hashOfText('µ')).not.toBe(hashOfText('µ'.normalize('NFKD')))
  })
})
