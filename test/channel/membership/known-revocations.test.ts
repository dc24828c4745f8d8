import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONFIRMED_FOR_MS, KnownRevocations } from '../../../src/channel/membership/known-revocations.ts'
import { type RevocationList, sealRevocations } from '../../../src/channel/membership/revocations.ts'
import { type Verified } from '../../../src/core/artefact.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { u64 } from '../../../src/core/u64.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { OPERATOR, secretOf } from './signed-wire.ts'

const CHANNEL = 'ab'.repeat(32) as ChannelId
const [A, B] = ['0a'.repeat(32), '0b'.repeat(32)] as [HolderId, HolderId]

function list(sequence: number, removed: readonly HolderId[], changes: Partial<RevocationList> = {}) {
  return sealRevocations(
    { channel: CHANNEL, sequence: u64(sequence), issuedAt: u64(0), removed, ...changes },
    OPERATOR.secret,
  )
}

function knowing(): { readonly known: KnownRevocations; readonly clock: FakeClock } {
  const clock = new FakeClock()
  return { known: new KnownRevocations({ operator: OPERATOR.id, channel: CHANNEL, clock }), clock }
}

describe('what a member knows of removals', () => {
  it('is nothing at first', () => {
    const { known } = knowing()
    expect([known.newest, known.sequence, known.isRevoked(A)]).toEqual([undefined, 0n, false])
  })

  it('is the list with the highest sequence, in whatever order lists come', () => {
    const lists = [list(1, [A]), list(2, [A, B]), list(3, [B])]
    fc.assert(
      fc.property(fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }), (order) => {
        const { known } = knowing()
        let highest = 0n
        for (const index of order) {
          const sealed = lists[index] as Verified<RevocationList>
          expect(known.learn(sealed)).toBe(sealed.body.sequence > highest)
          if (sealed.body.sequence > highest) highest = sealed.body.sequence
          expect(known.sequence).toBe(highest)
        }
        const newest = lists[Number(highest) - 1]?.body.removed ?? []
        expect([A, B].filter(known.isRevoked)).toEqual(newest)
      }),
    )
  })

  it('is told to whoever listens, when it is news and not after', () => {
    const { known } = knowing()
    const told: bigint[] = []
    const forget = known.onNewer(({ body }) => told.push(body.sequence))
    known.learn(list(2, [A]))
    known.learn(list(1, []))
    known.learn(list(2, [B]))
    forget()
    known.learn(list(3, []))
    expect(told).toEqual([2n])
  })

  it('is not changed by a list of another channel, nor by one that the operator did not sign', () => {
    const { known } = knowing()
    known.learn(list(1, [A]))
    expect(known.learn(list(9, [B], { channel: 'cd'.repeat(32) as ChannelId }))).toBe(false)
    const forged = sealRevocations(
      { channel: CHANNEL, sequence: u64(9), issuedAt: u64(0), removed: [B] },
      secretOf('02'.repeat(32)),
    )
    expect(() => known.learn(forged)).toThrow(expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }))
    expect([A, B].filter(known.isRevoked)).toEqual([A])
  })

  it('is stale when nobody was heard for an hour who would know better, and only where somebody was ever removed', () => {
    const { known, clock } = knowing()
    clock.advance(2 * CONFIRMED_FOR_MS)
    expect(known.isStale()).toBe(false)
    known.confirm()
    known.learn(list(1, []))
    clock.advance(CONFIRMED_FOR_MS - 1)
    expect(known.isStale()).toBe(false)
    clock.advance(1)
    expect(known.isStale()).toBe(true)
    known.confirm()
    expect(known.isStale()).toBe(false)
  })

  it('is never stale where the operator itself can be asked', () => {
    const { known, clock } = knowing()
    known.learn(list(1, []))
    known.confirmForGood()
    known.confirm()
    clock.advance(2 * CONFIRMED_FOR_MS)
    expect(known.isStale()).toBe(false)
  })
})
