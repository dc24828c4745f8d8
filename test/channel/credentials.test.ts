import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Credentials,
  checkCredentials,
  type Membership,
  type MembershipRule,
  type ProvenMember,
} from '../../src/channel/membership/credentials.ts'
import { decodeGrant, encodeGrant } from '../../src/channel/membership/grant.ts'
import { type Direction, type Rights } from '../../src/channel/membership/permission.ts'
import { sealStaple } from '../../src/channel/membership/staple.ts'
import { CtError, isCtError } from '../../src/core/errors.ts'
import { type NoiseKeyId, type Signature } from '../../src/core/ids.ts'
import { holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import {
  ALICE,
  attest,
  BAD_CREDENTIALS,
  BOB,
  chainOf,
  credentialsOf,
  type Keys,
  type Link,
  MALFORMED,
  OPERATOR,
  OTHER_CHANNEL,
  TRUST,
} from './test-channel.ts'

const NOW = u64(1_900_000_000)
const SELF: Keys = {
  holder: holderKey(new SecretKey(new Uint8Array(32).fill(2))),
  noise: noiseKey(new SecretKey(new Uint8Array(32).fill(3))),
}
const EPHEMERAL = 'ee'.repeat(32) as NoiseKeyId
const PROVEN: ProvenMember = { holder: SELF.holder.id, noiseKeys: new Set([EPHEMERAL, SELF.noise.id]) }
const RULE: MembershipRule = { ...TRUST, side: 'initiate', now: NOW }
const SIDES = ['initiate', 'accept'] as const

function verdict(credentials: Credentials, rule: Partial<MembershipRule> = {}, proven = PROVEN): Membership | CtError {
  return checkCredentials(credentials, proven, { ...RULE, ...rule })
}

/** What these grants make of their last holder. */
function throughChain(...links: readonly Link[]): Membership | CtError {
  return verdict(credentialsOf(SELF, chainOf(...links)))
}

describe('credentials', () => {
  for (const side of SIDES) {
    for (const direction of [side, 'both'] as const) {
      it(`with a grant for ${direction} admit to ${side}`, () => {
        const credentials = credentialsOf(SELF, chainOf({ holder: SELF.holder, direction }))
        expect(verdict(credentials, { side })).toEqual({ rights: 'rw', expiresAt: U64_MAX, chain: [SELF.holder.id] })
      })
    }

    for (const { name, make, code, category } of [...BAD_CREDENTIALS, ...MALFORMED]) {
      it(`do not admit to ${side} with ${name}`, () => {
        const refused = verdict(make(SELF, side, NOW), { side })
        expect(refused).toMatchObject({ code, detail: { category } })
      })
    }
  }

  it('hold through the last second before the grant expires', () => {
    const credentials = credentialsOf(SELF, chainOf({ holder: SELF.holder, expiresAt: u64(NOW + 1n) }))
    expect(verdict(credentials)).toMatchObject({ rights: 'rw', expiresAt: NOW + 1n })
    expect(verdict(credentials, { now: u64(NOW + 1n) })).toMatchObject({ code: 'ERR_GRANT_EXPIRED' })
  })

  it('say that an attestation in the legacy form is one', () => {
    const attestation = attest(SELF.holder, SELF.noise.id, { form: 'bare' })
    expect(verdict({ ...credentialsOf(SELF), attestation })).toMatchObject({ message: /legacy form/ })
  })

  it('are nothing without a Noise key that was proven', () => {
    const unproven = { ...PROVEN, noiseKeys: new Set([EPHEMERAL]) }
    for (const proven of [unproven, { ...PROVEN, noiseKeys: new Set<NoiseKeyId>() }]) {
      expect(verdict(credentialsOf(SELF), {}, proven)).toMatchObject({ detail: { category: 'possession' } })
    }
  })

  describe('where a staple is needed', () => {
    const SELF_MEMBER = { channel: TRUST.channel, holder: SELF.holder.id }
    const stapled = (staple: Credentials['staple']): Membership | CtError =>
      verdict({ ...credentialsOf(SELF), ...(staple === undefined ? {} : { staple }) }, { needsStaple: true })
    const good = sealStaple(SELF_MEMBER, OPERATOR.secret, u64(NOW - 3_599n))

    it('admit with one that holds', () => {
      expect(stapled(good)).toMatchObject({ rights: 'rw' })
    })

    for (const [name, staple] of [
      ['none', undefined],
      ['one that is over', sealStaple(SELF_MEMBER, OPERATOR.secret, u64(NOW - 3_600n))],
      ['one from the future', sealStaple(SELF_MEMBER, OPERATOR.secret, u64(NOW + 61n))],
      ['one of another operator', sealStaple(SELF_MEMBER, ALICE.secret, NOW)],
      ['one of another member', sealStaple({ ...SELF_MEMBER, holder: BOB.id }, OPERATOR.secret, NOW)],
      ['one of another channel', sealStaple({ ...SELF_MEMBER, channel: OTHER_CHANNEL }, OPERATOR.secret, NOW)],
    ] as const) {
      it(`do not admit with ${name}, for now`, () => {
        expect(stapled(staple)).toMatchObject({
          code: 'ERR_MEMBERSHIP_STALE',
          facts: { retryable: true },
          detail: { category: 'not-member', retryAfterMs: expect.any(Number) },
        })
      })
    }

    it('do not admit one who was removed, whatever it shows', () => {
      const rule = { needsStaple: true, isRevoked: () => true }
      expect(verdict({ ...credentialsOf(SELF), staple: good }, rule)).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
    })
  })

  it('are nothing under another operator', () => {
    expect(verdict(credentialsOf(SELF), { operator: ALICE.id })).toMatchObject({ detail: { category: 'grant-verify' } })
  })

  it('rest on everybody in the chain: who removes one removes those behind, and no one else', () => {
    const credentials = credentialsOf(SELF, chainOf({ holder: ALICE }, { holder: BOB }, { holder: SELF.holder }))
    for (const removed of [ALICE.id, BOB.id, SELF.holder.id]) {
      const refused = verdict(credentials, { isRevoked: (holder) => holder === removed })
      expect(refused).toMatchObject({ code: 'ERR_MEMBER_REMOVED', detail: { category: 'not-member' } })
    }
    const chain = [ALICE.id, BOB.id, SELF.holder.id]
    expect(verdict(credentials, { isRevoked: (holder) => !chain.includes(holder) })).toMatchObject({ chain })
  })

  it('do not ask who was removed before the grant is known to be the operator’s', () => {
    const forged = credentialsOf(SELF, chainOf({ holder: SELF.holder, signer: BOB }))
    const isRevoked = (): boolean => {
      throw new Error('expected not to be asked')
    }
    expect(verdict(forged, { isRevoked })).toMatchObject({ code: 'ERR_GRANT_INVALID' })
  })

  it('admit exactly when no link allows what the one before it does not', () => {
    const link = fc.record({
      direction: fc.constantFrom<Direction>('initiate', 'accept', 'both', 'both'),
      rights: fc.constantFrom<Rights>('r', 'w', 'rw', 'rw'),
      delegable: fc.constantFrom(true, true, true, false),
      expiresAt: fc.integer({ min: 0, max: 4 }).map((left) => u64(NOW + BigInt(left))),
    })
    const covers = (wide: string, narrow: string): boolean => [...narrow].every((part) => wide.includes(part))
    const sides: Readonly<Record<Direction, string>> = { initiate: 'i', accept: 'a', both: 'ia' }
    let admitted = 0
    fc.assert(
      fc.property(fc.array(link, { minLength: 1, maxLength: 3 }), (links) => {
        const holders = [...[ALICE, BOB].slice(0, links.length - 1), SELF.holder]
        const found = throughChain(...links.map((one, at) => ({ ...one, holder: holders[at] ?? SELF.holder })))
        const narrows = links.every((one, at) => {
          const before = links[at - 1]
          return (
            one.expiresAt > NOW &&
            (before === undefined ||
              (before.delegable &&
                covers(sides[before.direction], sides[one.direction]) &&
                covers(before.rights, one.rights) &&
                one.expiresAt <= before.expiresAt))
          )
        })
        const last = links.at(-1)
        const fits = narrows && last !== undefined && covers(sides[last.direction], 'i')
        if (fits) {
          admitted += 1
          expect(found).toMatchObject({ rights: last.rights, expiresAt: last.expiresAt })
        } else {
          expect(found).toBeInstanceOf(CtError)
        }
      }),
      { numRuns: 300 },
    )
    expect(admitted).toBeGreaterThan(10)
  })

  it('are refused with any one byte changed', () => {
    const credentials = credentialsOf(
      SELF,
      chainOf(
        { holder: ALICE, expiresAt: u64(NOW + 9n) },
        { holder: SELF.holder, direction: 'initiate', rights: 'r', expiresAt: u64(NOW + 5n) },
      ),
    )
    const wire = Buffer.concat([...credentials.grants.map(encodeGrant), Buffer.from(credentials.attestation, 'hex')])
    const read = (bytes: Uint8Array): Credentials => ({
      grants: [decodeGrant(bytes.subarray(0, 139)), decodeGrant(bytes.subarray(139, 278))],
      attestation: Buffer.from(bytes.subarray(278)).toString('hex') as Signature,
    })
    expect(verdict(read(wire))).toMatchObject({ rights: 'r' })
    fc.assert(
      fc.property(fc.nat(wire.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Uint8Array.from(wire)
        changed[at] = (changed[at] ?? 0) ^ change
        try {
          expect(verdict(read(changed))).toBeInstanceOf(CtError)
        } catch (error) {
          if (!isCtError(error, 'ERR_ARTEFACT_INVALID')) throw error
        }
      }),
      { numRuns: 300 },
    )
  })
})
