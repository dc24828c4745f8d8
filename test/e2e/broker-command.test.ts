import { describe, expect } from 'vitest'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const LOOPBACK = ['broker', '--listen', '127.0.0.1:0'] as const
const BROKER_LINE = /^\/ip4\/127\.0\.0\.1\/tcp\/([1-9]\d*)\/p2p\/(12D3KooW\w{44})$/

function startBroker(stage: Stage, ...more: readonly string[]) {
  return stage.start([...LOOPBACK, ...more], { env: stateOf(stage, 'broker') })
}

describe.concurrent('ct-agent broker', SLOW, () => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    it(`prints the string that leads to it first, the rest elsewhere, and exits with 0 on ${name}`, async ({
      stage,
    }) => {
      const agent = startBroker(stage)
      expect(await agent.line()).toMatch(BROKER_LINE)
      await agent.says(/CT_CHANNEL_BROKER/)
      agent.signal(name)
      expect(await agent.exit).toEqual({ status: 0, signal: null })
      expect(agent.lines).toHaveLength(1)
    })
  }

  it('has the same identity from run to run', async ({ stage }) => {
    const identities: string[] = []
    for (let run = 0; run < 2; run += 1) {
      const agent = startBroker(stage)
      identities.push(BROKER_LINE.exec(await agent.line())?.[2] ?? '')
      agent.signal('SIGTERM')
      await agent.exit
    }
    expect(identities[0]).not.toBe('')
    expect(identities[1]).toBe(identities[0])
  })

  it('tells programs where it is in JSON', async ({ stage }) => {
    const agent = startBroker(stage, '--json', '--http-listen', '127.0.0.1:0')
    const said = JSON.parse(await agent.line())
    expect(said).toEqual({
      broker: expect.stringMatching(BROKER_LINE),
      addresses: [said.broker],
      http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    })
  })

  it('says over HTTP how it is and what it counts', async ({ stage }) => {
    const agent = startBroker(stage, '--http-listen', '127.0.0.1:0')
    const url = await agent.says(/status at (http:\S+)\/healthz/)
    const health = await fetch(`${url}/healthz`)
    expect([health.status, await health.text()]).toEqual([200, 'ok\n'])
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toMatch(/^ct_broker_rooms 0$/m)
    expect(metrics).toMatch(/^ct_broker_refusals_total\{category="grant-verify"\} 0$/m)
    expect(metrics).toMatch(/^ct_broker_resident_memory_bytes [1-9]\d+$/m)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${url}/state`)).status).toBe(404)
  })

  it('listens for WebSockets, and shows what it is to advertise instead of what it found', async ({ stage }) => {
    const agent = startBroker(stage, '--ws-listen', '127.0.0.1:0')
    expect(await agent.line()).toMatch(
      /^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/\w+,\/ip4\/127\.0\.0\.1\/tcp\/\d+\/ws\/p2p\/\w+$/,
    )
    const advertised = startBroker(
      stage,
      '--advertise',
      'broker.example.org:4435,/dns/broker.example.org/tcp/443/tls/ws',
    )
    expect(await advertised.line()).toMatch(
      /^\/dns\/broker\.example\.org\/tcp\/4435\/p2p\/\w+,\/dns\/broker\.example\.org\/tcp\/443\/tls\/ws\/p2p\/\w+$/,
    )
  })

  const mistakes: readonly { name: string; args: readonly string[]; status: number; says: RegExp }[] = [
    {
      name: 'a certificate without a key',
      args: ['--ws-listen', '127.0.0.1:0', '--tls-cert', 'a.pem'],
      status: 2,
      says: /CT_BROKER_TLS_KEY required/,
    },
    {
      name: 'a certificate without a WebSocket address',
      args: ['--tls-cert', 'a.pem', '--tls-key', 'b.pem'],
      status: 2,
      says: /CT_BROKER_WS_LISTEN required/,
    },
    {
      name: 'a certificate that is not there',
      args: ['--ws-listen', '127.0.0.1:0', '--tls-cert', 'a.pem', '--tls-key', 'b.pem'],
      status: 2,
      says: /cannot read "a\.pem"/,
    },
    {
      name: 'an operator that is no key',
      args: ['--operators', 'abc'],
      status: 2,
      says: /CT_BROKER_OPERATORS invalid/,
    },
    {
      name: 'an advertised address that cannot be one',
      args: ['--advertise', '/ip4/1.2.3.4/udp/1'],
      status: 2,
      says: /CT_BROKER_ADVERTISE invalid/,
    },
    {
      name: 'an address of another machine',
      args: ['--listen', '192.0.2.1:0'],
      status: 8,
      says: /ERR_ADDRESS_UNAVAILABLE/,
    },
  ]
  for (const { name, args, status, says } of mistakes) {
    it(`refuses ${name} before it listens`, async ({ stage }) => {
      const ended = await stage.finish(['broker', '--listen', '127.0.0.1:0', ...args], {
        env: stateOf(stage, 'broker'),
      })
      expect(ended.status).toBe(status)
      expect(ended.stderr).toMatch(says)
      expect(ended.stdout).toBe('')
    })
  }

  it('says when its port is taken', async ({ stage }) => {
    const [, port] = BROKER_LINE.exec(await startBroker(stage).line()) ?? []
    const ended = await stage.finish(['broker', '--listen', `127.0.0.1:${port}`], { env: stateOf(stage, 'other') })
    expect(ended.status).toBe(8)
    expect(ended.stderr).toContain('ERR_ADDRESS_IN_USE')
  })
})
