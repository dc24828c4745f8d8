import { describe, expect, it } from 'vitest'
import { VERIFY_ENV } from '../src/agent/artefacts/verify-settings.ts'
import { RECEIPT_METHOD } from '../src/agent/serving/market.ts'
import { MAX_SIGNATURES } from '../src/cards/a2a-card.ts'
import { AGENT_CARD, CARD_ENV } from '../src/cards/index.ts'
import { NOISE_ATTESTATION } from '../src/channel/membership/attestation.ts'
import { GRANT } from '../src/channel/membership/grant.ts'
import { INVITATION, REDEMPTION } from '../src/channel/membership/invitation.ts'
import { MEMBERSHIP_STAPLE, STAPLE_TTL_SECONDS } from '../src/channel/membership/staple.ts'
import { type ArtefactKind, DEFAULT_SKEW_SECONDS } from '../src/core/artefact.ts'
import { isErrorCode } from '../src/core/errors.ts'
import { MAX_ARTEFACT_CHARS } from '../src/core/exact-json.ts'
import { MAX_NESTING } from '../src/core/json.ts'
import { MAX_LIST_ITEMS, MAX_TEXT_CHARS } from '../src/core/json-shape.ts'
import { Preimage } from '../src/core/preimage.ts'
import { ACCEPTANCE } from '../src/offers/acceptance.ts'
import { CAPACITY_BID } from '../src/offers/bid.ts'
import { BID_ENV, OFFER_ENV } from '../src/offers/config.ts'
import { MAX_RECEIPTS_PER_MATCH, RECEIPT_REFUSALS } from '../src/offers/countersigning.ts'
import { CAPACITY_OFFER } from '../src/offers/offer.ts'
import { USAGE_RECEIPT } from '../src/offers/receipt.ts'
import { MAX_REQUEST_CHARS } from '../src/offers/request.ts'
import { BID_REFUSALS, MAX_BIDDING_PEERS, MAX_SALES } from '../src/offers/seller.ts'
import { MAX_CALLS, MAX_CALLS_PER_PEER } from '../src/offers/served-calls.ts'
import { addService, nameOfService, serviceKind } from '../src/offers/service-kind.ts'
import { MAX_VAIN_TRIES, TRY_WINDOW_SECONDS } from '../src/offers/tries.ts'
import { document, rowsOf, values } from './artefacts-document.ts'

const CONSTANTS: Readonly<Record<string, string>> = {
  MAX_ARTEFACT_CHARS: String(MAX_ARTEFACT_CHARS),
  MAX_NESTING: String(MAX_NESTING),
  MAX_LIST_ITEMS: String(MAX_LIST_ITEMS),
  MAX_TEXT_CHARS: String(MAX_TEXT_CHARS),
  MAX_SIGNATURES: String(MAX_SIGNATURES),
  DEFAULT_SKEW_SECONDS: String(DEFAULT_SKEW_SECONDS),
  STAPLE_TTL_SECONDS: String(STAPLE_TTL_SECONDS),
  MAX_BIDDING_PEERS: String(MAX_BIDDING_PEERS),
  MAX_SALES: String(MAX_SALES),
  MAX_RECEIPTS_PER_MATCH: String(MAX_RECEIPTS_PER_MATCH),
  MAX_CALLS_PER_PEER: String(MAX_CALLS_PER_PEER),
  MAX_CALLS: String(MAX_CALLS),
  MAX_REQUEST_CHARS: String(MAX_REQUEST_CHARS),
  MAX_VAIN_TRIES: String(MAX_VAIN_TRIES),
  TRY_WINDOW_SECONDS: String(TRY_WINDOW_SECONDS),
  ...Object.fromEntries(
    [CARD_ENV.ttlSeconds, OFFER_ENV.ttlSeconds, BID_ENV.ttlSeconds, OFFER_ENV.maxBids, OFFER_ENV.windowSeconds].map(
      ({ name, fallback }) => [name, fallback],
    ),
  ),
}

const kinds: Readonly<Record<string, Pick<ArtefactKind<never>, 'domain' | 'hasLegacyForm'>>> = {
  'ct-agent-card-v1': AGENT_CARD,
  'ct-capacity-offer-v1': CAPACITY_OFFER,
  'ct-capacity-bid-v1': CAPACITY_BID,
  'ct-usage-receipt-v1': USAGE_RECEIPT,
  'ct-proposal-acceptance-v1': ACCEPTANCE,
  'ct-grant:v1': GRANT,
  'ct-chan-invite:v1': INVITATION,
  'ct-chan-invite-redeem-v1': REDEMPTION,
  'ct-chan-invite-redeem-v2-chal': REDEMPTION,
  'ct-a2a-noise-attest-v1': NOISE_ATTESTATION,
  'ct-membership-staple-v1': MEMBERSHIP_STAPLE,
}
const hashes = ['ct-capacity-match-v1', 'ct-link-channel-v1', 'ct-pipeline-role-channel-v1']

describe('the tables of docs/artefacts.md', () => {
  it('say of every domain which form it has and whether there is a legacy form', () => {
    const rows = rowsOf('What is signed').map(([domain = '', ...cells]) => [domain, cells.slice(0, 2)] as const)
    const signed = Object.entries(kinds).map(([domain, kind]) => {
      return [domain, [kind.domain, kind.hasLegacyForm === true ? 'yes' : 'no']] as const
    })
    expect(Object.fromEntries(rows.filter(([domain]) => !hashes.includes(domain)))).toEqual(Object.fromEntries(signed))
    expect(rows).toHaveLength(signed.length + hashes.length)
  })

  it('list the services with their tags and the names that settings have for them', () => {
    const names = rowsOf('Kinds and services').filter(([, tag]) => /^\d$/.test(tag ?? ''))
    expect(names).toHaveLength(4)
    for (const [json = '', tag, name] of names) {
      const service = serviceKind(JSON.parse(json), 'service')
      const signed = new Preimage('', 'bare')
      addService(signed, service)
      expect([[...signed.bytes()].join(), `\`${nameOfService(service)}\``]).toEqual([tag, name])
    }
  })

  it('list every reason for which a bid or a receipt is refused, in the order of the checks', () => {
    const reasons = (heading: string) => rowsOf(heading).flatMap(([key = '']) => (/^[a-z_]+$/.test(key) ? [key] : []))
    expect(reasons('Auction')).toEqual(BID_REFUSALS)
    expect(reasons('Countersigning')).toEqual(RECEIPT_REFUSALS)
  })

  it('name the method of receipts', () => expect(document).toContain(`\`${RECEIPT_METHOD}\``))

  for (const [name, value] of Object.entries(CONSTANTS)) {
    it(`give ${name} as the code does`, () => expect(values.get(name)).toBe(value))
  }

  it('name only constants, settings and codes that the code has', () => {
    const names = [...document.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, name = '']) => name)
    const settings = Object.values(VERIFY_ENV).map((row): string => row.name)
    expect(names.filter((name) => !(name in CONSTANTS) && !settings.includes(name) && !isErrorCode(name))).toEqual([])
  })
})
