import { describe, expect } from 'vitest'
import { formatTicket, parseTicket } from '../../src/channel/index.ts'
import { type Env } from '../../src/core/env.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { type Agent } from './agent.ts'
import { Meeting, portOf } from './brokered.ts'
import { SELLING } from './seller.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const METRICS: Env = { CT_BROKER_HTTP_LISTEN: '127.0.0.1:0' }
const ECHO = ['--handler', 'cat', '--services', 'echo'] as const

interface Server {
  readonly agent: Agent
  readonly ticket: string
}

/** Starts a serving agent and waits until it can be met. */
async function serve(stage: Stage, broker: string, args: readonly string[], env: Env = {}): Promise<Server> {
  const agent = stage.start(['serve', '--broker', broker, ...args], { env: { ...stateOf(stage, 'server'), ...env } })
  const ticket = await agent.line()
  await agent.says(/reachable through the relay/)
  return { agent, ticket }
}

/** One that nobody can dial. */
function serveBehindNat(stage: Stage, broker: string, args: readonly string[] = ECHO, env: Env = {}): Promise<Server> {
  return serve(stage, broker, ['--relay-only', ...args], env)
}

function ask(stage: Stage, args: readonly string[], caller = 'caller') {
  return stage.finish(args, { env: stateOf(stage, caller) })
}

/** What the broker counts. */
async function counted(broker: Agent, name: string): Promise<number> {
  const url = await broker.says(/(http:\S+)\/metrics/)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1])
}

describe.concurrent('a ticket with a broker', SLOW, () => {
  it('is all that a caller needs to list, call and buy where nobody can be dialled', async ({ stage }) => {
    const broker = await new Meeting(stage).broker(METRICS)
    const { agent, ticket } = await serveBehindNat(stage, broker.address, [], SELLING)
    expect(agent.stdout).toBe(`${ticket}\n`)
    expect(agent.stderr).not.toContain(ticket)
    expect(agent.stderr).toMatch(/^ct-agent: through the broker at 127\.0\.0\.1:\d+$/m)
    expect(agent.stderr).toMatch(/^ct-agent: joined at the broker, which sees this side at 127\.0\.0\.1:\d+; /m)
    expect(parseTicket(ticket).addresses).toEqual([])

    const list = await ask(stage, ['tools', ticket])
    expect([list.status, list.stderr]).toEqual([0, ''])
    expect(list.stdout).toContain('service/safety_check')
    expect(await ask(stage, ['call', ticket, 'service/safety_check', '{"input":"über"}'])).toEqual({
      status: 0,
      stdout: 'über\n',
      stderr: '',
    })
    const bid = ['--bid', '--units', '60', '--price', '600', '--model', 'm1']
    const bought = await ask(stage, ['offer', 'fetch', ticket, ...bid, '--json'])
    expect([bought.status, bought.stderr]).toEqual([0, ''])
    expect(JSON.parse(bought.stdout)).toMatchObject({ valid: true, match: { units: 60 } })
    expect(await counted(broker.agent, 'ct_broker_relayed_connections_total')).toBe(3)
  })

  it('serves two callers at once, and one on the same machine', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const { ticket } = await serveBehindNat(stage, address)
    // Addresses at which it was once do not keep anybody from it.
    const moved = formatTicket({ ...parseTicket(ticket), addresses: [{ host: '127.0.0.1', port: 1 }] })
    const callers = (
      [
        ['one', ticket],
        ['two', moved],
        ['server', ticket],
      ] as const
    ).map(([caller, shown]) => ask(stage, ['call', shown, 'ping'], caller))
    for (const call of callers) {
      expect(await call).toEqual({ status: 0, stdout: '{"reply":"pong"}\n', stderr: '' })
    }
  })

  it('is read with line breaks in it, and tells programs how it leads here', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const args = ['--json', '--ticket-days', '2']
    const { ticket: line } = await serveBehindNat(stage, address, args)
    const said = JSON.parse(line) as { ticket: string; expires_at: number }
    expect(said).toEqual({
      ticket: expect.stringMatching(/^ct1[a-z2-7]+$/),
      holder: parseTicket(said.ticket).holder,
      addresses: [],
      broker: [address],
      expires_at: expect.any(Number),
      tools: ['ping'],
    })
    const days = (said.expires_at - Date.now() / 1_000) / 86_400
    expect(days).toBeGreaterThan(1.9)
    expect(days).toBeLessThanOrEqual(2)
    const pasted = (said.ticket.match(/.{1,60}/g) ?? []).join('\n  ')
    const env = { ...stateOf(stage, 'caller'), CT_TICKET: pasted }
    expect((await stage.finish(['call', 'ping'], { env })).status).toBe(0)
  })

  it('stays the same channel from run to run, and is worth nothing after --new-ticket', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const first = await serveBehindNat(stage, address)
    first.agent.signal('SIGTERM')
    expect((await first.agent.exit).status).toBe(0)
    const second = await serveBehindNat(stage, address)
    expect((await ask(stage, ['call', first.ticket, 'ping'])).status).toBe(0)
    await second.agent.kill()
    const third = await serveBehindNat(stage, address, ['--new-ticket'])
    const refused = await ask(stage, ['call', first.ticket, 'ping', '--json'])
    expect([refused.status, refused.stdout]).toEqual([3, ''])
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: { code: 'ERR_PEER_REFUSED', message: 'the ticket is not, or no longer, the one this side gave out' },
    })
    expect((await ask(stage, ['call', third.ticket, 'ping'])).status).toBe(0)
  })

  it('admits of those who have it only named keys, where keys are named', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const own = SecretKey.generate()
    const { agent, ticket } = await serveBehindNat(stage, address, ['--allow', holderKey(own).id])
    expect(agent.stderr).toMatch(/only the keys in .* may call, and only with the ticket$/m)
    expect((await ask(stage, ['call', ticket, 'ping'])).status).toBe(3)
    const env = { ...stateOf(stage, 'caller'), CT_CHANNEL_HOLDER_KEY: Buffer.from(own.reveal()).toString('hex') }
    expect((await stage.finish(['call', ticket, 'ping'], { env })).status).toBe(0)
  })

  it('leads straight to who can be dialled, also while the broker is down', async ({ stage }) => {
    const broker = await new Meeting(stage).broker(METRICS)
    const { ticket } = await serve(stage, broker.address, ['--listen', '127.0.0.1:0', ...ECHO])
    expect(parseTicket(ticket).addresses).toEqual([{ host: '127.0.0.1', port: expect.any(Number) }])
    expect((await ask(stage, ['call', ticket, 'ping'])).status).toBe(0)
    expect(await counted(broker.agent, 'ct_broker_relayed_connections_total')).toBe(0)
    await broker.agent.kill()
    expect(await ask(stage, ['call', ticket, 'service/echo', '{"input":"hi"}'])).toEqual({
      status: 0,
      stdout: 'hi\n',
      stderr: '',
    })
  })

  it('ends in a code when the broker is down, and works again when it is back', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const first = await meeting.broker()
    const { agent, ticket } = await serveBehindNat(stage, first.address)
    await first.agent.kill()
    await agent.says(/the broker is not available, trying again \(ERR_/)
    const failed = await ask(stage, ['call', ticket, 'ping', '--timeout', '20', '--json'])
    expect([failed.status, failed.stdout]).toEqual([5, ''])
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'ERR_PEER_UNREACHABLE', retryable: true } })

    await meeting.broker({ CT_BROKER_LISTEN: `127.0.0.1:${portOf(first.address)}` })
    await agent.says(/trying again .*\n(?:.*\n)*ct-agent: reachable through the relay$/m)
    expect((await ask(stage, ['call', ticket, 'ping'])).status).toBe(0)
  })

  it('has its caller told that nobody is there, until the time is up', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const { agent, ticket } = await serveBehindNat(stage, address)
    agent.signal('SIGTERM')
    await agent.exit
    const waited = await ask(stage, ['call', ticket, 'ping', '--timeout', '5'])
    expect(waited.status).toBe(6)
    expect(waited.stderr).toMatch(/^ct-agent: joined at the broker, .*; waiting for a peer that accepts$/m)
    expect(waited.stderr).toMatch(/ERR_TIMEOUT/)
  })
})

describe.concurrent('ct-agent serve --broker', SLOW, () => {
  it('ends with the reason when the broker refuses it', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker({ CT_BROKER_OPERATORS: meeting.operator.id })
    const ended = await stage.finish(['serve', '--broker', address], { env: stateOf(stage, 'server') })
    expect(ended.status).toBe(3)
    expect(ended.stderr).toMatch(/the broker refused the join \(not-member\)/)
  })

  it('serves on while no broker is there yet', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const first = await meeting.broker()
    await first.agent.kill()
    const agent = stage.start(['serve', '--broker', first.address, '--relay-only'], { env: stateOf(stage, 'server') })
    const ticket = await agent.line()
    await agent.says(/the broker is not available, trying again \(ERR_PEER_UNREACHABLE/)
    await meeting.broker({ CT_BROKER_LISTEN: `127.0.0.1:${portOf(first.address)}` })
    await agent.says(/reachable through the relay/)
    expect((await ask(stage, ['call', ticket, 'ping'])).status).toBe(0)
  })

  const mistakes: readonly { name: string; args: readonly string[]; says: RegExp }[] = [
    { name: 'a relay without a broker', args: ['--relay-only'], says: /CT_CHANNEL_BROKER required/ },
    { name: 'a broker that is none', args: ['--broker', 'broker.example'], says: /CT_CHANNEL_BROKER invalid/ },
    { name: 'a ticket for no day', args: ['--ticket-days', '0'], says: /CT_TICKET_DAYS invalid .*from 1 to 3650/ },
  ]
  for (const { name, args, says } of mistakes) {
    it(`refuses ${name}`, async ({ stage }) => {
      const ended = await stage.finish(['serve', ...args], { env: stateOf(stage, 'server') })
      expect([ended.status, ended.stdout]).toEqual([2, ''])
      expect(ended.stderr).toMatch(says)
    })
  }
})
