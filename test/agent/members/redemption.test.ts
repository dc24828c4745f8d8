import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redeem } from '../../../src/agent/members/redemption.ts'
import { MAX_MEMBERS, type Roster } from '../../../src/agent/members/roster.ts'
import { openRoster } from '../../../src/agent/members/roster-file.ts'
import { isCtError } from '../../../src/core/errors.ts'
import { u64 } from '../../../src/core/u64.ts'
import { DAY, emptyRoster, type Invited, invitation, invited, joins, NOW, someone, stateDir } from './rosters.ts'

const AFTER = u64(NOW + DAY)

describe('redeem', () => {
  it('makes a member of the newcomer, with the terms of its invitation', async () => {
    const roster = await emptyRoster()
    const made = invited(roster, { rights: 'r', tools: ['service/echo'], name: 'alice' })
    const holder = someone()
    const member = joins(roster, made, holder, { wish: 'bob' })
    expect(member).toEqual({
      holder,
      name: 'alice',
      rights: 'r',
      tools: ['service/echo'],
      invitee: made.record.invitee,
      since: NOW,
      grantedAt: NOW,
      grantEnds: AFTER,
    })
    expect(roster.read((page) => page.member(holder))).toEqual(member)
    const { body, signature } = made.record.sealed
    const kept = { ...made.record, sealed: { body, signature }, used: 1 }
    expect(roster.read((page) => page.invitation(made.record.invitee))).toEqual(kept)
  })

  it('calls newcomers what they wish where the invitation says nothing, and no two the same', async () => {
    const roster = await emptyRoster()
    const made = invited(roster, { uses: 4 })
    const holder = someone()
    const wishes = ['Alice B.', 'alice-b', '\u001b[–]', 'ALICE-B!']
    const names = wishes.map((wish, index) => joins(roster, made, index === 2 ? holder : someone(), { wish }).name)
    expect(names).toEqual(['alice-b', 'alice-b-2', `member-${holder.slice(0, 8)}`, 'alice-b-3'])
  })

  const refusals: readonly {
    readonly name: string
    readonly code: string
    readonly arrange: (roster: Roster) => Invited
    readonly now?: typeof NOW
  }[] = [
    { name: 'an invitation that nobody made here', code: 'ERR_INVITATION_INVALID', arrange: () => invitation() },
    {
      name: 'one that was redeemed by another',
      code: 'ERR_INVITATION_USED',
      arrange: (roster) => {
        const made = invited(roster)
        joins(roster, made)
        return made
      },
    },
    {
      name: 'one in the second in which it expires',
      code: 'ERR_INVITATION_EXPIRED',
      arrange: (roster) => invited(roster),
      now: AFTER,
    },
    {
      name: 'one that was taken back',
      code: 'ERR_INVITATION_REVOKED',
      arrange: (roster) => {
        const made = invited(roster)
        roster.update((page) => page.revokeInvitation(made.record.invitee, NOW))
        return made
      },
    },
  ]
  for (const { name, code, arrange, now = NOW } of refusals) {
    it(`refuses ${name}, and changes nothing`, async () => {
      const roster = await emptyRoster()
      const made = arrange(roster)
      const before = roster.read((page) => [page.members(), page.invitations()])
      expect(() => joins(roster, made, someone(), { now })).toThrow(expect.objectContaining({ code }))
      expect(roster.read((page) => [page.members(), page.invitations()])).toEqual(before)
    })
  }

  it('gives who redeems again its membership again, as it is now, without another use', async () => {
    const roster = await emptyRoster()
    const made = invited(roster, { uses: 2 })
    const holder = someone()
    const member = joins(roster, made, holder, { wish: 'alice' })
    const narrowed = { ...member, rights: 'r', name: 'ali' } as const
    roster.update((page) => page.putMember(narrowed))
    expect(joins(roster, made, holder, { wish: 'other', now: u64(NOW + 9n) })).toEqual(narrowed)
    expect(roster.read((page) => page.invitation(made.record.invitee))?.used).toBe(1)
  })

  it('gives a member the terms of another invitation, and leaves it its name', async () => {
    const roster = await emptyRoster()
    const holder = someone()
    joins(roster, invited(roster, { tools: ['a'], name: 'alice' }), holder)
    const wider = invited(roster, { rights: 'r', name: 'somebody' })
    expect(joins(roster, wider, holder)).toMatchObject({ name: 'alice', tools: undefined, rights: 'r' })
    expect(roster.read((page) => page.memberCount())).toBe(1)
  })

  it('lets nobody in again that was removed, not even with another invitation', async () => {
    const roster = await emptyRoster()
    const made = invited(roster)
    const holder = someone()
    joins(roster, made, holder)
    roster.update((page) => page.remove({ holder, removedAt: NOW, endsAt: AFTER }))
    for (const again of [made, invited(roster)]) {
      expect(() => joins(roster, again, holder)).toThrow(expect.objectContaining({ code: 'ERR_MEMBER_REMOVED' }))
    }
  })

  it('makes room for a newcomer at the cost of a removed member, and refuses it when there is none', async () => {
    const roster = await emptyRoster()
    const first = joins(roster, invited(roster))
    roster.update((page) => {
      for (let number = 1; number < MAX_MEMBERS; number += 1) {
        page.putMember({ ...first, holder: someone(), name: `m-${number}` })
      }
    })
    const made = invited(roster)
    expect(() => joins(roster, made)).toThrow(expect.objectContaining({ code: 'ERR_PEER_BUSY' }))
    expect(roster.read((page) => page.invitation(made.record.invitee))?.used).toBe(0)
    roster.update((page) => page.remove({ holder: first.holder, removedAt: NOW, endsAt: AFTER }))
    joins(roster, made)
    expect(roster.read((page) => [page.memberCount(), page.member(first.holder)])).toEqual([MAX_MEMBERS, undefined])
  })
})

/** What one of two processes does next. */
type Step = {
  readonly process: 0 | 1
  readonly holder: number
  /** Dies before its transaction is over, or after that, before anybody hears of it. */
  readonly dies: 'never' | 'before' | 'after'
}

const step: fc.Arbitrary<Step> = fc.record({
  process: fc.constantFrom(0, 1),
  holder: fc.nat(5),
  dies: fc.constantFrom('never', 'never', 'never', 'before', 'after'),
})

describe('an invitation', () => {
  it('is never redeemed by more holders than it has uses, whatever two processes do and whenever they die', async () => {
    const holders = Array.from({ length: 6 }, someone)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 14 }), async (uses, steps) => {
        const folder = stateDir()
        const processes = [await openRoster(folder), await openRoster(folder)]
        const made = invitation({ uses })
        processes[0]?.update((page) => page.addInvitation(made.record))
        const told = new Set<string>()
        for (const { process, holder: number, dies } of steps) {
          const [roster, holder] = [processes[process], holders[number]]
          if (roster === undefined || holder === undefined) throw new RangeError('expected one of each')
          const outcome = tryToJoin(roster, made, holder, dies)
          if (outcome === 'died') {
            roster.close()
            processes[process] = await openRoster(folder)
          } else if (outcome === 'joined') told.add(holder)
        }
        const { used, members } = (processes[0] ?? (await openRoster(folder))).read((page) => ({
          used: page.invitation(made.record.invitee)?.used ?? 0,
          members: page.members().map(({ holder }) => holder),
        }))
        for (const roster of processes) roster.close()
        expect(used).toBeLessThanOrEqual(uses)
        expect(members).toHaveLength(used)
        // Whoever was told that it is a member is one.
        expect([...told].filter((holder) => !members.some((member) => member === holder))).toEqual([])
      }),
      { numRuns: 25 },
    )
  })
})

const CRASH = new Error('the process died')

function tryToJoin(roster: Roster, { record }: Invited, holder: ReturnType<typeof someone>, dies: Step['dies']) {
  const newcomer = { invitee: record.invitee, holder, wish: '', now: NOW, grantSeconds: DAY }
  try {
    roster.update((page) => {
      redeem(page, newcomer)
      if (dies === 'before') throw CRASH
    })
    return dies === 'after' ? 'died' : 'joined'
  } catch (error) {
    if (error === CRASH) return 'died'
    if (isCtError(error, 'ERR_INVITATION_USED')) return 'refused'
    throw error
  }
}
