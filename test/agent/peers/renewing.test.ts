import { describe, expect, it } from 'vitest'
import { MEMBERSHIP_METHOD, membershipJson } from '../../../src/agent/members/membership-document.ts'
import { Membership, renewalDue } from '../../../src/agent/peers/membership.ts'
import { type MemberPeer } from '../../../src/agent/peers/peer.ts'
import { PeerStore } from '../../../src/agent/peers/peer-store.ts'
import { keepRenewed } from '../../../src/agent/peers/renewing.ts'
import { CtError } from '../../../src/core/errors.ts'
import { SecretKey } from '../../../src/core/keys.ts'
import { type UnixSeconds, u64, unixSeconds } from '../../../src/core/u64.ts'
import { type Answer } from '../../../src/mcp/index.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'
import { temporaryFolder } from '../artefact-files.ts'
import { documentOf, memberPeer, NOW, named } from './peers.ts'

const BOB = named('bob')
const EXPIRED = new CtError('ERR_GRANT_EXPIRED', 'it ended')
const LIFE = 10_000n

class Start extends FakeClock {
  override now(): number {
    return Number(NOW) * 1_000 + super.now()
  }
}

/** A member whose serving side answers as told. */
function setUp(peer: MemberPeer = memberPeer()) {
  const clock = new Start()
  const store = new PeerStore(temporaryFolder())
  store.add(BOB, peer)
  const membership = new Membership(store, BOB, peer)
  const asked: string[] = []
  let links = 0
  let answer: () => Promise<Answer> = () =>
    Promise.resolve(answerWith(documentOf(u64(unixSeconds(clock) + LIFE), { now: unixSeconds(clock) })))
  const caller = {
    call: (method: string) => {
      asked.push(method)
      return answer()
    },
    renewLink: () => {
      links += 1
      return Promise.resolve()
    },
  }
  return {
    clock,
    store,
    membership,
    asked,
    links: () => links,
    start: () => keepRenewed(caller, membership, { clock, log: silentLog }),
    answers: (next: () => Promise<Answer>) => {
      answer = next
    },
    /** Lets answers arrive. */
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    kept: () => store.find(BOB) as MemberPeer,
    advance: (seconds: bigint) => clock.advance(Number(seconds) * 1_000),
  }
}

function answerWith(document: Parameters<typeof membershipJson>[0]): Answer {
  return { text: '', result: membershipJson(document) }
}

describe('renewalDue', () => {
  const cases: readonly (readonly [string, Partial<MemberPeer>, bigint])[] = [
    ['half of the life of the staple', {}, 1_800n],
    ['half of the life of the grant, where that is shorter', documentOf(u64(NOW + 600n)), 300n],
    [
      'half of what the grant had left when it came',
      { ...documentOf(u64(NOW + 1_000n)), renewedAt: u64(NOW + 400n) },
      700n,
    ],
    ['at once where the grant had ended by this clock', documentOf(u64(NOW - 1n)), 0n],
    [
      'half of the life of the staple, by whatever clock',
      documentOf(u64(NOW + LIFE), { now: u64(NOW + 600n) }),
      1_800n,
    ],
  ]
  for (const [name, more, after] of cases) {
    it(`is ${name}`, () => {
      const { grant, staple, renewedAt = NOW } = { ...memberPeer(), ...more }
      expect(renewalDue(memberPeer({ grant, staple, renewedAt })) - NOW).toBe(after)
    })
  }
})

describe('keepRenewed', () => {
  it('asks nothing before it is time, then keeps what comes, and again', async () => {
    const { start, asked, settle, advance, kept, clock, membership } = setUp()
    const renewing = start()
    advance(1_799n)
    expect(asked).toEqual([])
    advance(1n)
    expect(asked).toEqual([MEMBERSHIP_METHOD])
    await settle()
    expect(kept().grant.body.expiresAt).toBe(NOW + 1_800n + LIFE)
    expect(kept().renewedAt).toBe(NOW + 1_800n)
    expect(membership.peer).toEqual(kept())
    advance(1_800n)
    expect(asked).toHaveLength(2)
    await settle()
    await renewing.stop()
    expect(clock.timers).toBe(0)
  })

  it('asks at once where it is time, and its end waits for the answer only a moment', async () => {
    const late = memberPeer({ renewedAt: u64(NOW - 2_000n) })
    const { start, asked, answers, advance, clock } = setUp(late)
    answers(() => new Promise(() => {}))
    const renewing = start()
    expect(asked).toHaveLength(1)
    const stopped = renewing.stop()
    advance(1n)
    await stopped
    expect(clock.timers).toBe(0)
  })

  it('tries again after a minute when nothing came of it, and loses nothing', async () => {
    const late = memberPeer({ renewedAt: u64(NOW - 2_000n) })
    const { start, asked, answers, advance, settle, kept } = setUp(late)
    answers(() => Promise.reject(new CtError('ERR_LINK_LOST', 'gone')))
    const renewing = start()
    await settle()
    advance(59n)
    expect(asked).toHaveLength(1)
    answers(() => Promise.resolve(answerWith(documentOf(u64(NOW + LIFE), { operator: SecretKey.generate() }))))
    advance(1n)
    await settle()
    expect(asked).toHaveLength(2)
    expect(kept()).toEqual(late)
    await renewing.stop()
  })

  it('takes what another process renewed instead of asking', async () => {
    const { start, asked, store, advance, membership } = setUp()
    const renewing = start()
    const { grant, staple } = documentOf(u64(NOW + 20_000n))
    const renewed = memberPeer({ grant, staple, renewedAt: u64(NOW + 1_000n) })
    store.change(BOB, () => renewed)
    advance(1_800n)
    expect(asked).toEqual([])
    expect(membership.peer).toEqual(renewed)
    await renewing.stop()
  })
})

describe('a link that a grant ends', () => {
  it('goes over to the next grant before that, once', async () => {
    const { grant, staple } = documentOf(u64(NOW + 1_000n))
    const { start, asked, links, settle, advance } = setUp(memberPeer({ grant, staple }))
    const renewing = start()
    advance(500n)
    await settle()
    advance(249n)
    expect([asked.length, links()]).toEqual([1, 0])
    advance(1n)
    await settle()
    expect(links()).toBe(1)
    advance(600n)
    await settle()
    expect(links()).toBe(1)
    await renewing.stop()
  })

  it('goes over an hour before, where the grant holds for long', async () => {
    const life = 86_400n
    const { grant, staple } = documentOf(u64(NOW + life))
    const { start, answers, links, settle, clock } = setUp(memberPeer({ grant, staple }))
    const next = answerWith(documentOf(u64(NOW + 2n * life)))
    answers(() => Promise.resolve(next))
    const renewing = start()
    const step = 900n
    for (let at = 0n; at < life - 3_600n; at += step) {
      expect(links()).toBe(0)
      clock.advance(Number(step) * 1_000)
      await settle()
    }
    // A question may have been due at the same moment.
    clock.advance(1)
    await settle()
    expect(links()).toBe(1)
    await renewing.stop()
  })

  it('stays where it is while there is no newer grant', async () => {
    const { grant, staple } = documentOf(u64(NOW + 1_000n))
    const { start, answers, links, settle, advance } = setUp(memberPeer({ grant, staple }))
    answers(() => Promise.reject(new CtError('ERR_LINK_LOST', 'gone')))
    const renewing = start()
    for (let minute = 0; minute < 20; minute += 1) {
      advance(60n)
      await settle()
    }
    expect(links()).toBe(0)
    await renewing.stop()
  })
})

describe('a membership', () => {
  const end = (seconds: bigint): UnixSeconds => u64(NOW + seconds)

  it('is not brought back when it was forgotten, and is good on in this process', () => {
    const { store, membership } = setUp()
    store.forget(BOB)
    membership.renew(documentOf(end(99n)), NOW)
    membership.proved({ host: '203.0.113.9', port: 1 })
    expect(store.list().peers).toEqual([])
    expect(membership.peer.grant.body.expiresAt).toBe(end(99n))
  })

  it('shows the newest grant with its staple at every session', () => {
    const { membership } = setUp()
    const keys = {
      holder: { id: membership.peer.grant.body.holder, secret: SecretKey.generate() },
      noise: { id: 'ab'.repeat(32) as never, secret: SecretKey.generate() },
    }
    const credentials = membership.credentials(keys)
    const next = documentOf(end(99n))
    membership.renew(next, NOW)
    expect(credentials()).toMatchObject({ grants: [next.grant], staple: next.staple })
  })

  it('is worth one more try after its end for each grant that came meanwhile', () => {
    const { membership } = setUp()
    expect(membership.mayRetry(EXPIRED)).toBe(false)
    membership.renew(documentOf(end(99n)), NOW)
    expect(membership.mayRetry(new CtError('ERR_MEMBER_REMOVED', 'out'))).toBe(false)
    expect([membership.mayRetry(EXPIRED), membership.mayRetry(EXPIRED)]).toEqual([true, false])
    membership.renew(documentOf(end(199n)), NOW)
    expect(membership.mayRetry(EXPIRED)).toBe(true)
  })

  it('leaves alone what has taken its name meanwhile', () => {
    const { store, membership } = setUp()
    store.forget(BOB)
    const other = memberPeer({ holder: 'ee'.repeat(32) as never })
    store.add(BOB, other)
    membership.renew(documentOf(end(99n)), NOW)
    expect(store.find(BOB)).toEqual(other)
  })
})
