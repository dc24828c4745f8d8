import { existsSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { run } from '../../src/agent/main.ts'
import { parseAddress } from '../../src/channel/address.ts'
import { formatAddress, formatTicket, parseTicket, type Session } from '../../src/channel/index.ts'
import { type Env } from '../../src/core/env.ts'
import { holderKey } from '../../src/core/keys.ts'
import { fakeIo } from '../agent/fake-io.ts'
import { until } from '../mcp/services/processes.ts'
import { Members, serving } from './members.ts'
import { listenAs } from './own-member.ts'
import { startProxy } from './proxy.ts'
import { silentServer } from './silent-server.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const SERVICE: Env = { CT_CHANNEL_CALL_SERVICE: 'echo', CT_CHANNEL_CALL_PERSISTENT: '0' }
const METHOD: Env = {
  CT_CHANNEL_CALL: 'tools/call',
  CT_CHANNEL_CALL_PARAMS: '{"name":"service/echo","arguments":{"input":"x"}}',
}
const ONE_SHOTS: readonly (readonly [string, Env, string])[] = [
  ['CT_CHANNEL_CALL', METHOD, '{"jsonrpc":"2.0","id":1,"result":{"output":"answer"}}\n'],
  ['CT_CHANNEL_CALL_PERSISTENT=0', SERVICE, 'answer\n'],
]

/** A handler that notes each run and waits until it may answer. */
function counted(stage: Stage): { handler: string; runs: () => number; open: () => void } {
  const file = stage.path('runs')
  const gate = stage.path('gate')
  return {
    handler: `echo run >>'${file}'; while [ ! -e '${gate}' ]; do sleep 0.02; done; echo answer`,
    runs: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0),
    open: () => stage.touch(gate),
  }
}

/** A server of a ticket, with a ticket that leads there through a proxy. */
async function ticketThroughProxy(stage: Stage, handler: string) {
  const server = stage.start(['serve', '--listen', '127.0.0.1:0', '--handler', handler, '--services', 'echo'], {
    env: stateOf(stage, 'server'),
  })
  const ticket = parseTicket(await server.line())
  const { host = '', port = 0 } = ticket.addresses[0] ?? {}
  const proxy = await startProxy(stage, `${host}:${port}`)
  const near = parseAddress(proxy.address)
  if ('problem' in near) throw new Error(near.problem)
  return { server, proxy, ticket: formatTicket({ ...ticket, addresses: [near.value] }) }
}

/** A member that answers every request with the same result, on many lines. */
async function chattyServer(stage: Stage, { server, caller }: Members, result: string): Promise<string> {
  const answer = (session: Session): void => {
    const text = `{\r\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": ${result}\n}\n`
    session.receive(() => void session.send({ text }))
  }
  const listener = await listenAs(server, caller, answer, (close) => stage.onClose(close))
  return formatAddress(listener.addresses[0] ?? { host: '', port: 0 })
}

describe.concurrent('a single call', SLOW, () => {
  it('prints the response of a peer that writes it on many lines on one, digit by digit', async ({ stage }) => {
    const members = new Members(stage)
    const address = await chattyServer(stage, members, '{"n":\n12345678901234567890, "text": "a  b\\u001b"}')
    const call = members.call(address, { CT_CHANNEL_CALL: 'any/method' })
    expect((await call.exit).status).toBe(0)
    expect(call.stdout).toBe('{"jsonrpc": "2.0","id": 1,"result": {"n":12345678901234567890, "text": "a  b\\u001b"}}\n')
  })

  it('shows on a terminal nothing of a peer that could steer it, in every way to print a result', async ({ stage }) => {
    const members = new Members(stage)
    const address = await chattyServer(stage, members, '{"output":"a\u009b2J\u202eb","tools":[{"name":"c\u009bd"}]}')
    const found = parseAddress(address)
    if ('problem' in found) throw new Error(found.problem)
    const ticket = formatTicket({ holder: holderKey(members.server.holder).id, addresses: [found.value] })
    const env = members.initiate(address, { CT_TICKET: ticket, ...stateOf(stage, 'caller') })
    const lines: readonly (readonly [readonly string[], Env, string])[] = [
      [['channel'], METHOD, 'a\\u009b2J\\u202eb'],
      [['channel'], SERVICE, 'a\\u009b2J\\u202eb\n'],
      [['channel'], { CT_CHANNEL_CALL_SERVICE: 'echo' }, 'a\\u009b2J\\u202eb'],
      [['call', 'any'], {}, 'a\\u009b2J\\u202eb'],
      [['tools'], {}, 'c d'],
      [['tools', '--json'], {}, 'c\\u009bd'],
    ]
    for (const [argv, more, shown] of lines) {
      const { io, stdout, stderr } = fakeIo({ input: 'x\n', isTTY: true })
      expect([argv, await run(argv, { ...env, ...more }, io), stderr.text]).toEqual([argv, 0, expect.any(String)])
      expect(stdout.text).toContain(shown)
      expect(stdout.text).toMatch(/^[^\p{C}]+\n$/u)
    }
  })

  for (const [name, env, answer] of ONE_SHOTS) {
    it(`with ${name} is finished after its connection was cut, and runs once`, async ({ stage }) => {
      const members = new Members(stage)
      const { handler, runs, open } = counted(stage)
      const { address } = await members.accept(serving(handler))
      const proxy = await startProxy(stage, address)
      const call = members.call(proxy.address, env).end('x')
      await until('the run', () => runs() === 1)
      proxy.cut()
      await call.says(/session ended \(ERR_LINK_LOST/)
      await call.says(/connected again/)
      open()
      expect((await call.exit).status).toBe(0)
      expect([call.stdout, runs()]).toEqual([answer, 1])
    })

    it(`with ${name} says that it may have run when the server that ran it is gone`, async ({ stage }) => {
      const members = new Members(stage)
      const { handler, runs } = counted(stage)
      const first = await members.accept(serving(handler))
      const proxy = await startProxy(stage, first.address)
      const call = members.call(proxy.address, env).end('x')
      await until('the run', () => runs() === 1)
      await first.agent.kill()
      const second = await members.accept(serving(handler))
      proxy.lead(second.address)
      const { status } = await call.exit
      // One prints the peer's whole response whatever it is, the other the output, of which there is none.
      expect(status).toBe(env === METHOD ? 0 : 1)
      expect(`${call.stdout}${call.stderr}`).toContain('ERR_CALL_OUTCOME_UNKNOWN')
      expect(runs()).toBe(1)
    })

    it(`with ${name} says at once that it may have run when it may not reconnect`, async ({ stage }) => {
      const members = new Members(stage)
      const { handler, runs } = counted(stage)
      const { address } = await members.accept(serving(handler))
      const proxy = await startProxy(stage, address)
      const call = members.call(proxy.address, { ...env, CT_CHANNEL_CALL_RECONNECT: '0' }).end('x')
      await until('the run', () => runs() === 1)
      proxy.cut()
      expect(await call.exit).toEqual({ status: 1, signal: null })
      expect(call.stdout).toBe('')
      expect(call.stderr).toMatch(/^ct-agent channel: ERR_CALL_OUTCOME_UNKNOWN: /m)
      expect(proxy.connections).toBe(1)
    })

    it(`with ${name} fails at once when nobody is there`, async ({ stage }) => {
      const call = new Members(stage).call('127.0.0.1:1', env).end('x')
      expect((await call.exit).status).toBe(1)
      expect(call.stderr).toMatch(/^ct-agent channel: ERR_PEER_UNREACHABLE: /m)
      expect(call.stderr).not.toContain('trying again')
    })
  }

  it('of a ticket is finished after its connection was cut, and runs once', async ({ stage }) => {
    const { handler, runs, open } = counted(stage)
    const { ticket, proxy } = await ticketThroughProxy(stage, handler)
    const call = stage.start(['call', ticket, 'service/echo', '{"input":"x"}'], { env: stateOf(stage, 'caller') })
    await until('the run', () => runs() === 1)
    proxy.cut()
    await call.says(/^ct-agent: connected again$/m)
    open()
    expect((await call.exit).status).toBe(0)
    expect([call.stdout, runs()]).toEqual(['answer\n', 1])
  })

  it('of a ticket ends with the refusal of a server that trusts it no more, and says that it may have run', async ({
    stage,
  }) => {
    const { handler, runs } = counted(stage)
    const { ticket, proxy } = await ticketThroughProxy(stage, handler)
    const call = stage.start(['call', ticket, 'service/echo', '{"input":"x"}'], { env: stateOf(stage, 'caller') })
    await until('the run', () => runs() === 1)
    const other = stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'other') })
    const { host = '', port = 0 } = parseTicket(await other.line()).addresses[0] ?? {}
    proxy.lead(`${host}:${port}`)
    proxy.cut()
    expect((await call.exit).status).toBe(9)
    expect(call.stderr).toContain('another key than the expected one answers')
  })

  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    it(`blames nobody when ${name} stops it while it connects`, async ({ stage }) => {
      const { address, connected } = await silentServer(stage)
      const call = new Members(stage).call(address, METHOD)
      await until('a connection', connected)
      call.signal(name)
      expect(await call.exit).toEqual({ status: 1, signal: null })
      expect(call.stderr).toContain(`Error: "stopped by ${name}"\nct-agent channel: ERR_CALL_CANCELLED: `)
      expect(call.stderr).not.toMatch(/peer/)
    })
  }

  it('says that it may have run when a signal stops it after it was sent', async ({ stage }) => {
    const { handler, runs } = counted(stage)
    const { ticket } = await ticketThroughProxy(stage, handler)
    const call = stage.start(['call', ticket, 'service/echo', '{"input":"x"}'], { env: stateOf(stage, 'caller') })
    await until('the run', () => runs() === 1)
    call.signal('SIGINT')
    expect(await call.exit).toEqual({ status: 9, signal: null })
    expect(call.stderr).toMatch(/^ct-agent: stopped by SIGINT after the call was sent; it may have run$/m)
  })
})
