import { describe, expect, it } from 'vitest'
import { keepInvitation } from '../../../src/agent/members/inviting.ts'
import { findInvitation, findMember, removeHolder, renewMember } from '../../../src/agent/members/removing.ts'
import { revocationList, revokedKeys } from '../../../src/agent/members/revoked.ts'
import { MAX_INVITATIONS, type Roster } from '../../../src/agent/members/roster.ts'
import { MAX_REMOVED, openRevocations } from '../../../src/channel/membership/index.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { u64 } from '../../../src/core/u64.ts'
import { CHANNEL, DAY, emptyRoster, invitation, invited, joins, NOW, OPERATOR, someone, stateDir } from './rosters.ts'

const MONTH = u64(30n * DAY)
const PLACE = { holder: someone(), broker: ['/ip4/127.0.0.1/tcp/1'], addresses: ['127.0.0.1:2'], tools: ['ping'] }

function remove(roster: Roster, word: string, now = NOW): HolderId {
  return roster.update((page) => {
    const found = findMember(page, word)
    removeHolder(page, found, now)
    return found.holder
  })
}

describe('a roster', () => {
  it('is the same for every process, and after a restart', async () => {
    const folder = stateDir()
    const [one, other] = [await emptyRoster(folder), await emptyRoster(folder)]
    const made = invited(one, { tools: ['a', 'b'], name: 'alice', rights: 'r' })
    const member = joins(other, made)
    one.update((page) => page.remember({ ...PLACE, ticketEnds: undefined }))
    expect(other.changedElsewhere()).toBe(true)
    for (const roster of [one, other, await emptyRoster(folder)]) {
      expect(roster.read((page) => [page.members(), page.place()])).toEqual([
        [member],
        { ...PLACE, ticketEnds: undefined },
      ])
    }
    one.update((page) => page.remember({ ...PLACE, ticketEnds: NOW }))
    expect(other.read((page) => page.place())?.ticketEnds).toBe(NOW)
  })

  it('never gives a name to two', async () => {
    const roster = await emptyRoster()
    const alice = joins(roster, invited(roster, { name: 'alice' }))
    const twin = { ...alice, holder: someone() }
    expect(() => roster.update((page) => page.putMember(twin))).toThrow(/UNIQUE/)
    expect(roster.read((page) => page.members())).toEqual([alice])
  })

  it('lets those invitations go that are over, and no others', async () => {
    const roster = await emptyRoster()
    const old = invited(roster, { name: 'old' })
    joins(roster, old)
    const keep = (now: typeof NOW) => roster.update((page) => keepInvitation(page, invitation().record, now))
    keep(u64(NOW + DAY + MONTH - 1n))
    expect(roster.read((page) => page.invitation(old.record.invitee))?.used).toBe(1)
    keep(u64(NOW + DAY + MONTH))
    expect(roster.read((page) => page.invitations())).toHaveLength(1)
    roster.update((page) => {
      while (page.invitations().length < 3) page.addInvitation(invitation().record)
    })
    expect(roster.read((page) => page.members())).toHaveLength(1)
  })

  it('refuses an invitation more than there may be, unless some are over', async () => {
    const roster = await emptyRoster()
    const { record } = invitation()
    roster.update((page) => {
      for (let count = 0; count < MAX_INVITATIONS; count += 1) page.addInvitation({ ...record, invitee: someone() })
    })
    const keep = (now: typeof NOW) => roster.update((page) => keepInvitation(page, invitation().record, now))
    expect(() => keep(NOW)).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
    keep(u64(NOW + DAY))
    expect(roster.read((page) => page.invitations())).toHaveLength(1)
  })
})

describe('findMember', () => {
  it('knows a member by its name, its key and the beginning of that, and anybody by a whole key', async () => {
    const roster = await emptyRoster()
    const alice = joins(roster, invited(roster, { name: 'alice' }))
    const stranger = someone()
    const { holder } = alice
    for (const word of ['alice', 'Alice', holder, holder.toUpperCase(), holder.slice(0, 8)]) {
      expect(roster.read((page) => findMember(page, word))).toEqual({ holder, member: alice })
    }
    expect(roster.read((page) => findMember(page, stranger))).toEqual({ holder: stranger, member: undefined })
    for (const word of ['', 'bob', holder.slice(0, 7), stranger.slice(0, 10)]) {
      expect(() => roster.read((page) => findMember(page, word))).toThrow(
        expect.objectContaining({ code: 'ERR_USAGE' }),
      )
    }
    expect(() => roster.read((page) => findMember(page, 'alise'))).toThrow(/did you mean alice\?/)
  })
})

it('findInvitation knows one by its id and by a name that only one has', async () => {
  const roster = await emptyRoster()
  const [alice] = [
    invited(roster, { name: 'alice' }),
    invited(roster, { name: 'bob' }),
    invited(roster, { name: 'bob' }),
  ]
  const find = (word: string) => roster.read((page) => findInvitation(page, word)).invitee
  expect([find('alice'), find(alice.record.invitee.slice(0, 12))]).toEqual([alice.record.invitee, alice.record.invitee])
  expect(() => find('bob')).toThrow(/found 2/)
  expect(() => find('carol')).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
})

describe('renewMember', () => {
  it('changes what is named, gives a fresh grant, and lets in again', async () => {
    const roster = await emptyRoster()
    const alice = joins(roster, invited(roster, { name: 'alice', tools: ['a'] }))
    remove(roster, 'alice')
    const later = u64(NOW + 5n)
    const renew = (word: string, change = {}) =>
      roster.update((page) => renewMember(page, findMember(page, word), change, { now: later, grantSeconds: MONTH }))
    expect(renew('alice', { rights: 'r', tools: undefined, name: 'ali' })).toEqual({
      ...alice,
      rights: 'r',
      tools: undefined,
      name: 'ali',
      grantedAt: later,
      grantEnds: u64(later + MONTH),
    })
    expect(roster.read((page) => page.isRemoved(alice.holder))).toBe(false)
    joins(roster, invited(roster, { name: 'bob' }))
    expect(() => renew('bob', { name: 'ali' })).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
    expect(() => renew(someone())).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
  })
})

describe('revocationList', () => {
  const signer = { operator: OPERATOR.secret, channel: CHANNEL, now: NOW }

  it('is none before anybody was removed, and newer with every change', async () => {
    const roster = await emptyRoster()
    const made = invited(roster)
    const { holder } = joins(roster, made)
    const list = () => roster.read((page) => revocationList(page, signer))
    expect(list()).toBeUndefined()
    const steps: readonly (readonly [change: () => unknown, removed: readonly HolderId[]])[] = [
      [() => remove(roster, holder), [holder]],
      [() => roster.update((page) => page.revokeInvitation(made.record.invitee, NOW)), [holder, made.record.invitee]],
      [() => roster.update((page) => page.forgive(holder, NOW)), [made.record.invitee]],
    ]
    let before = 0n
    for (const [change, removed] of steps) {
      change()
      const now = list()
      if (now === undefined) throw new TypeError('expected a list')
      expect(openRevocations(now, OPERATOR.id).body.removed).toEqual([...removed].sort())
      expect(now.body.sequence > before).toBe(true)
      before = now.body.sequence
    }
  })

  it('is newer than every list of a roster that was lost', async () => {
    const [lost, begun] = [await emptyRoster(), await emptyRoster()]
    const sequenceOf = (roster: Roster, now: typeof NOW) => {
      remove(roster, someone(), now)
      return roster.read((page) => page.sequence())
    }
    const old = sequenceOf(lost, NOW)
    expect(sequenceOf(begun, u64(NOW + 1n)) > old).toBe(true)
  })

  it('names nobody who has nothing left to show, and of too many the last', async () => {
    const roster = await emptyRoster()
    const removed = Array.from({ length: MAX_REMOVED + 1 }, someone)
    roster.update((page) => {
      page.remember({ ...PLACE, ticketEnds: u64(NOW + DAY) })
      for (const holder of removed) removeHolder(page, { holder, member: undefined }, NOW)
    })
    const keys = (now: typeof NOW) => roster.read((page) => revokedKeys(page, now))
    expect(new Set(keys(u64(NOW + DAY - 1n)))).toEqual(new Set(removed.slice(1)))
    expect(keys(u64(NOW + DAY))).toEqual([])
    expect(roster.read((page) => page.isRemoved(removed[0] ?? someone()))).toBe(true)
  })
})
