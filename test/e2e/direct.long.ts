import { describe, expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { Members, makeKeys, memberEnv, serving } from './members.ts'
import { startProxy } from './proxy.ts'
import { it, SLOW } from './stage.ts'

const PING: Env = { CT_CHANNEL_CALL: 'tools/call', CT_CHANNEL_CALL_PARAMS: '{"name":"ping"}' }
const LINES: Env = { CT_CHANNEL_CALL_SERVICE: 'echo' }
const PONG = '{"jsonrpc":"2.0","id":1,"result":{"reply":"pong"}}\n'

describe.concurrent('ct-agent channel that serves', SLOW, () => {
  it('refuses a wrong key with a code, logs it, and goes on (W26)', async ({ stage }) => {
    const members = new Members(stage)
    const strangers = new Members(stage)
    const { agent, address } = await members.accept(serving())
    for (const pin of ['CT_CHANNEL_PEER_NOISE_KEY', 'CT_CHANNEL_PEER_HOLDER']) {
      const { [pin]: known } = strangers.trusting(members)
      const call = stage.start(['channel'], {
        env: {
          ...strangers.initiate(address, PING),
          CT_CHANNEL_PEER_NOISE_KEY: '',
          CT_CHANNEL_PEER_HOLDER: '',
          [pin]: known,
        },
      })
      expect((await call.exit).status).toBe(1)
      expect(call.stdout).toBe('')
      expect(call.stderr).toContain('ERR_PEER_REFUSED')
    }
    expect(agent.stderr.match(/channel\.refused/g)).toHaveLength(2)
    const friend = members.call(address, PING)
    expect((await friend.exit).status).toBe(0)
    expect(friend.stdout).toBe(PONG)
  })

  it('is left alone by a caller that expected another key', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving())
    const { CT_CHANNEL_PEER_NOISE_KEY, CT_CHANNEL_PEER_HOLDER } = memberEnv(members.caller, makeKeys())
    for (const pins of [
      { CT_CHANNEL_PEER_NOISE_KEY, CT_CHANNEL_PEER_HOLDER: '' },
      { CT_CHANNEL_PEER_NOISE_KEY: '', CT_CHANNEL_PEER_HOLDER },
    ]) {
      const call = members.call(address, { ...PING, ...pins })
      expect((await call.exit).status).toBe(1)
      expect(call.stdout).toBe('')
      expect(call.stderr).toContain('ERR_PEER_KEY_MISMATCH')
    }
    expect(agent.child.exitCode).toBeNull()
    expect((await members.call(address, PING).exit).status).toBe(0)
  })

  it('tells the session beyond its concurrency that it is busy, and when to come again (W41)', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving('cat', { CT_CHANNEL_SERVE_CONCURRENCY: '2' }))
    const held = [members.call(address, LINES), members.call(address, LINES)]
    for (const caller of held) expect(await caller.write('hello\n').line()).toBe('{"ok":true,"output":"hello"}')
    const call = members.call(address, PING)
    expect((await call.exit).status).toBe(1)
    expect(call.stderr).toContain('ERR_PEER_BUSY')
    expect(await agent.says(/"code":"(ERR_PEER_BUSY)"/)).toBe('ERR_PEER_BUSY')
    const patient = members.call(address, { ...LINES, CT_LOG_LEVEL: 'info' }).end('patient\n')
    const wait = JSON.parse(await patient.says(/(\{.*mcp\.reconnect.*\})/)) as { code: string; delayMs: number }
    expect(wait.code).toBe('ERR_PEER_BUSY')
    expect(wait.delayMs).toBeGreaterThanOrEqual(1_000)
    held[0]?.end()
    expect((await patient.exit).status).toBe(0)
    expect(patient.lines).toEqual(['{"ok":true,"output":"patient"}'])
  })

  it('serves session after session', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving())
    for (let round = 0; round < 3; round += 1) expect((await members.call(address, PING).exit).status).toBe(0)
    expect(agent.stderr).toContain('persistent serve — up to 8 concurrent sessions')
    expect(agent.child.exitCode).toBeNull()
  })

  it('ends after one session with CT_CHANNEL_SERVE_ONCE', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({ CT_CHANNEL_SERVE_ONCE: '1' })
    expect((await members.call(address, PING).exit).status).toBe(0)
    expect(await agent.exit).toEqual({ status: 0, signal: null })
  })

  it('is not ended by a stranger when it serves one session', async ({ stage }) => {
    const members = new Members(stage)
    const strangers = new Members(stage)
    const { agent, address } = await members.accept({ CT_CHANNEL_SERVE_ONCE: '1' })
    expect((await strangers.call(address, { ...PING, ...strangers.trusting(members) }).exit).status).toBe(1)
    expect((await members.call(address, PING).exit).status).toBe(0)
    expect((await agent.exit).status).toBe(0)
  })

  it('tells a peer that pipes what each side does (W26)', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving())
    const pipe = members.call(address, {}).write('bytes')
    expect((await pipe.exit).status).toBe(1)
    expect(pipe.stderr).toMatch(
      /to serve and the other to call, or both to pipe, found (serve and pipe|pipe and serve)/,
    )
    expect(agent.child.exitCode).toBeNull()
  })

  it('frees the place of a peer that merely stays connected (W17)', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(
      serving('cat', { CT_CHANNEL_IDLE_SECS: '1', CT_CHANNEL_SERVE_CONCURRENCY: '1', CT_LOG_LEVEL: 'info' }),
    )
    const proxy = await startProxy(stage, address)
    const idle = members.call(proxy.address, LINES)
    await idle.write('hello\n').line()
    await agent.says(/ERR_SESSION_IDLE/)
    await idle.says(/session ended \(ERR_SESSION_IDLE/)
    expect((await members.call(address, PING).exit).status).toBe(0)
    await idle.end('again\n').line(2)
    expect((await idle.exit).status).toBe(0)
    expect(proxy.connections).toBe(2)
  })

  it('says that the port is in use', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept(serving())
    const second = stage.start(['channel'], {
      env: {
        ...memberEnv(members.server, members.caller),
        ...serving(),
        CT_CHANNEL_ROLE: 'accept',
        CT_CHANNEL_ADDR: address,
      },
    })
    expect((await second.exit).status).toBe(1)
    expect(second.stderr).toContain(`Error: "expected a free port at ${address}, found it in use"`)
    expect(second.stderr).toContain('ERR_ADDRESS_IN_USE')
  })

  it('says that nobody listens there', async ({ stage }) => {
    const members = new Members(stage)
    const call = members.call('127.0.0.1:1', PING)
    expect((await call.exit).status).toBe(1)
    expect(call.stderr).toContain('ERR_PEER_UNREACHABLE')
    expect(call.stderr).toContain('connection refused')
  })

  it('says so when a member is set to call itself', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept({ ...serving(), ...memberEnv(members.server, members.server) })
    const call = members.call(address, { ...PING, ...memberEnv(members.server, members.server) })
    expect((await call.exit).status).toBe(1)
    expect(call.stderr).toContain('found the own key of this member')
  })
})
