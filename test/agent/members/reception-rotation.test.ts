import { describe, expect, it } from 'vitest'
import { MEMBERSHIP_METHOD, parseMembership } from '../../../src/agent/members/membership-document.ts'
import { changeOperator, loadOperator, watchOperator } from '../../../src/agent/members/operator-keys.ts'
import { Reception } from '../../../src/agent/members/reception.ts'
import { removeHolder } from '../../../src/agent/members/removing.ts'
import { openGrant, openRevocations, openStaple } from '../../../src/channel/membership/index.ts'
import { type JsonValue } from '../../../src/core/json.ts'
import { u64 } from '../../../src/core/u64.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'
import { Guest } from './guest.ts'
import { CHANNEL, DAY, emptyRoster, invitation, invited, joins, NOW, stateDir } from './rosters.ts'

const LOOK_MS = 250

/** A serving side, and another process that changes the operator's key as the command does. */
async function world() {
  const folder = stateDir()
  const [roster, elsewhere] = [await emptyRoster(folder), await emptyRoster(folder)]
  const clock = new FakeClock()
  clock.advance(Number(NOW) * 1_000)
  const old = loadOperator(folder).signer
  const operator = watchOperator(folder)
  const reception = new Reception({
    roster,
    operator,
    channel: CHANNEL,
    bearer: undefined,
    grantSeconds: DAY,
    clock,
    log: silentLog,
  })
  const rotate = () =>
    elsewhere.update((page) => {
      const { succession } = changeOperator(folder, { channel: CHANNEL, now: NOW, overlapSeconds: DAY })
      page.noteSigner(succession.body.to, NOW)
      return succession
    })
  return { folder, roster, elsewhere, clock, old, reception, rotate }
}

describe('a reception whose operator changes its key', () => {
  it('takes the new key as soon as it looks, and signs lists with it that show the succession', async () => {
    const { reception, rotate, clock, roster } = await world()
    expect(reception.revocations()).toBeUndefined()
    const seen: ReturnType<Reception['revocations']>[] = []
    const stop = reception.watch(() => seen.push(reception.revocations()))
    const succession = rotate()
    clock.advance(LOOK_MS)
    stop()
    const [shown] = seen
    expect(shown?.successions).toEqual([succession])
    if (shown === undefined) throw new TypeError('expected a list')
    const list = openRevocations(shown.list, succession.body.to)
    expect(list.body.removed).toEqual([])
    expect(roster.read((page) => page.signer())).toBe(succession.body.to)
  })

  it('renews members with the new key, for as long as before', async () => {
    const { reception, rotate, clock, roster } = await world()
    const member = joins(roster, invited(roster))
    const stop = reception.watch(() => {})
    const succession = rotate()
    clock.advance(LOOK_MS)
    stop()
    const { methods } = reception.welcome({ kind: 'member', member }, 'rw', () => {})
    const answer = methods.get(MEMBERSHIP_METHOD)?.({}, {} as never) as JsonValue
    const { grant, staple, successions } = parseMembership(answer)
    expect(successions).toEqual([succession])
    const check = { operator: succession.body.to, now: NOW }
    expect(openGrant(grant, check).body.expiresAt).toBe(member.grantEnds)
    expect(openStaple(staple, check).body.holder).toBe(member.holder)
  })

  it('redeems invitations of the old key until the overlap is over', async () => {
    const { reception, rotate, clock, roster, old } = await world()
    const made = [1, 2].map(() => invitation({ seconds: u64(10n * DAY) }, old))
    for (const { record } of made) roster.update((page) => page.addInvitation(record))
    const stop = reception.watch(() => {})
    rotate()
    clock.advance(LOOK_MS)
    stop()
    const [first, second] = made.map((one) => new Guest(reception, one))
    const document = parseMembership(first?.redeem())
    expect(document.successions).toHaveLength(1)
    clock.advance(Number(DAY) * 1_000)
    expect(() => second?.redeem()).toThrow(expect.objectContaining({ code: 'ERR_INVITATION_INVALID' }))
  })

  it('makes a newer list when the change was cut off before it was noted', async () => {
    const { reception, clock, folder, elsewhere, roster } = await world()
    const member = joins(roster, invited(roster))
    elsewhere.update((page) => removeHolder(page, { holder: member.holder, member }, NOW))
    const before = reception.revocations()?.list.body.sequence ?? u64(0)
    const stop = reception.watch(() => {})
    const { succession } = changeOperator(folder, { channel: CHANNEL, now: NOW, overlapSeconds: DAY })
    elsewhere.update((page) => page.noteSigner(succession.body.from, NOW))
    clock.advance(LOOK_MS)
    stop()
    const list = reception.revocations()?.list
    expect(list?.body.sequence).toBeGreaterThan(before + 1n)
    expect(list?.body.removed).toEqual([member.holder])
    expect(reception.revocations()?.list.body.sequence).toBe(list?.body.sequence)
  })
})
