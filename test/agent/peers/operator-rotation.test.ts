import { describe, expect, it } from 'vitest'
import { MEMBERSHIP_METHOD, membershipJson } from '../../../src/agent/members/membership-document.ts'
import { memberWay } from '../../../src/agent/peers/member-way.ts'
import { Membership, renewalDue } from '../../../src/agent/peers/membership.ts'
import { type MemberPeer } from '../../../src/agent/peers/peer.ts'
import { PeerStore } from '../../../src/agent/peers/peer-store.ts'
import { keepRenewed } from '../../../src/agent/peers/renewing.ts'
import { type SignedSuccession } from '../../../src/channel/membership/index.ts'
import { generateInstanceId, noiseKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'
import { temporaryFolder } from '../artefact-files.ts'
import { documentOf, memberPeer, NEXT_OPERATOR, NOW, named, SELF, succession } from './peers.ts'

const BOB = named('bob')
const LATER = u64(NOW + 20_000n)
const BY_NEXT = { ...documentOf(LATER, { operator: NEXT_OPERATOR.secret }), successions: [succession()] }
const CALLER = {
  holder: SELF,
  noise: noiseKey(SecretKey.generate()),
  run: generateInstanceId(),
  agent: 'test/0',
  mode: 'call',
  limits: { messageBytes: 1_048_576, inFlight: 64, idleSeconds: 0 },
} as const

function kept(peer: MemberPeer = memberPeer()) {
  const store = new PeerStore(temporaryFolder())
  store.add(BOB, peer)
  return { store, membership: new Membership(store, BOB, peer), file: () => store.find(BOB) as MemberPeer }
}

describe('a membership whose operator changes its key', () => {
  it('is renewed by the new key that the old one handed over to, and remembers that', () => {
    const { membership, file } = kept()
    membership.renew(BY_NEXT, NOW)
    expect(file()).toMatchObject({ grant: BY_NEXT.grant, successions: [succession()] })
    const again = documentOf(u64(NOW + 30_000n), { operator: NEXT_OPERATOR.secret })
    membership.renew(again, u64(NOW + 6_000n))
    expect(file()).toMatchObject({ grant: again.grant, successions: [succession()] })
  })

  it('is not renewed by a key that nobody handed over to, nor by the old one after the overlap', () => {
    const { membership } = kept()
    const { successions: _, ...unexplained } = BY_NEXT
    const refused = expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' })
    expect(() => membership.renew(unexplained, NOW)).toThrow(refused)
    const forged = { ...succession(), oldSignature: succession().newSignature }
    expect(() => membership.renew({ ...BY_NEXT, successions: [forged] }, NOW)).toThrow(refused)
    membership.follow([succession()], NOW)
    membership.renew(documentOf(LATER), u64(NOW + 4_999n))
    expect(() => membership.renew(documentOf(LATER), u64(NOW + 5_000n))).toThrow(refused)
  })

  it('is to be renewed at once when its grant is one of the earlier key', () => {
    const { membership } = kept()
    expect(renewalDue(membership.peer)).toBeGreaterThan(NOW)
    membership.follow([succession()], NOW)
    expect(renewalDue(membership.peer)).toBe(NOW)
    membership.renew(BY_NEXT, NOW)
    expect(renewalDue(membership.peer)).toBeGreaterThan(NOW)
  })

  it('shows what it knows, and says that it is over when it was away for the whole overlap', () => {
    const { membership } = kept(memberPeer({ successions: [succession()] }))
    const way = memberWay(membership, CALLER, u64(NOW + 4_999n))
    expect(way.self.successions).toEqual([succession()])
    expect(() => memberWay(membership, CALLER, u64(NOW + 5_000n))).toThrow(
      expect.objectContaining({ code: 'ERR_GRANT_EXPIRED', message: expect.stringMatching(/a new invitation$/) }),
    )
    membership.renew(BY_NEXT, NOW)
    expect(memberWay(membership, CALLER, u64(NOW + 5_000n)).holder).toBe(membership.peer.holder)
  })
})

describe('a caller that is shown another key of the operator', () => {
  function calling() {
    const clock = new (class extends FakeClock {
      override now(): number {
        return Number(NOW) * 1_000 + super.now()
      }
    })()
    const { membership, file } = kept()
    const asked: string[] = []
    let shown: readonly SignedSuccession[] = []
    const caller = {
      call: (method: string) => {
        asked.push(method)
        return Promise.resolve({ text: '', result: membershipJson(BY_NEXT) })
      },
    }
    const renewing = keepRenewed(caller, membership, { clock, log: silentLog, shown: () => shown })
    const shows = (): void => {
      shown = [succession()]
    }
    return { clock, file, asked, renewing, shows }
  }

  it('keeps that at its end, for its next run', async () => {
    const { renewing, shows, file, asked } = calling()
    shows()
    await renewing.stop()
    expect([file().successions, asked]).toEqual([[succession()], []])
  })

  it('asks for a grant of that key when it looks the next time', async () => {
    const { renewing, shows, file, asked, clock } = calling()
    shows()
    clock.advance(900_000)
    expect(asked).toEqual([MEMBERSHIP_METHOD])
    await new Promise((resolve) => setImmediate(resolve))
    expect(file().grant).toEqual(BY_NEXT.grant)
    await renewing.stop()
  })
})
