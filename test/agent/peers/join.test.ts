import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatTicket, parseTicket } from '../../../src/channel/index.ts'
import { CtError } from '../../../src/core/errors.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { systemClock } from '../../../src/core/time.ts'
import { u64, unixSeconds } from '../../../src/core/u64.ts'
import { type Ended } from '../fake-io.ts'
import { type InviterOptions } from './inviter.ts'
import { BOB, Caller, errorOf, inviter, PONG } from './joining.ts'
import { ticketPeer } from './peers.ts'

describe('ct-agent join', () => {
  it('redeems an invitation once, after which the name is enough, also while no broker is there', async () => {
    const server = await inviter()
    const caller = new Caller()
    const ticket = server.invite()
    const joined = await caller.run(['join', ticket, '--name', 'Bob'])
    expect(joined.status).toBe(0)
    expect(joined.stdout).toMatch(
      /^bob {2}member as newcomer, holder [0-9a-f]{10}…, rights rw, until .*\nnext: ct-agent tools bob\n$/,
    )
    expect(joined.stderr).toBe('')
    expect(await caller.call('BOB')).toEqual(PONG)
    expect((await caller.run(['tools', 'bob'])).stdout).toMatch(/^ping /)

    const again = await caller.run(['join', ticket, '--json'])
    expect([again.status, again.stderr]).toEqual([0, ''])
    expect(JSON.parse(again.stdout)).toEqual({
      name: 'bob',
      kind: 'member',
      holder: server.holder.id,
      rights: 'rw',
      expires_at: expect.any(Number),
      known_as: 'newcomer',
      addresses: [`127.0.0.1:${server.address.port}`],
      broker: ['/ip4/127.0.0.1/tcp/1'],
    })
    expect(server.asked).toHaveLength(2)
    expect([...server.members.values()]).toEqual([caller.bob().grant.body.holder])
  })

  it('keeps nothing of the invitation that would let anybody else in', async () => {
    const server = await inviter()
    const caller = new Caller()
    const ticket = server.invite()
    await caller.run(['join', ticket, '--name', 'bob'])
    const text = readFileSync(join(caller.folder, 'peers', 'bob.json'), 'utf8')
    const { secret } = parseTicket(ticket)
    expect(text).not.toContain(Buffer.from(secret?.reveal() ?? []).toString('hex'))
    expect(text).not.toContain(ticket)
    expect(readdirSync(caller.folder).sort()).toEqual(['holder.key', 'noise.key', 'peers'])
  })

  it('is done again after a crash before the membership was kept, or an answer that was lost', async () => {
    const server = await inviter({ forgetful: 1 })
    const caller = new Caller()
    const ticket = server.invite()
    expect((await caller.run(['join', ticket, '--name', 'bob'])).status).toBe(0)
    expect(server.asked.filter((method) => method.endsWith('/redeem'))).toHaveLength(2)
    // As a crash leaves it.
    caller.store.forget(BOB)
    expect((await caller.run(['join', ticket, '--name', 'bob'])).status).toBe(0)
    expect(await caller.call('bob')).toEqual(PONG)
  })

  it('remembers the peer of an invitation that is given where a peer is asked, and knows it again', async () => {
    const server = await inviter()
    const caller = new Caller()
    const ticket = server.invite()
    const first = await caller.call(ticket)
    const name = `peer-${server.holder.id.slice(0, 6)}`
    expect(first).toEqual({
      ...PONG,
      stderr: `ct-agent: joined, and remembered as ${name}: the ticket is not needed again\n`,
    })
    expect(await caller.call(ticket)).toEqual(PONG)
    expect(await caller.call(name)).toEqual(PONG)
    expect(caller.names).toEqual([name])
    expect(server.asked).toHaveLength(2)
  })

  it('lets one of two agents have an invitation for one', async () => {
    const server = await inviter()
    const ticket = server.invite()
    const callers = [new Caller(), new Caller()]
    const ended = await Promise.all(callers.map((caller) => caller.run(['join', ticket, '--json'])))
    expect(ended.map(({ status }) => status).sort()).toEqual([0, 3])
    const loser = ended.find(({ status }) => status === 3) as Ended
    expect(errorOf(loser).code).toBe('ERR_INVITATION_USED')
    expect(callers.map(({ names }) => names.length).sort()).toEqual([0, 1])
  })

  it('makes one peer of two joins of one agent at once', async () => {
    const server = await inviter()
    const ticket = server.invite()
    const caller = new Caller()
    const ended = await Promise.all([caller.run(['join', ticket]), caller.run(['join', ticket])])
    expect(ended.map(({ status }) => status)).toEqual([0, 0])
    expect(caller.names).toHaveLength(1)
  })

  it('finds a name that is taken before the invitation is used up', async () => {
    const server = await inviter()
    const caller = new Caller()
    caller.store.add(BOB, ticketPeer())
    const refused = await caller.run(['join', server.invite(), '--name', 'bob', '--json'])
    expect([refused.status, errorOf(refused).code]).toEqual([2, 'ERR_PEER_NAME_TAKEN'])
    expect(server.asked).toEqual([])
  })

  it('keeps a ticket that is no invitation as it is', async () => {
    const caller = new Caller()
    const { ticket } = ticketPeer()
    const joined = await caller.run(['join', '-', '--name', 'bob'], {
      input: `${ticket.slice(0, 30).toUpperCase()}\n ${ticket.slice(30)}\n`,
    })
    expect(joined).toMatchObject({ status: 0, stderr: '' })
    expect(joined.stdout).toMatch(/^bob {2}by ticket, holder .*, at 203\.0\.113\.5:4433\nnext: ct-agent tools bob\n$/)
    expect(caller.store.get(BOB)).toEqual(ticketPeer())
  })

  const lies: readonly (readonly [string, InviterOptions, string])[] = [
    ['a grant of another operator', { signer: SecretKey.generate() }, 'ERR_SIGNATURE_INVALID'],
    ['a staple for another key', { staple: { holder: holderKey(SecretKey.generate()).id } }, 'ERR_GRANT_INVALID'],
    ['something else', { answer: { grant: 'x' } }, 'ERR_PROTOCOL'],
    ['a number', { answer: 7 }, 'ERR_PROTOCOL'],
    [
      'a refusal',
      { refuses: () => new CtError('ERR_INVITATION_REVOKED', 'it was taken back') },
      'ERR_INVITATION_REVOKED',
    ],
  ]
  for (const [name, options, code] of lies) {
    it(`keeps nothing when the peer answers with ${name}`, async () => {
      const server = await inviter(options)
      const caller = new Caller()
      const refused = await caller.run(['join', server.invite(), '--json'])
      expect([errorOf(refused).code, refused.stdout]).toEqual([code, ''])
      expect(caller.names).toEqual([])
    })
  }

  const useless: readonly (readonly [string, (ticket: string) => string, string])[] = [
    ['is cut short', (ticket) => ticket.slice(0, -8), 'ERR_TICKET_INVALID'],
    ['lacks its beginning', (ticket) => ticket.slice(5), 'ERR_TICKET_INVALID'],
    [
      'has a wrong character',
      (ticket) => `${ticket.slice(0, 50)}${ticket[50] === 'a' ? 'b' : 'a'}${ticket.slice(51)}`,
      'ERR_TICKET_INVALID',
    ],
    ['is a name', () => 'bob', 'ERR_TICKET_INVALID'],
    ['has a grant of somebody else', withForeignGrant, 'ERR_TICKET_INVALID'],
  ]
  for (const [name, change, code] of useless) {
    it(`asks nobody when the ticket ${name}`, async () => {
      const server = await inviter()
      const caller = new Caller()
      const refused = await caller.run(['join', change(server.invite()), '--json'])
      expect([refused.status, errorOf(refused).code]).toEqual([2, code])
      expect([server.asked, caller.names]).toEqual([[], []])
    })
  }

  it('asks nobody when the invitation has expired', async () => {
    const server = await inviter()
    const refused = await new Caller().run(['join', server.invite(u64(unixSeconds(systemClock) - 1n)), '--json'])
    expect([refused.status, errorOf(refused).code]).toEqual([3, 'ERR_INVITATION_EXPIRED'])
    expect(server.asked).toEqual([])
  })

  const mistakes: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a name like a ticket', ['--name', 'ct1bob'], /--name: expected a name that does not begin like a ticket/],
    ['a name like a path', ['--name', '../bob'], /--name: expected a name of letters/],
    ['a name that shows as another', ['--as', 'a\u202eb'], /expected --as with a name/],
  ]
  for (const [name, flags, says] of mistakes) {
    it(`refuses ${name}`, async () => {
      const refused = await new Caller().run(['join', ticketPeer().ticket, ...flags])
      expect(refused.status).toBe(2)
      expect(refused.stderr).toMatch(says)
    })
  }
})

/** The same ticket with the grant of another operator in it. */
function withForeignGrant(ticket: string): string {
  const parsed = parseTicket(ticket)
  if (parsed.rendezvous === undefined) throw new TypeError('expected an invitation')
  return formatTicket({ ...parsed, rendezvous: { ...parsed.rendezvous, operator: holderKey(SecretKey.generate()).id } })
}
