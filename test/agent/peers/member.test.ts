import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Peer } from '../../../src/agent/peers/peer.ts'
import { GRANT } from '../../../src/channel/membership/index.ts'
import { seal } from '../../../src/core/artefact.ts'
import { SecretKey } from '../../../src/core/keys.ts'
import { systemClock } from '../../../src/core/time.ts'
import { u64, unixSeconds } from '../../../src/core/u64.ts'
import { type Inviter } from './inviter.ts'
import { BOB, Caller, errorOf, inviter, PONG } from './joining.ts'
import { ticketPeer } from './peers.ts'

function endMembership(server: Inviter, caller: Caller): void {
  const { body } = caller.bob().grant
  const grant = seal(GRANT, { ...body, expiresAt: u64(unixSeconds(systemClock)) }, server.operator.secret)
  caller.store.change(BOB, (peer) => ({ ...peer, grant }) as Peer)
}

describe('a member', () => {
  it('renews beside its call when half of the time is over, and keeps that', async () => {
    const server = await inviter()
    const caller = new Caller()
    await caller.run(['join', server.invite(), '--name', 'bob'])
    const old = caller.bob()
    await caller.call('bob')
    expect(caller.bob()).toEqual(old)
    caller.store.change(BOB, (peer) => ({ ...peer, renewedAt: u64(old.renewedAt - 1_900n) }) as Peer)
    expect(await caller.call('bob')).toEqual(PONG)
    expect(server.asked.at(-1)).toBe('ct-agent/membership')
    expect(caller.bob().renewedAt).toBeGreaterThanOrEqual(old.renewedAt)
  })

  it('is told whose member it no longer is', async () => {
    const server = await inviter()
    const caller = new Caller()
    await caller.run(['join', server.invite(), '--name', 'bob'])
    server.remove(caller.bob().grant.body.holder)
    const refused = await caller.run(['call', 'bob', 'ping', '--json'])
    expect([refused.status, refused.stdout]).toEqual([3, ''])
    expect(errorOf(refused)).toMatchObject({
      code: 'ERR_MEMBER_REMOVED',
      message: expect.stringMatching(/^bob no longer takes this agent for a member \(/),
    })
  })

  it('asks nobody with a membership that has ended, or that is one of another key', async () => {
    const server = await inviter()
    const caller = new Caller()
    await caller.run(['join', server.invite(), '--name', 'bob'])
    const key = Buffer.from(SecretKey.generate().reveal()).toString('hex')
    const other = await caller.run(['call', 'bob', 'ping', '--json'], { env: { CT_CHANNEL_HOLDER_KEY: key } })
    expect(errorOf(other)).toMatchObject({
      code: 'ERR_GRANT_INVALID',
      message: expect.stringMatching(/^the membership at bob is one of the holder key /),
    })
    endMembership(server, caller)
    const ended = await caller.run(['call', 'bob', 'ping', '--json'])
    expect(errorOf(ended)).toMatchObject({
      code: 'ERR_GRANT_EXPIRED',
      message: expect.stringMatching(/^the membership at bob ended at /),
    })
  })
})

describe('an invitation that this agent has redeemed', () => {
  it('is redeemed again for another key of its own', async () => {
    const server = await inviter()
    const caller = new Caller()
    const ticket = server.invite()
    await caller.run(['join', ticket, '--name', 'bob'])
    const env = { CT_CHANNEL_HOLDER_KEY: Buffer.from(SecretKey.generate().reveal()).toString('hex') }
    const other = await caller.run(['call', ticket, 'ping', '--json'], { env })
    expect(errorOf(other).code).toBe('ERR_INVITATION_USED')
    expect(await caller.call(ticket)).toEqual(PONG)
  })

  it('is redeemed again when the membership has ended', async () => {
    const server = await inviter()
    const caller = new Caller()
    const ticket = server.invite()
    await caller.run(['join', ticket, '--name', 'bob'])
    endMembership(server, caller)
    expect(await caller.run(['call', ticket, 'ping'])).toMatchObject({ status: 0, stdout: PONG.stdout })
    expect(await caller.call('bob')).toEqual(PONG)
  })
})

describe('ct-agent peer', () => {
  it('lists, renames and forgets, and says what is no peer', async () => {
    const caller = new Caller()
    expect(await caller.run(['peer', 'list'])).toMatchObject({ status: 0, stdout: '', stderr: /no peers yet/ as never })
    caller.store.add(BOB, ticketPeer())
    expect((await caller.run(['peer', 'rename', 'bob', 'Robert'])).status).toBe(0)
    expect(JSON.parse((await caller.run(['peer', 'list', '--json'])).stdout)).toMatchObject([
      { name: 'robert', kind: 'ticket' },
    ])
    writeFileSync(join(caller.folder, 'peers', 'broken.json'), '', { mode: 0o600 })
    const list = await caller.run(['peer', 'list'])
    expect(list.stdout).toMatch(/^robert {2}by ticket, holder [^\n]*\n$/)
    expect(list.stderr).toMatch(/broken\.json: expected JSON/)
    expect((await caller.run(['peer', 'forget', 'broken'])).status).toBe(0)
    const unknown = await caller.run(['peer', 'forget', 'robbert'])
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringMatching(/did you mean robert\?/)])
    expect((await caller.run(['peer', 'forget', 'ROBERT'])).status).toBe(0)
    expect(caller.names).toEqual([])
  })
})
