import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { describe, expect } from 'vitest'
import { formatTicket, parseBroker, parseTicket, type Ticket } from '../../src/channel/index.ts'
import { GRANT } from '../../src/channel/membership/index.ts'
import { seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type Env } from '../../src/core/env.ts'
import { type ChannelId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { u64 } from '../../src/core/u64.ts'
import { certificate } from '../channel/certificates.ts'
import { type Agent } from './agent.ts'
import { Meeting } from './brokered.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

interface Found {
  readonly check: string
  readonly status: string
  readonly code: string
  readonly message: string
  readonly fix?: string
}

interface Diagnosis {
  readonly status: number | null
  readonly checks: readonly Found[]
  /** Codes of what is wrong, or worth a look. */
  readonly bad: readonly string[]
  readonly codes: readonly string[]
}

async function examine(stage: Stage, args: readonly string[], env: Env = {}): Promise<Diagnosis> {
  const { status, stdout } = await stage.finish(['doctor', '--json', ...args], { env: stateOf(stage, 'caller', env) })
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Found[] }
  expect(status).toBe(ok ? 0 : 1)
  const bad = checks.filter((each) => each.status === 'fail' || each.status === 'warn')
  expect(bad.filter(({ fix }) => fix === undefined)).toEqual([])
  return { status, checks, bad: bad.map(({ code }) => code), codes: checks.map(({ code }) => code) }
}

async function serve(stage: Stage, ...args: readonly string[]): Promise<{ agent: Agent; ticket: string }> {
  const agent = stage.start(['serve', '--listen', '127.0.0.1:0', ...args], { env: stateOf(stage, 'server') })
  return { agent, ticket: await agent.line() }
}

function changed(ticket: string, change: (ticket: Ticket) => Partial<Ticket>): string {
  const parsed = parseTicket(ticket)
  return formatTicket({ ...parsed, ...change(parsed) })
}

async function webServer(stage: Stage): Promise<number> {
  const server = createServer((_, response) => response.writeHead(400).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stage.onClose(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe('ct-agent doctor', SLOW, () => {
  it('finds nothing wrong with a peer, a broker and a relay that work, and leaves no trace', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const { ticket } = await serve(stage, '--broker', address)
    const { status, bad, codes } = await examine(stage, [ticket])
    expect({ status, bad }).toEqual({ status: 0, bad: [] })
    expect(codes).toEqual(expect.arrayContaining(['broker.ok', 'relay.ok', 'ticket.ok', 'peer.ok']))
    expect(existsSync(stage.path('caller'))).toBe(false)
  })

  it('says for people what is wrong, and what to do', async ({ stage }) => {
    const env = stateOf(stage, 'caller')
    const { status, stdout } = await stage.finish(['doctor', 'nobody', '--listen', '192.0.2.1:1'], { env })
    expect(status).toBe(1)
    expect(stdout).toMatch(/^FAIL {2}port\s+192\.0\.2\.1:1: .*\(port\.not_here\)\n\s+→ listen at/m)
    expect(stdout).toMatch(/^FAIL {2}ticket .*nobody.*\n\s+→ see ct-agent peer list/m)
    expect(stdout).toMatch(/^2 things are wrong$/m)
  })

  for (const [what, code, change] of [
    ['a stranger at the address', 'peer.other_key', () => ({ holder: holderKey(SecretKey.generate()).id })],
    ['a ticket that is no longer good', 'peer.refused', () => ({ secret: SecretKey.generate() })],
    ['a peer that is gone', 'peer.closed', () => ({ addresses: [{ host: '127.0.0.1', port: 1 }] })],
  ] as const) {
    it(`finds ${what}`, async ({ stage }) => {
      const { ticket } = await serve(stage)
      expect((await examine(stage, [changed(ticket, change)])).bad).toEqual([code])
    })
  }

  it('finds a peer that is frozen', async ({ stage }) => {
    const { agent, ticket } = await serve(stage)
    agent.signal('SIGSTOP')
    expect((await examine(stage, [ticket])).bad).toEqual(['peer.silent'])
  })

  it('finds a peer that does not trust this key', async ({ stage }) => {
    const { ticket } = await serve(stage, '--allow', holderKey(SecretKey.generate()).id)
    expect((await examine(stage, [ticket])).bad).toEqual(['peer.refused'])
  })

  it('finds something else where the peer should be', async ({ stage }) => {
    const { ticket } = await serve(stage)
    const addresses = [{ host: '127.0.0.1', port: await webServer(stage) }]
    expect((await examine(stage, [changed(ticket, () => ({ addresses }))])).bad).toEqual(['peer.not_a_peer'])
  })

  it('finds a peer that is not at the broker, and a broker that is another', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    const { agent, ticket } = await serve(stage, '--broker', address, '--relay-only')
    agent.signal('SIGTERM')
    await agent.exit
    expect((await examine(stage, [ticket])).bad).toEqual(['peer.unreachable'])
    const other = await new Meeting(stage).broker({}, 'other')
    const pin = address.replace(/.*\/p2p\//, '')
    const args = ['--broker', other.address.replace(/\/p2p\/.*/, `/p2p/${pin}`)]
    expect((await examine(stage, args)).bad).toEqual(['broker.other_key'])
  })

  it('finds a broker that is for other operators, and one whose relay is full', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const closed = await meeting.broker({ CT_BROKER_OPERATORS: meeting.operator.id })
    expect((await examine(stage, ['--broker', closed.address])).bad).toEqual(['broker.private'])
    const full = await meeting.broker({ CT_BROKER_MAX_RESERVATIONS: '1' }, 'full')
    await meeting.accept(full.address)
    const { bad, codes } = await examine(stage, ['--broker', full.address])
    expect(bad).toEqual(['relay.no_place'])
    expect(codes).toContain('broker.ok')
  })

  it('finds a front door that nobody vouches for, and asks it for the time', async ({ stage }) => {
    const { cert, key } = certificate({ names: ['localhost'] })
    writeFileSync(stage.path('cert.pem'), cert)
    writeFileSync(stage.path('key.pem'), key, { mode: 0o600 })
    const { address } = await new Meeting(stage).broker({
      CT_BROKER_WS_LISTEN: '127.0.0.1:0',
      CT_BROKER_TLS_CERT: 'cert.pem',
      CT_BROKER_TLS_KEY: 'key.pem',
    })
    const port = /\/tcp\/(\d+)\/tls\/ws/.exec(address)?.[1] ?? ''
    const args = ['--front-door', `localhost:${port}`]
    const untrusted = await examine(stage, args)
    expect(untrusted.bad).toEqual(['broker.certificate'])
    expect(untrusted.codes).toContain('clock.ok')
    expect((await examine(stage, [...args, '--front-door-cert', 'cert.pem'])).bad).toEqual([])
  })

  it('finds that a ticket has expired, and does not go there', async ({ stage }) => {
    const operator = holderKey(SecretKey.generate())
    const secret = SecretKey.generate()
    const broker = parseBroker('127.0.0.1:1')
    if ('problem' in broker) throw new Error(broker.problem)
    const grant = seal(
      GRANT,
      {
        channel: toHex(SecretKey.generate().reveal()) as ChannelId,
        holder: holderKey(secret).id,
        direction: 'initiate',
        rights: 'rw',
        delegable: true,
        expiresAt: u64(1_700_000_000),
      },
      operator.secret,
    )
    const rendezvous = { broker: [broker.value], operator: operator.id, grant }
    const ticket = formatTicket({ holder: operator.id, addresses: [], secret, rendezvous })
    const { bad, codes } = await examine(stage, [ticket])
    expect(bad).toEqual(['broker.closed', 'ticket.expired'])
    expect(codes).toContain('peer.skipped')
  })

  it('redeems no invitation', async ({ stage }) => {
    const { address } = await new Meeting(stage).broker()
    await serve(stage, '--broker', address)
    const { stdout } = await stage.finish(['invite'], { env: stateOf(stage, 'server') })
    const invitation = stdout.split('\n')[0] ?? ''
    const { bad, codes } = await examine(stage, [invitation])
    expect(bad).toEqual([])
    expect(codes).toEqual(expect.arrayContaining(['ticket.invitation', 'peer.skipped']))
    const join = await stage.finish(['join', invitation], { env: stateOf(stage, 'friend') })
    expect(join.status).toBe(0)
    const known = await stage.finish(['peer', 'list', '--json'], { env: stateOf(stage, 'friend') })
    const [{ name = '' } = {}] = JSON.parse(known.stdout) as { name?: string }[]
    expect(await examineAs(stage, 'friend', [name])).toEqual([])
    const stolen = { CT_CHANNEL_HOLDER_KEY: toHex(SecretKey.generate().reveal()) }
    expect(await examineAs(stage, 'friend', [name], stolen)).toEqual(['ticket.not_ours'])
  })

  it('knows its own agent at a port from another program', async ({ stage }) => {
    const { agent } = await serve(stage)
    const port = await agent.says(/at 127\.0\.0\.1:(\d+)/)
    const args = ['--listen', `127.0.0.1:${port}`]
    expect((await examine(stage, args)).bad).toEqual(['port.in_use'])
    expect(await examineAs(stage, 'server', args)).toEqual([])
  })

  for (const [what, code, args, env] of [
    ['a ticket that is cut off', 'ticket.invalid', ['ct1abcdef'], {}],
    ['a name that nobody has', 'ticket.unknown_peer', ['nobody'], {}],
    ['a file that is not there', 'ticket.invalid', ['@nowhere'], {}],
    ['a bad variable', 'settings.invalid', [], { CT_CHANNEL_IDLE_SECS: 'soon' }],
    ['a bad variable that all commands need', 'settings.invalid', [], { CT_LOG_LEVEL: 'loud' }],
    ['a variable with a slip', 'settings.unknown', [], { CT_CHANNEL_LISTN: '127.0.0.1:0' }],
    ['a settings file that is not there', 'settings.file', [], { CT_CONFIG_FILE: 'nowhere' }],
    ['a certificate that is none', 'settings.invalid', ['--front-door-cert', 'nowhere.pem'], {}],
    ['a handler that is not there', 'handler.missing', ['--handler', './nowhere.sh', '--services', 'x'], {}],
    ['a handler that no shell reads', 'handler.syntax', ['--handler', 'if', '--services', 'x'], {}],
    ['a handler without a service', 'handler.unused', ['--handler', 'cat'], {}],
    ['an MCP server that writes on stdout', 'server.stdout', [], { CT_AGENT_MCP_SERVER_CMD: 'echo hello; cat' }],
    ['an MCP server after -- that ends', 'server.ended', ['--', 'sh', '-c', 'exit 3'], {}],
    ['an MCP server that is not there', 'server.missing', [], { CT_AGENT_MCP_SERVER_CMD: 'no-such-server' }],
    ['a broker that is not there', 'broker.closed', ['--broker', '127.0.0.1:1'], {}],
    ['an address of another machine', 'port.not_here', ['--listen', '192.0.2.1:0'], {}],
  ] as const) {
    it(`finds ${what}`, async ({ stage }) => {
      const { bad } = await examine(stage, args, env)
      expect(bad.filter((each) => each !== code && !unknownYet(each))).toEqual([])
      expect(bad).toContain(code)
    })
  }

  it('finds a name that nobody knows, or that nobody can ask for', async ({ stage }) => {
    const { bad } = await examine(stage, ['--broker', 'no-such-host.invalid:4435'])
    expect(bad[0]).toMatch(/^dns\.(?:not_found|dead)$/)
    expect(bad[1]).toBe('broker.unreachable')
  })

  it('finds keys and folders that others can get at', async ({ stage }) => {
    const folder = stage.path('caller')
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(`${folder}/holder.key`, `${'ab'.repeat(32)}\n`)
    chmodSync(`${folder}/holder.key`, 0o644)
    expect((await examine(stage, [])).bad).toEqual(['state.key'])
    chmodSync(folder, 0o777)
    expect((await examine(stage, [])).bad[0]).toBe('state.open')
    writeFileSync(stage.path('settings'), `CT_CHANNEL_HOLDER_KEY=${'ab'.repeat(32)}\n`)
    chmodSync(stage.path('settings'), 0o644)
    const { bad } = await examine(stage, ['--config', 'settings'])
    expect(bad).toContain('settings.file')
  })
})

/** The variable belongs to a part that not every build has. */
function unknownYet(code: string): boolean {
  return code === 'settings.unknown'
}

async function examineAs(
  stage: Stage,
  name: string,
  args: readonly string[],
  env: Env = {},
): Promise<readonly string[]> {
  return (await examine(stage, args, stateOf(stage, name, env))).bad
}
