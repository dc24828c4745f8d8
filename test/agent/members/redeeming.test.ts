import { describe, expect, it } from 'vitest'
import { CHALLENGE_LIFE_MS } from '../../../src/agent/members/challenges.ts'
import { REDEEM_METHOD } from '../../../src/agent/members/membership-document.ts'
import { Reception } from '../../../src/agent/members/reception.ts'
import { type Roster } from '../../../src/agent/members/roster.ts'
import { decodeGrant, openGrant, openStaple } from '../../../src/channel/membership/index.ts'
import { decodeStaple } from '../../../src/channel/membership/staple.ts'
import { CtError } from '../../../src/core/errors.ts'
import { isJsonObject } from '../../../src/core/json.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { recordingLog } from '../../mcp/serve.ts'
import { Guest } from './guest.ts'
import {
  CHANNEL,
  DAY,
  emptyRoster,
  type Invited,
  invitation,
  invited,
  joins,
  KEYS,
  OPERATOR,
  someone,
} from './rosters.ts'

async function world() {
  const whole = await emptyRoster()
  let fault: Error | undefined
  const failing: Roster['update'] = (work) => {
    if (fault !== undefined) throw fault
    return whole.update(work)
  }
  const roster: Roster = { ...whole, update: failing }
  const fails = (error: Error | undefined): void => {
    fault = error
  }
  const clock = new FakeClock()
  const { log, lines } = recordingLog()
  const deps = { roster, operator: KEYS, channel: CHANNEL, bearer: undefined, grantSeconds: DAY, clock, log }
  const reception = new Reception(deps)
  return { roster, clock, lines, reception, fails, guest: (made = invited(roster)) => new Guest(reception, made) }
}

function uses(roster: Roster, { record }: Invited): number | undefined {
  return roster.read((page) => page.invitation(record.invitee)?.used)
}

describe('a guest', () => {
  it('becomes a member that has a grant of the operator and a staple', async () => {
    const { guest, clock, roster } = await world()
    const newcomer = guest()
    const answer = newcomer.redeem()
    if (!isJsonObject(answer)) throw new TypeError('expected an object')
    const check = { operator: OPERATOR.id, now: BigInt(Math.floor(clock.now() / 1_000)) as typeof DAY }
    const grant = openGrant(decodeGrant(Buffer.from(String(answer['grant']), 'hex')), check)
    expect(grant.body).toMatchObject({ holder: newcomer.holder, channel: CHANNEL, rights: 'rw', direction: 'initiate' })
    expect(grant.body.delegable).toBe(false)
    const staple = openStaple(decodeStaple(Buffer.from(String(answer['staple']), 'hex')), { ...check, skewSeconds: 1 })
    expect(staple.body.holder).toBe(newcomer.holder)
    expect(answer['name']).toBe('bob')
    expect(roster.read((page) => page.member(newcomer.holder))?.grantEnds).toBe(grant.body.expiresAt)
  })

  const vain: readonly {
    readonly name: string
    readonly code: string
    readonly redeem: (guest: Guest, world: Awaited<ReturnType<typeof stage>>) => unknown
  }[] = [
    { name: 'without a challenge', code: 'ERR_CALL_INVALID', redeem: (guest) => guest.ask(REDEEM_METHOD, {}) },
    {
      name: 'with a signature that is none',
      code: 'ERR_CALL_INVALID',
      redeem: (guest) => guest.redeem(guest.challenge(), 'ab'),
    },
    {
      name: 'with a challenge of another link',
      code: 'ERR_CHALLENGE_INVALID',
      redeem: (guest, { other }) => guest.redeem(other.challenge()),
    },
    {
      name: 'with a challenge that it made up',
      code: 'ERR_CHALLENGE_INVALID',
      redeem: (guest) => guest.redeem('ab'.repeat(32)),
    },
    {
      name: 'with a challenge for the second time',
      code: 'ERR_CHALLENGE_INVALID',
      redeem: (guest) => {
        const challenge = guest.challenge()
        expect(() => guest.redeem(challenge, '00'.repeat(64))).toThrow(/signature/)
        return guest.redeem(challenge)
      },
    },
    {
      name: 'with a challenge that is too old',
      code: 'ERR_CHALLENGE_INVALID',
      redeem: (guest, { clock }) => {
        const challenge = guest.challenge()
        clock.advance(CHALLENGE_LIFE_MS)
        return guest.redeem(challenge)
      },
    },
    {
      name: 'signed by another key',
      code: 'ERR_SIGNATURE_INVALID',
      redeem: (guest) => {
        const challenge = guest.challenge()
        return guest.redeem(challenge, guest.sign(challenge, { seed: SecretKey.generate() }))
      },
    },
    {
      name: 'signed for another holder',
      code: 'ERR_SIGNATURE_INVALID',
      redeem: (guest) => {
        const challenge = guest.challenge()
        return guest.redeem(challenge, guest.sign(challenge, { holder: someone() }))
      },
    },
    {
      name: 'that was taken back while it asked',
      code: 'ERR_INVITATION_REVOKED',
      redeem: (guest, { roster, now }) => {
        const challenge = guest.challenge()
        roster.update((page) => page.revokeInvitation(guest.made.record.invitee, now()))
        return guest.redeem(challenge)
      },
    },
    {
      name: 'whose last use another took while it asked',
      code: 'ERR_INVITATION_USED',
      redeem: (guest, { roster, now }) => {
        const challenge = guest.challenge()
        joins(roster, guest.made, someone(), { now: now() })
        return guest.redeem(challenge)
      },
    },
  ]

  async function stage() {
    const { roster, clock, guest, reception, lines } = await world()
    const made = invited(roster)
    const now = () => BigInt(Math.floor(clock.now() / 1_000)) as typeof DAY
    return { roster, clock, guest: guest(made), other: guest(made), reception, lines, now }
  }

  for (const { name, code, redeem } of vain) {
    it(`does not become one with an invitation ${name}`, async () => {
      const all = await stage()
      const { guest, roster } = all
      expect(() => redeem(guest, all)).toThrow(expect.objectContaining({ code }))
      expect(roster.read((page) => page.member(guest.holder))).toBeUndefined()
      expect(uses(roster, guest.made)).toBe(code === 'ERR_INVITATION_USED' ? 1 : 0)
      expect(all.lines.at(-1)).toMatchObject({ event: 'member.not_joined', facts: { code } })
    })
  }

  it('has no use of an invitation of another operator that stands in the file', async () => {
    const { roster, guest } = await world()
    const foreign = invitation({}, holderKey(SecretKey.generate()))
    roster.update((page) => page.addInvitation(foreign.record))
    expect(() => guest(foreign).redeem()).toThrow(expect.objectContaining({ code: 'ERR_INVITATION_INVALID' }))
  })

  it('that asked and lost the answer asks again', async () => {
    const { roster, reception, guest } = await world()
    const first = guest()
    const answer = first.redeem()
    const again = new Guest(reception, first.made, first.holder)
    expect(again.redeem()).toEqual(answer)
    expect(uses(roster, first.made)).toBe(1)
  })

  it('is sent away when it tries in vain too often', async () => {
    const { guest, clock } = await world()
    const newcomer = guest()
    for (let tries = 1; tries <= 5; tries += 1) {
      expect(newcomer.left).toEqual([])
      expect(() => newcomer.redeem('ab'.repeat(32))).toThrow(expect.objectContaining({ code: 'ERR_CHALLENGE_INVALID' }))
      clock.advance(1_000)
    }
    expect(newcomer.left).toEqual(['ERR_PEER_REFUSED'])
  })

  it('that goes on until the last answer has left is noted no more, and sent away once', async () => {
    const { guest, clock, lines } = await world()
    const newcomer = guest()
    for (let tries = 1; tries <= 50; tries += 1) expect(() => newcomer.redeem('ab'.repeat(32))).toThrow()
    clock.advance(1_000)
    expect([newcomer.left, lines.length]).toEqual([['ERR_PEER_REFUSED'], 5])
  })

  const faults: readonly (readonly [string, Error])[] = [
    ['busy with another process', new CtError('ERR_PEER_BUSY', 'another process has it')],
    ['out of reach', new CtError('ERR_STATE_UNAVAILABLE', 'the disk is gone')],
    ['broken in a way that nobody thought of', new TypeError('a defect')],
  ]
  for (const [name, fault] of faults) {
    it(`tries again with the same challenge after the list of members was ${name}`, async () => {
      const { guest, clock, fails, roster } = await world()
      const newcomer = guest()
      const challenge = newcomer.challenge()
      fails(fault)
      for (let tries = 1; tries <= 9; tries += 1) {
        expect(() => newcomer.redeem(challenge)).toThrow()
        clock.advance(1_000)
      }
      fails(undefined)
      expect(newcomer.redeem(challenge)).toMatchObject({ name: 'bob' })
      clock.advance(1_000)
      expect([newcomer.left, uses(roster, newcomer.made)]).toEqual([[], 1])
      expect(() => newcomer.redeem(challenge)).toThrow(expect.objectContaining({ code: 'ERR_CHALLENGE_INVALID' }))
    })
  }

  it('has no longer for a challenge because the list of members was out of reach', async () => {
    const { guest, clock, fails } = await world()
    const newcomer = guest()
    const challenge = newcomer.challenge()
    clock.advance(CHALLENGE_LIFE_MS - 1)
    fails(new CtError('ERR_PEER_BUSY', 'another process has it'))
    expect(() => newcomer.redeem(challenge)).toThrow(expect.objectContaining({ code: 'ERR_PEER_BUSY' }))
    fails(undefined)
    clock.advance(1)
    expect(() => newcomer.redeem(challenge)).toThrow(expect.objectContaining({ code: 'ERR_CHALLENGE_INVALID' }))
  })

  it('cannot fill the logs, neither by joining again and again nor while there is no room', async () => {
    const { guest, fails, lines } = await world()
    const newcomer = guest()
    const noted = (event: string): number => lines.filter((line) => line.event === event).length
    for (let tries = 0; tries < 20; tries += 1) expect(newcomer.redeem()).toMatchObject({ name: 'bob' })
    expect(noted('member.joined')).toBe(1)
    fails(new CtError('ERR_PEER_BUSY', 'as many members as there may be'))
    for (let tries = 0; tries < 20; tries += 1) expect(() => newcomer.redeem()).toThrow()
    expect(noted('member.not_joined')).toBe(5)
  })

  it('is sent away for its own vain tries, whatever else went wrong between them', async () => {
    const { guest, clock, fails } = await world()
    const newcomer = guest()
    for (let tries = 1; tries <= 5; tries += 1) {
      fails(new CtError('ERR_PEER_BUSY', 'another process has it'))
      expect(() => newcomer.redeem()).toThrow(expect.objectContaining({ code: 'ERR_PEER_BUSY' }))
      fails(undefined)
      expect(() => newcomer.redeem('ab'.repeat(32))).toThrow()
      clock.advance(1_000)
      expect(newcomer.left).toEqual(tries < 5 ? [] : ['ERR_PEER_REFUSED'])
    }
  })
})
