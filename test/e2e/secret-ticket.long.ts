import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { parseTicket } from '../../src/channel/index.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { type Agent } from './agent.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

function serve(stage: Stage, ...args: readonly string[]): Agent {
  return stage.start(['serve', '--listen', '127.0.0.1:0', ...args], { env: stateOf(stage, 'server') })
}

describe.concurrent('the secret of a ticket', SLOW, () => {
  it('need not stand in a command line: a variable, a file or stdin gives the ticket', async ({ stage }) => {
    const ticket = await serve(stage).line()
    const file = stage.path('peer.ticket')
    writeFileSync(file, `${ticket}\n`)
    const env = stateOf(stage, 'caller')
    const secret = { ...env, CT_TICKET: ticket }
    const pong = { status: 0, stdout: '{"reply":"pong"}\n', stderr: '' }
    const list = { status: 0, stdout: 'ping  liveness check → returns pong\n', stderr: '' }
    expect(await stage.finish(['call', 'ping'], { env: secret })).toEqual(pong)
    expect(await stage.finish(['call', 'ping', '-'], { env: secret, input: '{}' })).toEqual(pong)
    expect(await stage.finish(['tools'], { env: secret })).toEqual(list)
    expect(await stage.finish(['call', `@${file}`, 'ping', '{}'], { env })).toEqual(pong)
    expect(await stage.finish(['tools', `@${file}`], { env })).toEqual(list)
    expect(await stage.finish(['call', '-', 'ping'], { env, input: `${ticket}\nmore` })).toEqual(pong)
    const waiting = stage.start(['tools', '-'], { env }).write(`${ticket}\n`)
    expect((await waiting.exit).status).toBe(0)
  })

  it('is taken from the operand where both are given', async ({ stage }) => {
    const ticket = await serve(stage).line()
    const env = { ...stateOf(stage, 'caller'), CT_TICKET: 'ct1aaaa' }
    expect((await stage.finish(['call', ticket, 'ping'], { env })).status).toBe(0)
    expect(await stage.finish(['call', 'ping'], { env })).toMatchObject({ status: 2, stdout: '' })
  })

  it('is asked for when there is none', async ({ stage }) => {
    const env = stateOf(stage, 'caller')
    for (const [args, input, message] of [
      [
        ['tools'],
        '',
        /^ct-agent: expected the name of a peer, or a ticket in CT_TICKET, or as @file, or - for stdin$/m,
      ],
      [
        ['call', 'ping'],
        '',
        /^ct-agent: expected the name of a peer, or a ticket in CT_TICKET, or as @file, or - for stdin$/m,
      ],
      [['tools', '-'], '', /expected a ticket in the first line of stdin, found nothing/],
      [['tools', '@none'], '', /cannot read "none": ENOENT/],
      [['call', '-', 'ping', '-'], 'x', /expected the ticket or the arguments on stdin, found both/],
      [['call', 'ct1x'], '', /expected the name of a tool after the peer/],
    ] as const) {
      const ended = await stage.finish(args, { env, input })
      expect([args, ended.status, ended.stdout]).toEqual([args, 2, ''])
      expect(ended.stderr).toMatch(message)
    }
  })

  it('goes into a file for its owner alone instead of stdout', async ({ stage }) => {
    const file = stage.path('peer.ticket')
    writeFileSync(file, 'old', { mode: 0o644 })
    const server = serve(stage, '--ticket-file', file)
    await server.says(/the ticket is in .*peer\.ticket/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await stage.finish(['tools', `@${file}`], { env: stateOf(stage, 'caller') })).status).toBe(0)
    expect(server.stdout).toBe('')
    expect(server.stderr).not.toContain(readFileSync(file, 'utf8').trim())
  })

  it('is made anew with --new-ticket, and the old one is refused', async ({ stage }) => {
    const first = serve(stage)
    const old = parseTicket(await first.line())
    first.signal('SIGTERM')
    await first.exit
    const { port = 0 } = old.addresses[0] ?? {}
    const second = stage.start(['serve', '--listen', `127.0.0.1:${port}`, '--new-ticket'], {
      env: stateOf(stage, 'server'),
    })
    const ticket = await second.line()
    expect(parseTicket(ticket).holder).toBe(old.holder)
    const env = stateOf(stage, 'caller')
    expect((await stage.finish(['call', ticket, 'ping'], { env })).status).toBe(0)
    expect(await stage.finish(['call', first.lines[0] ?? '', 'ping'], { env })).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('the ticket is not, or no longer, the one this side gave out'),
    })
  })
})

describe.concurrent('--allow', SLOW, () => {
  const pin = holderKey(SecretKey.generate()).id

  for (const [name, value] of [
    ['blank, as from an unset variable', ''],
    ['a list of nothing', ' , '],
  ] as const) {
    it(`opens nothing when its value is ${name}, whatever the environment pins`, async ({ stage }) => {
      for (const env of [{}, { CT_CHANNEL_PEER_HOLDER: pin }]) {
        const ended = await stage.finish(['serve', '--listen', '127.0.0.1:0', '--allow', value], {
          env: stateOf(stage, 'server', env),
        })
        expect(ended).toMatchObject({ status: 2, stdout: '' })
        expect(ended.stderr).toMatch(/--allow|CT_CHANNEL_PEER_HOLDER/)
      }
    })
  }

  it('wins over the pin of the environment', async ({ stage }) => {
    const own = SecretKey.generate()
    const server = stage.start(['serve', '--listen', '127.0.0.1:0', '--allow', holderKey(own).id], {
      env: stateOf(stage, 'server', { CT_CHANNEL_PEER_HOLDER: pin }),
    })
    const ticket = await server.line()
    const { toHex } = await import('../../src/core/bytes.ts')
    const env = stateOf(stage, 'caller', { CT_CHANNEL_HOLDER_KEY: toHex(own.reveal()) })
    expect((await stage.finish(['call', ticket, 'ping'], { env })).status).toBe(0)
  })
})
