import { describe, expect } from 'vitest'
import { formatTicket, parseTicket } from '../../src/channel/index.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { type Agent } from './agent.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

function serve(stage: Stage, args: readonly string[] = [], name = 'server'): Agent {
  return stage.start(['serve', '--listen', '127.0.0.1:0', ...args], { env: stateOf(stage, name) })
}

describe.concurrent('ct-agent serve, tools and call', SLOW, () => {
  it('print one ticket as the first line, and what leads there works in a shell', async ({ stage }) => {
    const server = serve(stage, ['--handler', 'cat', '--services', 'echo'])
    const ticket = await server.line()
    expect(ticket).toMatch(/^ct1[a-z2-7]+$/)
    await server.says(/serving ping, service\/echo/)
    expect(server.stdout).toBe(`${ticket}\n`)
    expect(server.stderr).not.toContain(ticket)
    const env = stateOf(stage, 'caller')
    const list = await stage.finish(['tools', ticket], { env })
    expect(list).toEqual({
      status: 0,
      stdout:
        'ping          liveness check → returns pong\nservice/echo  typed echo service — fixed {input:string} -> {output:string} shape\n',
      stderr: '',
    })
    const json = await stage.finish(['tools', ticket, '--json'], { env })
    expect(JSON.parse(json.stdout)).toMatchObject([
      { name: 'ping' },
      { name: 'service/echo', inputSchema: { type: 'object' } },
    ])
    expect(await stage.finish(['call', ticket, 'ping'], { env })).toEqual({
      status: 0,
      stdout: '{"reply":"pong"}\n',
      stderr: '',
    })
    expect(await stage.finish(['call', ticket, 'service/echo', '-'], { env, input: '{"input":"über"}' })).toMatchObject(
      { status: 0, stdout: 'über\n' },
    )
    expect(
      await stage.finish(['call', ticket, 'service/echo', '--input', '-', '--json'], { env, input: 'a\nb' }),
    ).toMatchObject({
      status: 0,
      stdout: '{"output":"a\\nb"}\n',
    })
  })

  it('work with one state folder for both, as on one machine', async ({ stage }) => {
    const ticket = await serve(stage, [], 'shared').line()
    const call = await stage.finish(['call', ticket, 'ping'], { env: stateOf(stage, 'shared') })
    expect(call).toEqual({ status: 0, stdout: '{"reply":"pong"}\n', stderr: '' })
  })

  it('tell each failure by its status and code, as JSON when asked', async ({ stage }) => {
    const server = serve(stage, ['--handler', 'exit 3', '--services', 'bad'])
    const ticket = await server.line()
    const env = stateOf(stage, 'caller')
    const { holder, addresses } = parseTicket(ticket)
    const stranger = holderKey(SecretKey.generate()).id
    const failures: readonly (readonly [readonly string[], number, string])[] = [
      [['call', ticket, 'nope'], 4, 'ERR_TOOL_UNKNOWN'],
      [['call', ticket, 'service/bad', '{"input":"x"}'], 4, 'ERR_TOOL_FAILED'],
      [['call', ticket, 'service/bad', '{}'], 4, 'ERR_TOOL_FAILED'],
      [['call', ticket, 'ping', '[]'], 2, 'ERR_USAGE'],
      [['call', ticket, 'ping', '{'], 2, 'ERR_USAGE'],
      [['call', ticket.slice(0, -1), 'ping'], 2, 'ERR_TICKET_INVALID'],
      [['call', formatTicket({ holder, addresses }), 'ping'], 3, 'ERR_PEER_REFUSED'],
      [['call', formatTicket({ holder, addresses, secret: SecretKey.generate() }), 'ping'], 3, 'ERR_PEER_REFUSED'],
      [['call', formatTicket({ holder: stranger, addresses }), 'ping'], 3, 'ERR_PEER_KEY_MISMATCH'],
      [['tools', formatTicket({ holder, addresses: [{ host: '127.0.0.1', port: 1 }] })], 5, 'ERR_PEER_UNREACHABLE'],
    ]
    for (const [args, status, code] of failures) {
      const ended = await stage.finish([...args, '--json'], { env })
      expect([args.slice(2), ended.status]).toEqual([args.slice(2), status])
      expect(ended.stdout).toBe('')
      expect(JSON.parse(ended.stderr)).toMatchObject({
        error: { code, message: expect.any(String), hint: expect.any(String), retryable: expect.any(Boolean) },
      })
    }
    expect(server.child.exitCode).toBeNull()
  })

  it('keep keys and ticket over a restart, in files for the owner alone', async ({ stage }) => {
    const first = serve(stage)
    const before = parseTicket(await first.line())
    first.signal('SIGTERM')
    expect((await first.exit).status).toBe(0)
    const after = parseTicket(await serve(stage).line())
    expect(after.holder).toBe(before.holder)
    expect(after.secret?.reveal()).toEqual(before.secret?.reveal())
    const { statSync } = await import('node:fs')
    for (const name of ['holder.key', 'noise.key', 'ticket.secret']) {
      expect(statSync(stage.path(`server/${name}`)).mode & 0o777).toBe(0o600)
    }
    expect(statSync(stage.path('server')).mode & 0o777).toBe(0o700)
  })

  it('admit named keys only with --allow, and then the ticket is no secret', async ({ stage }) => {
    const own = SecretKey.generate()
    const { toHex } = await import('../../src/core/bytes.ts')
    const server = serve(stage, ['--allow', holderKey(own).id, '--json'])
    const { ticket, tools } = JSON.parse(await server.line()) as { ticket: string; tools: readonly string[] }
    expect(tools).toEqual(['ping'])
    expect(parseTicket(ticket).secret).toBeUndefined()
    const env = stateOf(stage, 'caller')
    expect(await stage.finish(['call', ticket, 'ping'], { env })).toMatchObject({ status: 3, stdout: '' })
    const known = await stage.finish(['call', ticket, 'ping'], {
      env: { ...env, CT_CHANNEL_HOLDER_KEY: toHex(own.reveal()) },
    })
    expect(known.status).toBe(0)
  })

  it('end after one session with --once', async ({ stage }) => {
    const server = serve(stage, ['--once'])
    const ticket = await server.line()
    expect((await stage.finish(['call', ticket, 'ping'], { env: stateOf(stage, 'caller') })).status).toBe(0)
    expect(await server.exit).toEqual({ status: 0, signal: null })
  })

  it('put what is advertised into the ticket', async ({ stage }) => {
    const server = serve(stage, ['--advertise', 'agent.example.org:4433,[2001:db8::1]:1'])
    const ticket = parseTicket(await server.line())
    expect(ticket.addresses).toEqual([
      { host: 'agent.example.org', port: 4433 },
      { host: '2001:db8::1', port: 1 },
    ])
  })

  it('keep the time limit of a call', async ({ stage }) => {
    const ticket = await serve(stage, ['--handler', 'sleep 300', '--services', 'slow']).line()
    const ended = await stage.finish(['call', ticket, 'service/slow', '{"input":""}', '--timeout', '3'], {
      env: stateOf(stage, 'caller'),
    })
    expect(ended).toMatchObject({ status: 6, stdout: '' })
    expect(ended.stderr).toMatch(/^ {2}ERR_CALL_TIMEOUT: /m)
  })

  it('let a signal end a call with a code', async ({ stage }) => {
    const server = serve(stage, [
      '--handler',
      'echo begun >&2; sleep 300',
      '--services',
      'slow',
      '--log-level',
      'debug',
    ])
    const ticket = await server.line()
    const call = stage.start(['call', ticket, 'service/slow', '{"input":""}'], { env: stateOf(stage, 'caller') })
    await server.says(/session\.opened/)
    call.signal('SIGINT')
    expect((await call.exit).status).not.toBe(0)
    await server.says(/session\.ended/)
    expect(server.child.exitCode).toBeNull()
  })
})
