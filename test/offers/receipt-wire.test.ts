import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8, toHex } from '../../src/core/bytes.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Signature } from '../../src/core/ids.ts'
import { sign } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import {
  checkReceipt,
  hashOfText,
  parseReceipt,
  receiptJson,
  type SignedReceipt,
  USAGE_RECEIPT,
  type UsageReceipt,
} from '../../src/offers/receipt.ts'
import { decodeReceipt, encodeReceipt } from '../../src/offers/receipt-wire.ts'
import { openBitFlips } from '../core/bit-flips.ts'
import { verifyQuickly } from '../core/quick-verifier.ts'
import vectors from '../vectors/offers.json' with { type: 'json' }
import { signatures as anySignature, wide } from './arbitraries.ts'
import { buyer, bytesOf, seller } from './signed.ts'

const refused = expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' })
const body: UsageReceipt = {
  provider: seller.id,
  consumer: buyer.id,
  kind: 'LocalHardware',
  model: 'µ2',
  unitsConsumed: U64_MAX,
  matchRef: hashOfText('match'),
  issuedAt: u64(2_100),
  requestHash: hashOfText('question'),
  responseHash: hashOfText('answer'),
}
const covered = USAGE_RECEIPT.preimage(body, 'framed')
const signatures = {
  provider: toHex(sign(covered, seller.secret)) as Signature,
  consumer: toHex(sign(covered, buyer.secret)) as Signature,
}
const sample: SignedReceipt = { body, signatures }
const wire = encodeReceipt(sample)

const KIND_AT = 64
const LENGTH_AT = 65
const MODEL_AT = 69

describe('encodeReceipt', () => {
  const published = vectors.receipts.filter((vector) => vector.wire !== undefined)
  it('has vectors', () => {
    expect(published).not.toEqual([])
  })

  for (const { name, json, wire: expected } of published) {
    it(`is as in ${name}`, () => {
      expect(toHex(encodeReceipt(parseReceipt(json ?? '')))).toBe(expected)
      expect(writeExactJson(receiptJson(decodeReceipt(bytesOf(expected ?? ''))))).toBe(json)
    })
  }

  for (const party of ['provider', 'consumer'] as const) {
    it(`refuses a draft that the ${party} has not signed`, () => {
      const { [party]: _, ...others } = signatures
      expect(() => encodeReceipt({ body, signatures: others })).toThrow(refused)
    })
  }
})

describe('decodeReceipt', () => {
  it('gives back what was encoded', () => {
    fc.assert(
      fc.property(wide.receipt, anySignature, anySignature, (receipt, provider, consumer) => {
        const signed = { body: receipt, signatures: { provider, consumer } }
        expect(decodeReceipt(encodeReceipt(signed))).toEqual(signed)
      }),
    )
  })

  it('reads a part of a larger buffer, and shares no memory with it', () => {
    const larger = new Uint8Array(wire.length + 20).fill(7)
    larger.set(wire, 11)
    const read = decodeReceipt(larger.subarray(11, 11 + wire.length))
    larger.fill(0)
    expect(read).toEqual(sample)
  })

  it('refuses bytes that are cut off, and bytes after the end', () => {
    for (let length = 0; length < wire.length; length += 1) {
      expect(() => decodeReceipt(wire.subarray(0, length)), `${length} bytes`).toThrow(refused)
    }
    expect(() => decodeReceipt(Uint8Array.of(...wire, 0))).toThrow(refused)
  })

  it('refuses every change of one bit', () => {
    const outcome = openBitFlips(wire, (bytes) => {
      const receipt = decodeReceipt(bytes)
      checkReceipt(receipt, ['provider', 'consumer'], { now: body.issuedAt, verifier: verifyQuickly })
      return toHex(encodeReceipt(receipt))
    })
    expect(outcome).toEqual({ ERR_ARTEFACT_INVALID: expect.any(Number), ERR_SIGNATURE_INVALID: expect.any(Number) })
  })

  const kinds = [2, 3, 0xff]
  for (const kind of kinds) {
    it(`refuses the kind ${kind}`, () => {
      const changed = Uint8Array.from(wire)
      changed[KIND_AT] = kind
      expect(() => decodeReceipt(changed)).toThrow(refused)
    })
  }

  it('refuses a model longer than the bytes, without setting memory aside for it', () => {
    const changed = Uint8Array.from(wire)
    changed.fill(0xff, LENGTH_AT, MODEL_AT)
    expect(() => decodeReceipt(changed)).toThrow(refused)
  })

  const models: readonly { readonly name: string; readonly bytes: Uint8Array }[] = [
    { name: 'that is no UTF-8', bytes: Uint8Array.of(0xff, 0xfe) },
    { name: 'with half a surrogate pair', bytes: Uint8Array.of(0xed, 0xa0, 0x80) },
    { name: 'in more bytes than it needs', bytes: Uint8Array.of(0xc1, 0xa1) },
    { name: 'longer than the bound of texts', bytes: encodeUtf8('x'.repeat(65_537)) },
  ]
  for (const { name, bytes } of models) {
    it(`refuses a model ${name}`, () => {
      expect(() => decodeReceipt(withModel(bytes))).toThrow(refused)
    })
  }

  it('keeps a byte order mark and whatever else is valid', () => {
    for (const model of ['', '\ufeffm', '\u0000', '😀', 'x'.repeat(65_536)]) {
      expect(decodeReceipt(withModel(encodeUtf8(model))).body.model).toBe(model)
    }
  })
})

function withModel(model: Uint8Array): Uint8Array {
  const end = MODEL_AT + encodeUtf8(body.model).length
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, model.length, true)
  return Buffer.concat([wire.subarray(0, LENGTH_AT), length, model, wire.subarray(end)])
}
