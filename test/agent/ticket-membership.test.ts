import { describe, expect, it } from 'vitest'
import { membershipOf } from '../../src/agent/calling/ticket-membership.ts'
import { type RosterView } from '../../src/agent/members/roster.ts'
import { standingOf } from '../../src/agent/members/standing.ts'
import { type Door, openOwnChannel } from '../../src/agent/serving/own-channel.ts'
import { checkAdmission, checkMembership } from '../../src/channel/admission.ts'
import { formatTicket, parseTicket, type SelfDescription, type Ticket } from '../../src/channel/index.ts'
import { GRANT, type Grant, type SignedSuccession, sealSuccession } from '../../src/channel/membership/index.ts'
import { describe as describeSelf } from '../../src/channel/session/self.ts'
import { seal } from '../../src/core/artefact.ts'
import { CtError } from '../../src/core/errors.ts'
import { type ChannelId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { U64_MAX, type UnixSeconds, u64 } from '../../src/core/u64.ts'
import { member } from '../channel/members.ts'

const NOW = u64(1_000_000)
const END = u64(2_000_000)
const OPERATOR = holderKey(SecretKey.generate())
const CHANNEL = 'c7'.repeat(32) as ChannelId
const SECRET = SecretKey.generate()
const server = member('serve')
const caller = member('call')
const own = openOwnChannel({
  operator: OPERATOR,
  channel: CHANNEL,
  self: server,
  invited: holderKey(SECRET).id,
  expiresAt: END,
  door: doorOf(SECRET),
})
/** Of an agent that has no members. */
function doorOf(secret: SecretKey): Door {
  const page: Pick<RosterView, 'isRemoved' | 'member' | 'invitation'> = {
    isRemoved: () => false,
    member: () => undefined,
    invitation: () => undefined,
  }
  const rule = { bearer: holderKey(secret).id, now: NOW }
  return {
    isRemoved: page.isRemoved,
    refusal: ({ chain }) => {
      const standing = standingOf(page as RosterView, chain, rule)
      return standing instanceof CtError ? standing : undefined
    },
  }
}

const TICKET = {
  holder: server.holder.id,
  addresses: [],
  secret: SECRET,
  rendezvous: {
    broker: [{ host: 'broker.example', port: 4435, transport: 'tcp' }],
    operator: own.operator,
    grant: own.grant,
  },
} as const satisfies Ticket

function proven({ holder, noise }: SelfDescription) {
  return { holder: holder.id, noiseKeys: new Set([noise.id]) }
}

/** What the serving side makes of a caller that shows this. */
function admission(self: SelfDescription, trust = own.trust, now: UnixSeconds = NOW) {
  return checkAdmission({ channel: trust }, proven(self), server.holder.id, describeSelf(self), {
    side: 'initiate',
    now,
  })
}

function joining(ticket: Ticket = TICKET, now: UnixSeconds = NOW): SelfDescription {
  const membership = membershipOf(ticket, caller, now)
  if (membership === undefined) throw new TypeError('expected a ticket with a broker')
  return membership.self
}

describe('a ticket with a broker', () => {
  it('makes its bearer a member with all rights, for as long as the ticket is good', () => {
    expect(admission(joining())).toEqual({
      rights: 'rw',
      expiresAt: END,
      chain: [holderKey(SECRET).id, caller.holder.id],
    })
    expect(admission(joining(), own.trust, END)).toMatchObject({ code: 'ERR_GRANT_EXPIRED' })
  })

  it('leads to the serving member and to no other, over the broker in it', () => {
    expect(membershipOf(TICKET, caller, NOW)).toMatchObject({
      trust: { operator: own.operator, channel: CHANNEL },
      broker: { broker: TICKET.rendezvous.broker, wants: server.holder.id, channel: CHANNEL },
    })
  })

  it('lets the caller check that the serving side belongs to its channel, and for ever', () => {
    const trust = { operator: own.operator, channel: CHANNEL }
    const hello = describeSelf({ ...server, credentials: () => own.credentials })
    expect(checkMembership(trust, proven(server), hello, { side: 'accept', now: NOW })).toMatchObject({
      expiresAt: U64_MAX,
      chain: [server.holder.id],
    })
  })

  it('is worth nothing once the serving side made another', () => {
    const ticketSecret = SecretKey.generate()
    const renewed = openOwnChannel({
      operator: OPERATOR,
      channel: CHANNEL,
      self: server,
      invited: holderKey(ticketSecret).id,
      expiresAt: END,
      door: doorOf(ticketSecret),
    })
    expect(admission(joining(), renewed.trust)).toMatchObject({
      code: 'ERR_PEER_REFUSED',
      message: 'the ticket is not, or no longer, the one this side gave out',
    })
  })

  it('cannot be passed on by who has only what a member shows', () => {
    const thief = member('call')
    const { credentials } = joining()
    const stolen = credentials === undefined ? thief : { ...thief, credentials }
    expect(admission(stolen)).toMatchObject({ code: 'ERR_GRANT_INVALID', detail: { category: 'possession' } })
  })

  it('is refused by the caller itself when it is no longer good', () => {
    expect(() => joining(TICKET, u64(END - 1n))).not.toThrow()
    expect(() => joining(TICKET, END)).toThrow(
      expect.objectContaining({
        code: 'ERR_GRANT_EXPIRED',
        message: 'the ticket is no longer good: ask the serving side for the one it prints now',
      }),
    )
  })

  const granted = (more: Partial<Grant>, by = OPERATOR.secret): Ticket => ({
    ...TICKET,
    rendezvous: { ...TICKET.rendezvous, grant: seal(GRANT, { ...own.grant.body, ...more }, by) },
  })
  const useless: readonly { name: string; ticket: Ticket; problem: RegExp }[] = [
    { name: 'a grant of another operator', ticket: granted({}, SECRET), problem: /signature/ },
    { name: 'a grant for another key', ticket: granted({ holder: caller.holder.id }), problem: /signature/ },
    { name: 'another secret', ticket: { ...TICKET, secret: SecretKey.generate() }, problem: /signature/ },
    { name: 'a grant that may not be passed on', ticket: granted({ delegable: false }), problem: /passed on/ },
    { name: 'a grant to accept', ticket: granted({ direction: 'accept' }), problem: /does not allow to initiate/ },
  ]
  for (const { name, ticket, problem } of useless) {
    it(`is of no use with ${name}`, () => {
      expect(() => joining(ticket)).toThrow(
        expect.objectContaining({ code: 'ERR_TICKET_INVALID', message: expect.stringMatching(problem) }),
      )
    })
  }
})

it('a ticket without a broker makes nobody a member', () => {
  const { rendezvous: _, ...direct } = TICKET
  expect(membershipOf(direct, caller, NOW)).toBeUndefined()
})

describe('a ticket of an operator that has changed its key', () => {
  const next = holderKey(SecretKey.generate())
  const keys = { oldKey: OPERATOR.secret, newKey: next.secret }
  const succession = sealSuccession({ channel: CHANNEL, kind: 'operator', issuedAt: NOW, overlapUntil: END, ...keys })
  const { grant } = openOwnChannel({
    operator: next,
    first: OPERATOR.id,
    channel: CHANNEL,
    self: server,
    invited: holderKey(SECRET).id,
    expiresAt: END,
    door: doorOf(SECRET),
  })
  const ticketWith = (successions: readonly SignedSuccession[]): Ticket => ({
    ...TICKET,
    rendezvous: { ...TICKET.rendezvous, operator: OPERATOR.id, grant, successions },
  })

  it('says how the new key came about, to whoever reads it and to whom that shows it', () => {
    const ticket = parseTicket(formatTicket(ticketWith([succession])))
    expect(ticket.rendezvous?.successions).toEqual([succession])
    const membership = membershipOf(ticket, caller, NOW)
    expect(membership?.self.successions).toEqual([succession])
    expect(membership?.trust.operator).toBe(OPERATOR.id)
  })

  it('is not usable when nothing leads from the first key to the one that signed it', () => {
    expect(() => membershipOf(ticketWith([]), caller, NOW)).toThrow(
      expect.objectContaining({ code: 'ERR_TICKET_INVALID' }),
    )
    const forged = { ...succession, oldSignature: succession.newSignature }
    expect(() => membershipOf(ticketWith([forged]), caller, NOW)).toThrow(
      expect.objectContaining({ code: 'ERR_TICKET_INVALID' }),
    )
  })
})
