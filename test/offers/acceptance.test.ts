import { describe, expect, it } from 'vitest'
import { type Sealed, seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Signature } from '../../src/core/ids.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import {
  ACCEPTANCE,
  type Acceptance,
  acceptanceJson,
  openAcceptance,
  parseAcceptance,
} from '../../src/offers/acceptance.ts'
import { hashOfText } from '../../src/offers/receipt.ts'
import { openTextBitFlips } from '../core/bit-flips.ts'
import { signedBy } from '../core/forged.ts'
import { itIsReadStrictly } from '../core/json-artefact.ts'
import { membersOf, textOf } from '../core/json-members.ts'
import { verifyQuickly } from '../core/quick-verifier.ts'
import vectors from '../vectors/offers.json' with { type: 'json' }
import { narrow, wide } from './arbitraries.ts'
import { buyer, itIsEncodedOnce, keyOf, seller, stranger } from './signed.ts'

const NOW = u64(2_000)
const body: Acceptance = {
  accepter: seller.id,
  proposer: buyer.id,
  decision: 'counter',
  proposalHash: hashOfText('pair on topology X'),
  requiresResponseBy: u64(5_000),
}
const sample: Sealed<Acceptance> = { body, signature: seal(ACCEPTANCE, body, seller.secret).signature }
const members = membersOf(acceptanceJson(sample))

describe('ACCEPTANCE', () => {
  for (const { name, seed, proposal, body: fields, preimage, signature, json } of vectors.acceptances) {
    it(`is as in ${name}`, () => {
      expect(hashOfText(proposal)).toBe(fields.proposal_hash)
      const read = parseAcceptance(JSON.stringify({ ...fields, accepter_sig: signature ?? '00'.repeat(64) }))
      expect(toHex(ACCEPTANCE.preimage(read.body, ACCEPTANCE.domain))).toBe(preimage)
      if (seed === undefined) return
      const { secret, id } = keyOf(seed)
      const made = seal(ACCEPTANCE, read.body, secret)
      expect(made.signature).toBe(signature)
      expect(openAcceptance(read, { now: NOW }).body.accepter).toBe(id)
      if (json !== undefined) expect(writeExactJson(acceptanceJson(made))).toBe(json)
    })
  }

  itIsEncodedOnce({
    kind: ACCEPTANCE,
    wide: wide.acceptance,
    narrow: narrow.acceptance,
    parse: parseAcceptance,
    write: acceptanceJson,
    wrap: (acceptance, signature) => ({ body: acceptance, signature: signature as Signature }),
  })
})

describe('parseAcceptance', () => {
  itIsReadStrictly({
    sample,
    parse: parseAcceptance,
    write: acceptanceJson,
    hex: { accepter: 64, proposer: 64, proposal_hash: 64, accepter_sig: 128 },
    numbers: ['requires_response_by'],
    texts: [],
    lists: [],
    optional: [],
  })

  for (const text of ['"Accept"', '"accepted"', '""', '"toString"', '0', 'null', '["accept"]']) {
    it(`refuses the decision ${text}`, () => {
      expect(() => parseAcceptance(textOf({ ...members, decision: text }))).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    })
  }
})

describe('openAcceptance', () => {
  it('refuses every change of one bit, or reads the same', () => {
    const outcome = openTextBitFlips(textOf(members), (text) =>
      writeExactJson(acceptanceJson(openAcceptance(parseAcceptance(text), { now: NOW, verifier: verifyQuickly }))),
    )
    expect(outcome).toMatchObject({
      ERR_ARTEFACT_INVALID: expect.any(Number),
      ERR_SIGNATURE_INVALID: expect.any(Number),
      same: expect.any(Number),
    })
  })

  for (const now of [u64(0), u64(5_000), U64_MAX]) {
    it(`accepts a decision at ${now}: it does not lapse with the proposal`, () => {
      expect(openAcceptance(sample, { now })).toMatchObject(sample)
    })
  }

  const forged: readonly { readonly name: string; readonly acceptance: Sealed<Acceptance> }[] = [
    { name: 'that the proposer signed', acceptance: signedBy(buyer.secret, ACCEPTANCE, body) },
    { name: 'in another name', acceptance: { ...sample, body: { ...body, accepter: stranger.id } } },
    { name: 'of another proposer', acceptance: { ...sample, body: { ...body, proposer: stranger.id } } },
    { name: 'turned into consent', acceptance: { ...sample, body: { ...body, decision: 'accept' } } },
    { name: 'of another proposal', acceptance: { ...sample, body: { ...body, proposalHash: hashOfText('Y') } } },
  ]
  for (const { name, acceptance } of forged) {
    it(`refuses a decision ${name}`, () => {
      expect(() => openAcceptance(acceptance, { now: NOW })).toThrow(
        expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }),
      )
    })
  }
})
