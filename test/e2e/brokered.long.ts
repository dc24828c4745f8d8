import { describe, expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { type UnixSeconds } from '../../src/core/u64.ts'
import { Meeting, portOf } from './brokered.ts'
import { serving } from './members.ts'
import { MIB, pushPattern, readPattern } from './pattern.ts'
import { it, SLOW } from './stage.ts'

const LINES: Env = { CT_CHANNEL_CALL_SERVICE: 'echo' }
const LIST: Env = { CT_CHANNEL_CALL: 'tools/list' }
const VIA_RELAY = /session with [0-9a-f]{10}… goes through the relay/
const DIRECTLY = /session with [0-9a-f]{10}… goes directly \(\/ip4\/127\.0\.0\.1\/tcp\/\d+\)/

function outputs(lines: readonly string[]): readonly unknown[] {
  return lines.map((line) => (JSON.parse(line) as { output?: unknown }).output)
}

describe.concurrent('two members that meet at a broker', SLOW, () => {
  it('call each other through the relay where nobody listens', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    const acceptor = await meeting.accept(address, serving('cat'))
    expect(acceptor.stderr).toMatch(
      /^ct-agent channel: plane-brokered Accept \(relay 127\.0\.0\.1:\d+\) — persistent serve: concurrent sessions \(#200\)$/m,
    )
    expect(acceptor.stderr).not.toContain('listening on')

    const list = meeting.initiate(address, LIST)
    expect((await list.exit).status).toBe(0)
    expect(list.stdout).toContain('"service/echo"')
    expect(list.stderr).toMatch(VIA_RELAY)

    const once = meeting.initiate(address, { ...LINES, CT_CHANNEL_CALL_PERSISTENT: '0' }).end('once\n')
    expect((await once.exit).status).toBe(0)
    expect(once.stdout).toBe('once\n')
  })

  it('serve several callers at once', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    await meeting.accept(address, serving('cat'))
    const callers = [meeting.initiate(address, LINES), meeting.initiate(address, LINES)]
    for (const caller of callers) caller.write('one\n')
    for (const caller of callers) await caller.line(1)
    for (const caller of callers) caller.end('two\n')
    for (const caller of callers) {
      expect((await caller.exit).status).toBe(0)
      expect(outputs(caller.lines)).toEqual(['one', 'two'])
      expect(caller.stderr).toMatch(VIA_RELAY)
    }
  })

  it('pipe bytes both ways through the relay', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    const acceptor = await meeting.accept(address, {}, { ownStdout: true })
    const initiator = meeting.initiate(address, {}, { ownStdout: true })
    const bytes = 8 * MIB
    await Promise.all([
      pushPattern(acceptor.child.stdin, bytes, 1),
      pushPattern(initiator.child.stdin, bytes, 2),
      readPattern(acceptor.child.stdout, bytes, 2),
      readPattern(initiator.child.stdout, bytes, 1),
    ])
    expect([await acceptor.exit, await initiator.exit]).toEqual([
      { status: 0, signal: null },
      { status: 0, signal: null },
    ])
  })

  it('talk directly where one can be dialled, and go on without the broker', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const first = await meeting.broker()
    await meeting.accept(first.address, serving('cat', { CT_CHANNEL_LISTEN: '127.0.0.1:0' }))
    const caller = meeting.initiate(first.address, LINES).write('one\n')
    await caller.line(1)
    expect(caller.stderr).toMatch(DIRECTLY)
    await first.agent.kill()
    caller.write('two\n')
    await caller.line(2)

    const late = meeting.initiate(first.address, LINES)
    await late.says(/cannot connect, trying again \(ERR_PEER_UNREACHABLE/)
    await meeting.broker({ CT_BROKER_LISTEN: `127.0.0.1:${portOf(first.address)}` })
    late.end('late\n')
    expect((await late.exit).status).toBe(0)
    expect(outputs(late.lines)).toEqual(['late'])
    caller.end('three\n')
    expect((await caller.exit).status).toBe(0)
    expect(outputs(caller.lines)).toEqual(['one', 'two', 'three'])
    expect(caller.stderr).not.toContain('session ended')
  })

  it('find each other again when the relay is killed and comes back', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const first = await meeting.broker()
    const acceptor = await meeting.accept(first.address, serving('cat'))
    const caller = meeting.initiate(first.address, LINES).write('one\n')
    await caller.line(1)
    await first.agent.kill()
    await caller.says(/session ended/)
    await acceptor.says(/the broker is not available, trying again/)
    caller.write('two\n')
    await meeting.broker({ CT_BROKER_LISTEN: `127.0.0.1:${portOf(first.address)}` })
    caller.end('three\n')
    expect((await caller.exit).status).toBe(0)
    expect(outputs(caller.lines)).toEqual(['one', 'two', 'three'])
  })

  it('may have the caller accept and the server come to it', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    const caller = await meeting.accept(address, LIST)
    const server = meeting.initiate(address, serving('cat'))
    expect((await caller.exit).status).toBe(0)
    expect(caller.stdout).toContain('"service/echo"')
    expect((await server.exit).status).toBe(0)
  })

  it('may meet once', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    const acceptor = await meeting.accept(address, { ...serving('cat'), CT_CHANNEL_SERVE_ONCE: '1' })
    expect(acceptor.stderr).toMatch(/plane-brokered Accept \(relay 127\.0\.0\.1:\d+\)$/m)
    const caller = meeting.initiate(address, LIST)
    expect((await caller.exit).status).toBe(0)
    expect((await acceptor.exit).status).toBe(0)
  })

  it('are told that they wait, and meet when the other comes', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    const caller = meeting.initiate(address, LIST)
    await caller.says(/joined at the broker, .*; waiting for a peer that accepts/)
    await meeting.accept(address, serving('cat'))
    expect((await caller.exit).status).toBe(0)
    expect(caller.stdout).toContain('"service/echo"')
  })
})

describe.concurrent('a member that may not join', SLOW, () => {
  it('is refused by the broker with the category, and stops', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker({ CT_BROKER_OPERATORS: new Meeting(stage).operator.id })
    for (const role of ['accept', 'initiate'] as const) {
      const env = meeting.member(role, address, role === 'accept' ? serving('cat') : LIST)
      const { status, stderr } = await stage.finish(['channel'], { env })
      expect(status).toBe(1)
      expect(stderr).toMatch(/^Error: "the broker refused the join \(not-member\): /m)
    }
  })

  it('learns from its own grant why, before it asks anybody', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const key = holderKey(SecretKey.generate())
    const own = { CT_CHANNEL_HOLDER_KEY: Buffer.from(key.secret.reveal()).toString('hex') }
    const cases: readonly (readonly [Env, RegExp])[] = [
      [{ CT_CHANNEL_GRANT: '' }, /^Error: "CT_CHANNEL_GRANT required \(hex signed grant\)"$/m],
      [
        { ...own, CT_CHANNEL_GRANT: meeting.grant(key, { expiresAt: 1n as UnixSeconds }) },
        /^Error: "CT_CHANNEL_GRANT: .*expired.*ERR_GRANT_EXPIRED/ms,
      ],
    ]
    for (const [env, reason] of cases) {
      const { status, stderr } = await stage.finish(['channel'], {
        env: meeting.member('initiate', '127.0.0.1:1', { ...LIST, ...env }),
      })
      expect(stderr).toMatch(reason)
      expect(status).toBe(1)
    }
  })
})
