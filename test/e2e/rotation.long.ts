import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { PeerStore } from '../../src/agent/peers/peer-store.ts'
import { parseTicket } from '../../src/channel/index.ts'
import { openGrant } from '../../src/channel/membership/index.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { pause, systemClock } from '../../src/core/time.ts'
import { u64 } from '../../src/core/u64.ts'
import { named } from '../agent/peers/peers.ts'
import { pidsIn } from '../mcp/services/processes.ts'
import { Club, codeOf, untilIt } from './club.ts'
import { it, type Stage } from './stage.ts'

const ECHO = ['--handler', 'cat', '--services', 'echo'] as const
/** Says that it runs, and ends when it is let. */
const HELD = [
  '--handler',
  'echo $$ > own; mv own pids; while [ ! -e go ]; do sleep 0.05; done; cat',
  '--services',
  'echo',
]
const CALL = ['call', 'club', 'service/echo', '{"input":"x"}'] as const

interface Rotated {
  readonly from: HolderId
  readonly to: HolderId
  readonly overlap_until: number
}

async function rotate(club: Club, ...more: readonly string[]): Promise<Rotated> {
  const { status, stdout } = await club.own(['member', 'rotate-operator', '--json', ...more])
  expect(status).toBe(0)
  return JSON.parse(stdout) as Rotated
}

/** Whether this key signed the grant that the member keeps. */
function isGrantedBy(stage: Stage, member: string, operator: HolderId): boolean {
  const peer = new PeerStore(stage.path(member)).find(named('club'))
  if (peer?.kind !== 'member') throw new TypeError('expected a membership')
  try {
    openGrant(peer.grant, { operator, now: u64(0) })
    return true
  } catch {
    return false
  }
}

/** Calls until the member has a grant of this key. */
async function renews(club: Club, member: string, operator: HolderId): Promise<void> {
  await untilIt(`renews ${member}`, async () => {
    expect((await club.as(member, ['call', 'club', 'ping'])).status).toBe(0)
    return isGrantedBy(club.stage, member, operator)
  })
}

describe.concurrent('an operator that changes its key', { timeout: 120_000 }, () => {
  it('loses no call, no member and no open invitation while the overlap lasts', async ({ stage }) => {
    const club = await Club.open(stage, HELD)
    await club.serve()
    await club.join('alice', await club.invite(['--name', 'alice']))
    const open = await club.invite(['--name', 'bob'])
    const call = club.as('alice', CALL)
    await pidsIn(stage.path('pids'))
    const { from, to } = await rotate(club)
    stage.touch(stage.path('go'))
    expect(await call).toMatchObject({ status: 0, stdout: 'x\n' })
    await renews(club, 'alice', to)
    await club.join('bob', open)
    expect((await club.as('bob', CALL)).stdout).toBe('x\n')
    expect(isGrantedBy(stage, 'bob', to)).toBe(true)
    // The channel goes by its first key, and newcomers are told how it came to the other.
    const ticket = await club.invite(['--name', 'carol'])
    const { rendezvous } = parseTicket(ticket)
    if (rendezvous === undefined) throw new TypeError('expected an invitation')
    expect([rendezvous.operator, rendezvous.successions?.map(({ body }) => body.to)]).toEqual([from, [to]])
    expect(openGrant(rendezvous.grant, { operator: to, now: u64(0) }).body.direction).toBe('initiate')
    await club.join('carol', ticket)
    expect((await club.as('carol', CALL)).stdout).toBe('x\n')
    expect((await club.own(['member', 'remove', 'carol'])).status).toBe(0)
    const removed = await club.as('carol', ['call', 'club', 'ping', '--json'])
    expect([removed.status, codeOf(removed)]).toEqual([3, 'ERR_MEMBER_REMOVED'])
  })

  it('is followed by who came in time, and nobody follows the old key after the overlap', async ({ stage }) => {
    const club = await Club.open(stage, ECHO)
    const server = await club.serve()
    for (const member of ['alice', 'carol']) await club.join(member, await club.invite(['--name', member]))
    const open = await club.invite(['--name', 'dave'])
    const old = readFileSync(`${stage.path('server')}/operator.key`, 'utf8').trim()
    const channel = readFileSync(`${stage.path('server')}/channel.id`, 'utf8').trim()
    const { from, to, overlap_until } = await rotate(club, '--overlap', '12s')
    await renews(club, 'alice', to)
    await pause(systemClock, overlap_until * 1_000 - Date.now())
    const away = await club.as('carol', ['call', 'club', 'ping', '--json'])
    expect([away.status, codeOf(away)]).toEqual([3, 'ERR_GRANT_EXPIRED'])
    expect(away.stderr).toMatch(/changed its key.*ask for a new invitation/)
    const late = await club.as('dave', ['join', open, '--json'])
    expect([late.status, codeOf(late)]).toEqual([3, 'ERR_GRANT_EXPIRED'])
    // Whoever has the old key removes nobody with it.
    const member = new PeerStore(stage.path('alice')).find(named('club'))
    if (member?.kind !== 'member') throw new TypeError('expected a membership')
    const args = ['channel', 'revoke', '--channel', channel, '--member', member.grant.body.holder]
    const keys = { CT_CHANNEL_OPERATOR_KEY: old, CT_CHANNEL_OPERATOR_PUBKEY: from }
    const revoked = await club.as('mallory', [...args, '--broker', club.broker, '--json'], keys)
    expect([revoked.status, codeOf(revoked)]).toEqual([3, 'ERR_SIGNATURE_INVALID'])
    expect((await club.as('alice', ['call', 'club', 'ping'])).status).toBe(0)
    await server.kill()
    await club.serve()
    expect((await club.as('alice', ['call', 'club', 'ping'])).status).toBe(0)
    await club.join('carol', await club.invite(['--name', 'carol']))
    expect((await club.as('carol', CALL)).stdout).toBe('x\n')
  })
})
