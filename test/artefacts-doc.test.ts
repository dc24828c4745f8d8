import canonicalize from 'canonicalize'
import { flattenedVerify, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { VERIFY_ENV } from '../src/agent/artefacts/verify-settings.ts'
import { verifyA2aCard } from '../src/cards/a2a-card.ts'
import {
  AGENT_CARD,
  a2aCard,
  CARD_EXTENSION,
  cardJson,
  didKey,
  holderJwk,
  openCard,
  parseCard,
  signA2aCard,
} from '../src/cards/index.ts'
import { NOISE_ATTESTATION } from '../src/channel/membership/attestation.ts'
import { linkChannelId, pipelineChannelId } from '../src/channel/membership/channel-id.ts'
import { decodeGrant, encodeGrant, GRANT } from '../src/channel/membership/grant.ts'
import {
  decodeInvitation,
  encodeInvitation,
  INVITATION,
  REDEMPTION,
  type Redemption,
} from '../src/channel/membership/invitation.ts'
import { decodeStaple, encodeStaple, MEMBERSHIP_STAPLE, sealStaple } from '../src/channel/membership/staple.ts'
import { checkSignature } from '../src/core/artefact.ts'
import { writeExactJson } from '../src/core/exact-json.ts'
import { type ChannelId, type Signature } from '../src/core/ids.ts'
import { noiseKey } from '../src/core/keys.ts'
import { u64 } from '../src/core/u64.ts'
import { ACCEPTANCE, acceptanceJson, parseAcceptance } from '../src/offers/acceptance.ts'
import { bidJson, CAPACITY_BID, parseBid } from '../src/offers/bid.ts'
import { openBook } from '../src/offers/book-file.ts'
import { matchJson, parseMatch } from '../src/offers/clearing.ts'
import { createCountersign } from '../src/offers/countersigning.ts'
import { CAPACITY_OFFER, offerJson, parseOffer } from '../src/offers/offer.ts'
import { hashOfText, parseReceipt, receiptJson, USAGE_RECEIPT } from '../src/offers/receipt.ts'
import { decodeReceipt, encodeReceipt } from '../src/offers/receipt-wire.ts'
import { createSeller } from '../src/offers/seller.ts'
import { createServedCalls } from '../src/offers/served-calls.ts'
import { serviceText } from '../src/offers/service-kind.ts'
import {
  bytesIn,
  document,
  domainBytes,
  example,
  fieldBytes,
  objectIn,
  rowsOf,
  unusedExamples,
} from './artefacts-document.ts'
import { describeBytes, describeJson, hexOf, sha256 } from './artefacts-replay.ts'
import { bookFile } from './offers/selling.ts'
import { keyOf } from './offers/signed.ts'

const operator = keyOf(1)
const buyer = keyOf(2)
const seller = keyOf(3)
const invitee = keyOf(6)
const channel = linkChannelId(operator.id, seller.id, buyer.id)

describeJson({
  name: 'card',
  heading: 'Agent card',
  domain: 'ct-agent-card-v1',
  kind: AGENT_CARD,
  body: (json) => parseCard(json).body,
  again: (json) => cardJson(parseCard(json)),
  signers: { signature: seller },
})
describeJson({
  name: 'offer',
  heading: 'Capacity offer',
  domain: 'ct-capacity-offer-v1',
  kind: CAPACITY_OFFER,
  body: (json) => parseOffer(json).body,
  again: (json) => offerJson(parseOffer(json)),
  signers: { signature: seller },
})
describeJson({
  name: 'bid',
  heading: 'Capacity bid',
  domain: 'ct-capacity-bid-v1',
  kind: CAPACITY_BID,
  body: (json) => parseBid(json).body,
  again: (json) => bidJson(parseBid(json)),
  signers: { signature: buyer },
})
describeJson({
  name: 'receipt',
  heading: 'Usage receipt',
  domain: 'ct-usage-receipt-v1',
  kind: USAGE_RECEIPT,
  body: (json) => parseReceipt(json).body,
  again: (json) => receiptJson(parseReceipt(json)),
  signers: { provider_sig: seller, consumer_sig: buyer },
})
describeJson({
  name: 'acceptance',
  heading: 'Signed acceptance',
  domain: 'ct-proposal-acceptance-v1',
  kind: ACCEPTANCE,
  body: (json) => parseAcceptance(json).body,
  again: (json) => acceptanceJson(parseAcceptance(json)),
  signers: { accepter_sig: seller },
})

const permission = { channel, rights: 'rw', delegable: false, expiresAt: u64(2_000_000_000) } as const
const redemption: Redemption = { channel, invitee: invitee.id, holder: seller.id }

describeBytes({
  name: 'grant',
  domain: 'ct-grant:v1',
  kind: GRANT,
  body: { ...permission, holder: buyer.id, direction: 'initiate' },
  signer: operator,
  wire: { encode: encodeGrant, decode: decodeGrant },
})
describeBytes({
  name: 'invitation',
  domain: 'ct-chan-invite:v1',
  kind: INVITATION,
  body: { ...permission, invitee: invitee.id, direction: 'accept' },
  signer: operator,
  wire: { encode: encodeInvitation, decode: decodeInvitation },
})
describeBytes({
  name: 'redemption-v1',
  domain: 'ct-chan-invite-redeem-v1',
  kind: REDEMPTION,
  body: redemption,
  signer: invitee,
})
describeBytes({
  name: 'redemption-v2',
  domain: 'ct-chan-invite-redeem-v2-chal',
  kind: REDEMPTION,
  body: { ...redemption, challenge: new Uint8Array(32).fill(0x5a) },
  signer: invitee,
})
describeBytes({
  name: 'attestation',
  domain: 'ct-a2a-noise-attest-v1',
  kind: NOISE_ATTESTATION,
  body: { channel, holder: seller.id, noiseKey: noiseKey(keyOf(5).secret).id },
  signer: seller,
})
describeBytes({
  name: 'staple',
  domain: 'ct-membership-staple-v1',
  kind: MEMBERSHIP_STAPLE,
  body: sealStaple({ channel, holder: buyer.id }, operator.secret, u64(1_000)).body,
  signer: operator,
  wire: { encode: encodeStaple, decode: decodeStaple },
})

describe('docs/artefacts.md', () => {
  it('names the keys of the examples', () => {
    for (const { id } of [operator, buyer, seller, invitee]) expect(document).toContain(`\`${id}\``)
  })

  it('computes the match that it shows, under the bare domain', () => {
    const covered = [
      domainBytes('ct-capacity-match-v1'),
      fieldBytes('Match', objectIn('match-json')),
      ...[objectIn('bid-json'), objectIn('offer-json')].map(({ issued_at: at }) => {
        const bytes = Buffer.alloc(8)
        bytes.writeBigUInt64LE(at as bigint)
        return bytes
      }),
    ]
    expect(hexOf(Buffer.concat(covered))).toBe(example('match'))
    expect(objectIn('match-json')['match_ref']).toBe(sha256(bytesIn('match')))
    expect(rowsOf('Match').map(([member]) => member)).toEqual(Object.keys(objectIn('match-json')))
  })

  it('shows an offer, a bid, a match and a receipt that a seller makes of each other', async () => {
    const { body: offer } = parseOffer(example('offer-json'))
    const { holder, issuedAt, expiresAt, ...terms } = offer
    const book = await openBook(bookFile())
    let now = 1_000
    const deps = { book, holder: seller, clock: { now: () => now * 1_000 }, skewSeconds: 60 }
    const settings = { serviceNames: [], ttlSeconds: u64(expiresAt - issuedAt), maxBids: 60, windowSeconds: u64(60) }
    const selling = createSeller({ terms, ...settings }, deps)
    expect(holder).toBe(seller.id)
    expect(writeExactJson(offerJson(selling.offer()))).toBe(writeExactJson(objectIn('offer-json')))
    now = 2_000
    const match = selling.bid(`{"bid":${example('bid-json')}}`, buyer.id)
    expect(match).toEqual(parseMatch(example('match-json')))
    expect(writeExactJson(matchJson(match))).toBe(writeExactJson(objectIn('match-json')))
    now = 2_100
    const served = createServedCalls()
    const call = { request: hashOfText('question'), response: hashOfText('answer') }
    served.note(buyer.id, call, serviceText({ Custom: 'StaticAnalysis' }))
    const { provider_sig: _, ...draft } = objectIn('receipt-json')
    const receipt = createCountersign({ ...deps, served })(writeExactJson({ receipt: draft }), buyer.id)
    expect(writeExactJson(receiptJson(receipt))).toBe(writeExactJson(objectIn('receipt-json')))
    book.close()
  })

  it('lays out the binary form of a grant without a gap', () => {
    const rows = [...document.matchAll(/^\| (\d+) \| (\d+) \| /gm)].map(
      ([, at, bytes]) => [Number(at), Number(bytes)] as const,
    )
    expect(rows).toHaveLength(7)
    const end = rows.reduce((reached, [at, bytes]) => (at === reached ? reached + bytes : Number.NaN), 0)
    expect(end).toBe(bytesIn('grant-wire').length)
  })

  it('shows the receipt in binary', () => {
    const receipt = parseReceipt(example('receipt-json'))
    expect(hexOf(encodeReceipt(receipt))).toBe(example('receipt-binary'))
    expect(decodeReceipt(bytesIn('receipt-binary'))).toEqual(receipt)
  })

  it('shows the hash of the accepted proposal', () => {
    expect(objectIn('acceptance-json')['proposal_hash']).toBe(hashOfText('pair on topology X'))
  })

  it('computes the ids of channels that it shows', () => {
    const role = pipelineChannelId(operator.id, { pipeline: 'cookbook-demo', role: 'safety' })
    const ids = { link: channel, 'pipeline-role': role } satisfies Record<string, ChannelId>
    for (const [name, id] of Object.entries(ids)) {
      expect(sha256(bytesIn(name))).toBe(id)
      expect(document).toContain(`\`${id}\``)
    }
    const begins = { link: 'ct-link-channel-v1', 'pipeline-role': 'ct-pipeline-role-channel-v1' }
    for (const [name, domain] of Object.entries(begins)) {
      expect(example(name).startsWith(hexOf(domainBytes(domain)))).toBe(true)
    }
  })

  it('shows a signature in the legacy form', () => {
    const sealed = { ...parseCard(example('card-json')), signature: example('card-legacy-signature') as Signature }
    expect(checkSignature(AGENT_CARD, sealed, { signer: seller.id, acceptLegacy: true })).toBe('legacy')
    expect(() => openCard(sealed, { now: u64(2_000) })).toThrow(
      expect.objectContaining({ code: 'ERR_SIGNATURE_LEGACY' }),
    )
    expect(document).toContain(`\`${VERIFY_ENV.acceptLegacy.name}\``)
  })

  it('shows the card in the A2A form, which verifies as it says', async () => {
    const native = openCard(parseCard(example('card-json')), { now: u64(2_000) })
    const signed = await signA2aCard(a2aCard(native, { version: '1.0.0' }), seller.secret)
    expect(writeExactJson(signed)).toBe(writeExactJson(objectIn('card-a2a')))
    expect((await verifyA2aCard(example('card-a2a'), { now: u64(2_000) })).holder).toBe(seller.id)
    const { signatures, ...card } = JSON.parse(example('card-a2a'))
    const payload = Buffer.from(canonicalize(card) ?? '').toString('base64url')
    const key = await importJWK({ ...holderJwk(seller.id) }, 'EdDSA')
    const { protectedHeader } = await flattenedVerify({ ...signatures[0], payload }, key)
    const kid = `${didKey(seller.id)}#${didKey(seller.id).slice('did:key:'.length)}`
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'JOSE', kid, jwk: holderJwk(seller.id) })
    expect(document).toContain(`\`${CARD_EXTENSION}\``)
  })

  it('has no example that is not replayed', () => expect(unusedExamples()).toEqual([]))
})
