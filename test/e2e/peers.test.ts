import { describe, expect } from 'vitest'
import { formatTicket, parseBroker, parseTicket } from '../../src/channel/index.ts'
import { type Env } from '../../src/core/env.ts'
import { type Agent } from './agent.ts'
import { Meeting } from './brokered.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const ECHO = ['--handler', 'cat', '--services', 'echo'] as const
const PONG = { status: 0, stdout: '{"reply":"pong"}\n', stderr: '' }

/** A broker, an agent that serves through it, and agents that come by invitation. */
class Party {
  readonly #stage: Stage
  readonly broker: Agent
  readonly server: Agent

  static async open(stage: Stage, args: readonly string[] = ['--listen', '127.0.0.1:0']): Promise<Party> {
    const { agent, address } = await new Meeting(stage).broker()
    const server = stage.start(['serve', '--broker', address, ...args, ...ECHO], { env: stateOf(stage, 'server') })
    await server.says(/reachable through the relay/)
    return new Party(stage, agent, server)
  }

  private constructor(stage: Stage, broker: Agent, server: Agent) {
    this.#stage = stage
    this.broker = broker
    this.server = server
  }

  run(agent: string, args: readonly string[], env: Env = {}) {
    return this.#stage.finish(args, { env: { ...stateOf(this.#stage, agent), ...env } })
  }

  async invite(...args: readonly string[]): Promise<string> {
    return (await this.run('server', ['invite', ...args])).stdout.trim()
  }
}

describe.concurrent('a peer that was joined', SLOW, () => {
  it('is that of one of two who redeem an invitation at once, and is called directly while the broker is down', async ({
    stage,
  }) => {
    const party = await Party.open(stage)
    const ticket = await party.invite()
    const pasted = (ticket.match(/.{1,60}/g) ?? []).join('\n  ')
    const agents = ['one', 'two']
    const join = ['join', '--name', 'bob', '--as', 'alice', '--json']
    const ended = await Promise.all(agents.map((agent) => party.run(agent, join, { CT_TICKET: pasted })))
    expect(ended.map(({ status }) => status).sort()).toEqual([0, 3])
    const won = ended.findIndex(({ status }) => status === 0)
    expect(ended[1 - won]?.stderr).toMatch(/ERR_INVITATION_USED/)
    const { holder } = parseTicket(ticket)
    const addresses = [expect.stringMatching(/^127\.0\.0\.1:\d+$/)]
    const known = { name: 'bob', kind: 'member', holder, known_as: 'alice', addresses }
    expect(JSON.parse(ended[won]?.stdout ?? '')).toMatchObject(known)

    const winner = agents[won] ?? ''
    expect((await party.run(winner, ['tools', 'bob'])).stdout).toMatch(/^service\/echo /m)
    await party.broker.kill()
    expect(await party.run(winner, ['call', 'bob', 'service/echo', '{"input":"hi"}'])).toEqual({
      status: 0,
      stdout: 'hi\n',
      stderr: '',
    })
  })

  it('is reached through the relay by an invitation that is redeemed in passing, at its own broker, until it is removed', async ({
    stage,
  }) => {
    const party = await Party.open(stage, ['--relay-only'])
    const ticket = await party.invite('--name', 'carol')
    const lost = await party.run('caller', ['join', await elsewhere(stage, ticket), '--timeout', '2', '--json'])
    expect([lost.status, JSON.parse(lost.stderr)]).toMatchObject([6, { error: { code: 'ERR_TIMEOUT' } }])

    const name = `peer-${parseTicket(ticket).holder.slice(0, 6)}`
    const notice = `ct-agent: joined, and remembered as ${name}: the ticket is not needed again\n`
    expect(await party.run('caller', ['call', ticket, 'ping'])).toEqual({ ...PONG, stderr: notice })
    expect(await party.run('caller', ['call', name, 'ping'])).toEqual(PONG)

    expect((await party.run('server', ['member', 'remove', 'carol'])).status).toBe(0)
    const refused = await party.run('caller', ['call', ticket, 'ping', '--json'])
    expect([refused.status, refused.stdout]).toEqual([3, ''])
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: { code: 'ERR_MEMBER_REMOVED', message: expect.stringMatching(/^peer-\w+ no longer takes this agent/) },
    })
  })
})

/** The invitation with another broker in it, where nobody is. */
async function elsewhere(stage: Stage, ticket: string): Promise<string> {
  const invitation = parseTicket(ticket)
  const { address } = await new Meeting(stage).broker({}, 'other-broker')
  const place = parseBroker(address)
  if ('problem' in place || invitation.rendezvous === undefined) throw new TypeError('expected a broker')
  return formatTicket({ ...invitation, rendezvous: { ...invitation.rendezvous, broker: [place.value] } })
}
