import { describe, expect, it } from 'vitest'
import { CHALLENGE_LIFE_MS } from '../../../src/agent/members/challenges.ts'
import { CHALLENGE_METHOD, REDEEM_METHOD } from '../../../src/agent/members/membership-document.ts'
import { Reception } from '../../../src/agent/members/reception.ts'
import { type Roster } from '../../../src/agent/members/roster.ts'
import { decodeGrant, openGrant, openStaple, REDEMPTION } from '../../../src/channel/membership/index.ts'
import { redemptionOf } from '../../../src/channel/membership/invitation.ts'
import { decodeStaple } from '../../../src/channel/membership/staple.ts'
import { seal } from '../../../src/core/artefact.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { isJsonObject, type JsonValue } from '../../../src/core/json.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { recordingLog } from '../../mcp/serve.ts'
import { CHANNEL, DAY, emptyRoster, type Invited, invitation, invited, joins, OPERATOR, someone } from './rosters.ts'

/** The side of a guest: asks on a link, as whoever the link says it is. */
class Guest {
  readonly holder: HolderId
  readonly left: string[] = []
  readonly made: Invited
  readonly #methods

  constructor(reception: Reception, made: Invited, holder = someone()) {
    this.made = made
    this.holder = holder
    const standing = { kind: 'guest', invitee: made.record.invitee } as const
    this.#methods = reception.welcome(standing, 'rw', ({ code }) => this.left.push(code)).methods
  }

  ask(method: string, params: { readonly [key: string]: JsonValue } = {}): JsonValue {
    const answer = this.#methods.get(method)
    if (answer === undefined) throw new TypeError(`no method ${method}`)
    const context = { peer: this.holder, callId: '', signal: new AbortController().signal }
    return answer(params, { ...context, argumentsText: '{}', paramsText: '{}' }) as JsonValue
  }

  challenge(): string {
    const answer = this.ask(CHALLENGE_METHOD)
    return isJsonObject(answer) ? String(answer['challenge']) : ''
  }

  sign(challenge: string, { holder = this.holder, seed = this.made.seed } = {}): string {
    const body = redemptionOf(this.made.record.sealed, holder, Buffer.from(challenge, 'hex'))
    return seal(REDEMPTION, { ...body, invitee: holderKey(seed).id }, seed).signature
  }

  redeem(challenge = this.challenge(), signature = this.sign(challenge), name = 'bob'): JsonValue {
    return this.ask(REDEEM_METHOD, { challenge, signature, name })
  }
}

async function world() {
  const roster = await emptyRoster()
  const clock = new FakeClock()
  const { log, lines } = recordingLog()
  const deps = { roster, operator: OPERATOR, channel: CHANNEL, bearer: undefined, grantSeconds: DAY, clock, log }
  const reception = new Reception(deps)
  return { roster, clock, lines, reception, guest: (made = invited(roster)) => new Guest(reception, made) }
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
})
