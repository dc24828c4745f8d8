import { beforeEach, describe, expect, it } from 'vitest'
import { type Roster } from '../../../src/agent/members/roster.ts'
import { type Standing, type StandingRule, standingOf } from '../../../src/agent/members/standing.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { u64 } from '../../../src/core/u64.ts'
import { DAY, emptyRoster, type Invited, invited, joins, NOW, someone } from './rosters.ts'

const BEARER = someone()
const ALICE = someone()
const BOB = someone()
const END = u64(NOW + DAY)

interface World {
  readonly roster: Roster
  readonly open: Invited
  readonly used: Invited
}

let world: World

beforeEach(async () => {
  const roster = await emptyRoster()
  const [open, used] = [invited(roster), invited(roster, { name: 'alice' })]
  joins(roster, used, ALICE)
  world = { roster, open, used }
})

function standing(chain: readonly HolderId[], { bearer, now }: StandingRule = { bearer: BEARER, now: NOW }) {
  return world.roster.read((page) => standingOf(page, chain, { bearer, now }))
}

const expected: readonly {
  readonly name: string
  readonly chain: () => readonly HolderId[]
  readonly is: Standing['kind']
}[] = [
  { name: 'who has the ticket', chain: () => [BEARER, BOB], is: 'bearer' },
  { name: 'a member that also has the ticket', chain: () => [BEARER, ALICE], is: 'bearer' },
  { name: 'who has an open invitation', chain: () => [world.open.record.invitee, BOB], is: 'guest' },
  { name: 'who redeemed its invitation and asks again', chain: () => [world.used.record.invitee, ALICE], is: 'guest' },
  { name: 'a member', chain: () => [ALICE], is: 'member' },
]

const refused: readonly {
  readonly name: string
  readonly code: string
  readonly chain: () => readonly HolderId[]
  readonly arrange?: (roster: Roster) => void
  readonly membersOnly?: true
  readonly now?: typeof NOW
}[] = [
  { name: 'nobody', code: 'ERR_PEER_REFUSED', chain: () => [] },
  { name: 'a key that is no member', code: 'ERR_PEER_REFUSED', chain: () => [BOB] },
  { name: 'who rests on a member', code: 'ERR_PEER_REFUSED', chain: () => [ALICE, BOB] },
  { name: 'the key of an invitation itself', code: 'ERR_PEER_REFUSED', chain: () => [world.open.record.invitee] },
  { name: 'an old ticket', code: 'ERR_PEER_REFUSED', chain: () => [someone(), BOB] },
  {
    name: 'the ticket, where only members come in',
    code: 'ERR_PEER_REFUSED',
    chain: () => [BEARER, BOB],
    membersOnly: true,
  },
  {
    name: 'an invitation that another redeemed',
    code: 'ERR_INVITATION_USED',
    chain: () => [world.used.record.invitee, BOB],
  },
  {
    name: 'an invitation that expired',
    code: 'ERR_INVITATION_EXPIRED',
    chain: () => [world.open.record.invitee, BOB],
    now: END,
  },
  {
    name: 'an invitation that was taken back',
    code: 'ERR_INVITATION_REVOKED',
    chain: () => [world.open.record.invitee, BOB],
    arrange: (roster) => roster.update((page) => page.revokeInvitation(world.open.record.invitee, NOW)),
  },
]

const removals: readonly {
  readonly name: string
  readonly chain: () => readonly HolderId[]
  readonly gone: HolderId
}[] = [
  { name: 'a member that was removed', chain: () => [ALICE], gone: ALICE },
  { name: 'a removed key with the ticket', chain: () => [BEARER, BOB], gone: BOB },
  { name: 'who rests on somebody that was removed', chain: () => [BEARER, ALICE, BOB], gone: ALICE },
  { name: 'a removed key with an open invitation', chain: () => [world.open.record.invitee, ALICE], gone: ALICE },
]

describe('standingOf', () => {
  for (const { name, chain, is } of expected) {
    it(`takes ${name} for a ${is}`, () => expect(standing(chain())).toMatchObject({ kind: is }))
  }

  for (const { name, code, chain, arrange, membersOnly, now = NOW } of refused) {
    it(`refuses ${name}`, () => {
      arrange?.(world.roster)
      expect(standing(chain(), { bearer: membersOnly ? undefined : BEARER, now })).toMatchObject({ code })
    })
  }

  for (const { name, chain, gone } of removals) {
    it(`refuses ${name}, and takes it back when it is let in again`, () => {
      const before = standing(chain())
      world.roster.update((page) => page.remove({ holder: gone, removedAt: NOW, endsAt: END }))
      expect(standing(chain())).toMatchObject({ code: 'ERR_MEMBER_REMOVED', detail: { category: 'not-member' } })
      world.roster.update((page) => page.forgive(gone, NOW))
      expect(standing(chain())).toEqual(before)
    })
  }
})
