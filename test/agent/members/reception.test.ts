import { describe, expect, it } from 'vitest'
import { MEMBERSHIP_METHOD } from '../../../src/agent/members/membership-document.ts'
import { limitsOf, Reception } from '../../../src/agent/members/reception.ts'
import { removeHolder, renewMember } from '../../../src/agent/members/removing.ts'
import { revokedKeys } from '../../../src/agent/members/revoked.ts'
import { type Roster } from '../../../src/agent/members/roster.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { type U64, u64 } from '../../../src/core/u64.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { recordingLog } from '../../mcp/serve.ts'
import { CHANNEL, DAY, emptyRoster, invited, joins, KEYS, NOW, someone, stateDir } from './rosters.ts'

const FAULT = new CtError('ERR_STATE_UNAVAILABLE', 'the disk is gone')
const LOOK_MS = 250

interface WorldOptions {
  readonly bearer?: HolderId
  readonly grantSeconds?: U64
}

async function world({ bearer, grantSeconds = DAY }: WorldOptions = {}) {
  const folder = stateDir()
  const [roster, elsewhere] = [await emptyRoster(folder), await emptyRoster(folder)]
  const clock = new FakeClock()
  clock.advance(Number(NOW) * 1_000)
  const { log, lines } = recordingLog()
  let isBroken = false
  const unlessBroken = <Result>(work: () => Result): Result => {
    if (isBroken) throw FAULT
    return work()
  }
  let next: (() => void) | undefined
  const flaky: Roster = {
    ...roster,
    read: (work) => {
      const result = unlessBroken(() => roster.read(work))
      const happens = next
      next = undefined
      happens?.()
      return result
    },
  }
  const reception = new Reception({
    roster: flaky,
    operator: KEYS,
    channel: CHANNEL,
    bearer,
    grantSeconds,
    clock,
    log,
  })
  const breaks = (broken: boolean): void => {
    isBroken = broken
  }
  /** Once, between what is read and what is written. */
  const afterRead = (happens: () => void): void => {
    next = happens
  }
  return { roster, elsewhere, clock, lines, reception, breaks, afterRead }
}

describe('a reception whose file cannot be read', () => {
  it('admits nobody, and tells nobody that it was removed', async () => {
    const { roster, reception, breaks, lines } = await world()
    const { holder } = joins(roster, invited(roster))
    expect(reception.refusal({ chain: [holder] })).toBeUndefined()
    breaks(true)
    expect(reception.isRemoved(holder)).toBe(false)
    const refusal = reception.refusal({ chain: [holder] })
    expect(refusal).toMatchObject({ code: 'ERR_PEER_BUSY', detail: { retryAfterMs: expect.any(Number) } })
    expect(refusal?.message).not.toContain(FAULT.message)
    expect(lines.map(({ event }) => event)).toEqual(['members.unavailable', 'members.unavailable'])
    expect(() => reception.standingNow({ chain: [holder] })).toThrow(FAULT)
  })
})

describe('watch', () => {
  it('tells of each change of another process once, and of none of its own', async () => {
    const { roster, elsewhere, clock, reception } = await world()
    let told = 0
    const stop = reception.watch(() => {
      told += 1
    })
    const remove = (where: Roster) =>
      where.update((page) => page.remove({ holder: someone(), removedAt: NOW, endsAt: NOW }))
    remove(roster)
    clock.advance(LOOK_MS * 4)
    expect(told).toBe(0)
    remove(elsewhere)
    remove(elsewhere)
    clock.advance(LOOK_MS)
    expect(told).toBe(1)
    clock.advance(LOOK_MS * 4)
    expect(told).toBe(1)
    stop()
    remove(elsewhere)
    clock.advance(LOOK_MS * 4)
    expect([told, clock.timers]).toEqual([1, 0])
  })

  it('tells again of a change that could not be dealt with', async () => {
    const { elsewhere, clock, reception, lines } = await world()
    const outcomes = [FAULT, FAULT, undefined]
    let told = 0
    reception.watch(() => {
      told += 1
      const outcome = outcomes.shift()
      if (outcome !== undefined) throw outcome
    })
    elsewhere.update((page) => page.remove({ holder: someone(), removedAt: NOW, endsAt: NOW }))
    clock.advance(LOOK_MS * 8)
    expect([told, lines.length]).toEqual([3, 2])
  })
})

describe('the membership of a member', () => {
  it('has the same grant until half of its time is over, then a new one, and a fresh staple always', async () => {
    const { roster, reception, clock } = await world()
    const { holder } = joins(roster, invited(roster))
    const ask = () => reception.documentOf(holder)
    const first = ask()
    clock.advance((Number(DAY) / 2 - 1) * 1_000)
    const second = ask()
    expect(second.grant).toEqual(first.grant)
    expect(second.staple.body.stapledAt).toBe(u64(NOW + DAY / 2n - 1n))
    clock.advance(1_000)
    const third = ask()
    expect(third.grant.body.expiresAt).toBe(u64(NOW + DAY / 2n + DAY))
    expect(ask().grant).toEqual(third.grant)
  })

  it('is not given to who was removed while its session was up', async () => {
    const { roster, reception } = await world()
    const member = joins(roster, invited(roster))
    const { methods } = reception.welcome({ kind: 'member', member }, 'rw', () => {})
    const ask = () => methods.get(MEMBERSHIP_METHOD)?.({}, undefined as never)
    expect(ask()).toMatchObject({ name: member.name })
    roster.update((page) => page.remove({ holder: member.holder, removedAt: NOW, endsAt: NOW }))
    expect(ask).toThrow(expect.objectContaining({ code: 'ERR_MEMBER_REMOVED' }))
  })
})

describe('a membership that another process changes between the question and the answer', () => {
  const due = (Number(DAY) / 2) * 1_000
  const change: Record<string, (elsewhere: Roster, holder: HolderId) => void> = {
    removed: (elsewhere, holder) =>
      elsewhere.update((page) => page.remove({ holder, removedAt: NOW, endsAt: u64(NOW + DAY) })),
    forgotten: (elsewhere, holder) =>
      elsewhere.update((page) => {
        page.remove({ holder, removedAt: NOW, endsAt: NOW })
        page.makeRoom()
        page.forgive(holder, NOW)
      }),
  }
  for (const [name, changed] of Object.entries(change)) {
    it(`is not renewed when the member was ${name}`, async () => {
      const { roster, elsewhere, reception, clock, afterRead } = await world()
      const { holder } = joins(roster, invited(roster))
      clock.advance(due)
      afterRead(() => changed(elsewhere, holder))
      expect(() => reception.documentOf(holder)).toThrow(expect.objectContaining({ code: 'ERR_MEMBER_REMOVED' }))
      expect(roster.read((page) => page.member(holder))?.grantEnds).not.toBe(u64(NOW + DAY / 2n + DAY))
    })
  }

  it('has the rights and the name that it was given meanwhile, and the grant of that time', async () => {
    const { roster, elsewhere, reception, clock, afterRead } = await world()
    const member = joins(roster, invited(roster))
    clock.advance(due)
    const now = u64(NOW + DAY / 2n)
    const found = { holder: member.holder, member }
    afterRead(() =>
      elsewhere.update((page) =>
        renewMember(page, found, { rights: 'r', name: 'carol' }, { now, grantSeconds: u64(3n * DAY) }),
      ),
    )
    const { grant, name } = reception.documentOf(member.holder)
    expect([grant.body.rights, name, grant.body.expiresAt]).toEqual(['r', 'carol', u64(now + 3n * DAY)])
  })
})

describe('a grant that is renewed for a shorter time than the one before', () => {
  it('does not shorten how long a removal has to be remembered', async () => {
    const { roster, reception, clock } = await world({ grantSeconds: u64(60) })
    const { holder } = joins(roster, invited(roster, { seconds: u64(10) }))
    clock.advance((Number(DAY) / 2) * 1_000)
    reception.documentOf(holder)
    const now = u64(NOW + DAY / 2n)
    roster.update((page) => removeHolder(page, { holder, member: page.member(holder) }, now))
    expect(roster.read((page) => revokedKeys(page, u64(NOW + DAY - 1n)))).toContain(holder)
    expect(roster.read((page) => revokedKeys(page, u64(NOW + DAY)))).not.toContain(holder)
  })
})

describe('limitsOf', () => {
  it('takes what the roster says of a member for more than its grant', async () => {
    const { roster } = await world()
    const member = joins(roster, invited(roster, { rights: 'r', tools: ['a'] }))
    expect(limitsOf({ kind: 'member', member }, 'rw')).toMatchObject({ rights: 'r', allowedTools: new Set(['a']) })
    expect(limitsOf({ kind: 'bearer' }, 'w')).toMatchObject({ rights: 'w', allowedTools: undefined })
  })
})
