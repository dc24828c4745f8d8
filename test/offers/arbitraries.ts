/**
 * Random bodies of the artefacts of a sale.
 *
 * `wide` draws from all values; `narrow` from so few that bodies which an ambiguous encoding would confuse meet often.
 *
 * @module
 */
import fc from 'fast-check'
import { type Hash, type HolderId, type Signature } from '../../src/core/ids.ts'
import { type U64, U64_MAX } from '../../src/core/u64.ts'
import { type Acceptance } from '../../src/offers/acceptance.ts'
import { type CapacityBid } from '../../src/offers/bid.ts'
import { type CapacityKind } from '../../src/offers/capacity-kind.ts'
import { type CapacityOffer } from '../../src/offers/offer.ts'
import { type UsageReceipt } from '../../src/offers/receipt.ts'
import { type ServiceKind } from '../../src/offers/service-kind.ts'

const hexOf = (bytes: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((drawn) => Buffer.from(drawn).toString('hex'))

export const signatures = hexOf(64) as fc.Arbitrary<Signature>

interface Fields {
  readonly id: fc.Arbitrary<string>
  readonly text: fc.Arbitrary<string>
  readonly amount: fc.Arbitrary<U64>
  readonly maxItems: number
}

const wideFields: Fields = {
  id: hexOf(32),
  text: fc.string({ unit: 'binary' }),
  amount: fc.bigInt({ min: 0n, max: U64_MAX }) as fc.Arbitrary<U64>,
  maxItems: 8,
}

const narrowFields: Fields = {
  id: fc.constantFrom('00'.repeat(32), '01'.repeat(32)),
  text: fc.string({ unit: fc.constantFrom('a', '\u0000', '\u0001', '\u0004'), maxLength: 3 }),
  amount: fc.constantFrom(0n, 1n, 256n) as fc.Arbitrary<U64>,
  maxItems: 3,
}

const kinds = fc.constantFrom<CapacityKind>('CloudApiQuota', 'LocalHardware')

function bodiesOf({ id, text, amount, maxItems }: Fields) {
  const holder = id as fc.Arbitrary<HolderId>
  const hash = id as fc.Arbitrary<Hash>
  const service: fc.Arbitrary<ServiceKind> = fc.oneof(
    fc.constantFrom<ServiceKind>('CodeGeneration', 'SecurityReview', 'SafetyCheck', 'TextGeneration'),
    text.map((name) => ({ Custom: name })),
    fc.constantFrom('SafetyCheck', 'safety_check', '').map((name) => ({ Custom: name })),
  )
  const offer: fc.Arbitrary<CapacityOffer> = fc.record({
    holder,
    kind: kinds,
    models: fc.array(text, { maxLength: maxItems }),
    units: amount,
    minPrice: amount,
    currency: text,
    issuedAt: amount,
    expiresAt: amount,
    services: fc.array(service, { maxLength: maxItems }),
  })
  const bid: fc.Arbitrary<CapacityBid> = fc.record({
    bidder: holder,
    kind: kinds,
    model: text,
    units: amount,
    totalPrice: amount,
    issuedAt: amount,
    expiresAt: amount,
    termsAck: hash,
    service: fc.option(service, { nil: undefined }),
  })
  const receipt: fc.Arbitrary<UsageReceipt> = fc.record({
    provider: holder,
    consumer: holder,
    kind: kinds,
    model: text,
    unitsConsumed: amount,
    matchRef: hash,
    issuedAt: amount,
    requestHash: hash,
    responseHash: hash,
  })
  const acceptance: fc.Arbitrary<Acceptance> = fc.record({
    accepter: holder,
    proposer: holder,
    decision: fc.constantFrom('accept', 'reject', 'counter'),
    proposalHash: hash,
    requiresResponseBy: amount,
  })
  return { service, offer, bid, receipt, acceptance }
}

export const wide = bodiesOf(wideFields)
export const narrow = bodiesOf(narrowFields)

/** Two bodies that differ in some members, in one, or in none. */
export function neighbours<Body extends object>(bodies: fc.Arbitrary<Body>): fc.Arbitrary<readonly [Body, Body]> {
  return fc.tuple(bodies, bodies, fc.nat({ max: 0x1ff })).map(([left, other, taken]) => {
    const members = Object.entries(left).map(([key, value], index): [string, unknown] => {
      return [key, (taken >> index) % 2 === 1 ? other[key as keyof Body] : value]
    })
    return [left, Object.fromEntries(members) as Body]
  })
}
