import { describe, expect } from 'vitest'
import { parseTicket } from '../../src/channel/index.ts'
import { type Ended } from '../agent/fake-io.ts'
import { pidsIn, untilGone } from '../mcp/services/processes.ts'
import { Club, codeOf, untilIt } from './club.ts'
import { it, SLOW } from './stage.ts'

const STUCK = ['--handler', 'echo $$ > own; mv own pids; exec sleep 60', '--services', 'echo'] as const
const ECHO = ['--handler', 'cat', '--services', 'echo,other'] as const

describe.concurrent('a member', SLOW, () => {
  it('that is removed is told so within a second, in the middle of its call, which is stopped', async ({ stage }) => {
    const club = await Club.open(stage, [...STUCK, '--members-only'])
    const server = await club.serve()
    expect(server.stdout).toBe('')
    await club.join('alice', await club.invite(['--name', 'alice']))
    const call = club.as('alice', ['call', 'club', 'service/echo', '{"input":"x"}', '--json'])
    const handler = await pidsIn(stage.path('pids'))
    const removed = await club.own(['member', 'remove', 'alice', '--json'])
    const since = performance.now()
    expect(JSON.parse(removed.stdout)).toEqual({ name: 'alice', holder: expect.any(String), was_removed: false })
    const ended = await call
    expect(performance.now() - since).toBeLessThan(1_000)
    expect([ended.status, codeOf(ended)]).toEqual([3, 'ERR_MEMBER_REMOVED'])
    await untilGone(handler)
    const again = await club.as('alice', ['call', 'club', 'ping', '--json'])
    expect([again.status, codeOf(again)]).toEqual([3, 'ERR_MEMBER_REMOVED'])
    const back = await club.own(['member', 'renew', 'alice'])
    expect(back.stdout).toMatch(/^let in again {2}alice {2}rw {2}all tools {2}until /)
    // The broker has to hear of it first.
    await untilIt('lets alice in again', async () => (await club.as('alice', ['call', 'club', 'ping'])).status === 0)
  })

  it('sees and calls the tools that its invitation names, and others once it may', async ({ stage }) => {
    const club = await Club.open(stage, ECHO)
    const server = await club.serve()
    const ticket = await club.invite(['--tools', 'echo', '--rights', 'rw', '--uses', '2'])
    expect(parseTicket(ticket).rendezvous?.isInvitation).toBe(true)
    await club.join('alice', ticket)
    const list = await club.as('alice', ['tools', 'club', '--json'])
    expect(list.stdout).toMatch(/service\/echo/)
    expect(list.stdout).not.toMatch(/service\/other/)
    const refused = await club.as('alice', ['call', 'club', 'service/other', '{"input":"x"}', '--json'])
    expect([refused.status, codeOf(refused)]).toEqual([3, 'ERR_TOOL_NOT_ALLOWED'])
    const [, line = ''] = /^(member-\S+)/m.exec((await club.own(['member', 'list'])).stdout) ?? []
    await club.own(['member', 'renew', line, '--tools', 'other', '--name', 'alice'])
    expect((await club.as('alice', ['call', 'club', 'service/other', '{"input":"x"}'])).stdout).toBe('x\n')
    // Nobody needed a restart.
    expect(server.stdout.split('\n')).toHaveLength(2)
  })
})

describe.concurrent('an invitation', SLOW, () => {
  it('is worth nothing once it is used or taken back, and survives a restart', async ({ stage }) => {
    const club = await Club.open(stage, ECHO)
    const first = await club.serve()
    const ticket = await club.invite(['--name', 'alice'])
    await club.join('alice', ticket)
    await first.kill()
    await club.serve()
    const used = await club.as('bob', ['join', ticket, '--json'])
    expect([used.status, codeOf(used)]).toEqual([3, 'ERR_INVITATION_USED'])
    const other = JSON.parse(await club.invite(['--json'])) as { ticket: string; id: string }
    expect((await club.own(['invite', 'revoke', other.id])).stdout).toBe(`revoked ${other.id}\n`)
    // The broker or the serving side is the first to know, and in between the way to it ends.
    const attempts: Ended[] = []
    await untilIt('refuses bob for good', async () => {
      attempts.push(await club.as('bob', ['join', other.ticket, '--json']))
      return attempts.at(-1)?.status !== 5
    })
    expect(attempts.at(-1)).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/"code":"(ERR_INVITATION_REVOKED|ERR_MEMBER_REMOVED)"/),
    })
    const { stdout } = await club.own(['invite', 'list', '--json'])
    const { invitations } = JSON.parse(stdout) as { invitations: readonly { state: string; used: number }[] }
    expect(invitations.map(({ state, used }) => [state, used])).toEqual([
      ['used', 1],
      ['revoked', 0],
    ])
    expect((await club.as('alice', ['call', 'club', 'ping'])).status).toBe(0)
  })
})
