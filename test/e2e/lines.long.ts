import { existsSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { until } from '../mcp/services/processes.ts'
import { type Agent } from './agent.ts'
import { Members, serving } from './members.ts'
import { startProxy } from './proxy.ts'
import { it, SLOW, type Stage } from './stage.ts'

const LINES: Env = { CT_CHANNEL_CALL_SERVICE: 'echo' }

interface Answer {
  readonly ok: boolean
  readonly output?: string
  readonly code?: string
  readonly error?: string
}

async function answers(agent: Agent, count: number): Promise<readonly Answer[]> {
  await agent.line(count)
  return agent.lines.map((line) => JSON.parse(line) as Answer)
}

/** A handler that notes every run in a file, and of inputs that begin with `wait` waits for another file first. */
function noting(stage: Stage): { handler: string; runs: () => readonly string[]; gate: string } {
  const file = stage.path('runs')
  const gate = stage.path('gate')
  return {
    handler: `read -r line; echo "$line" >>'${file}'; case "$line" in wait*) while [ ! -e '${gate}' ]; do sleep 0.02; done;; esac; echo "done $line"`,
    runs: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
    gate,
  }
}

const isRefusal = /Error: "the (holder|Noise) key .* is not among the trusted ones"/

describe.concurrent('ct-agent channel with CT_CHANNEL_CALL_SERVICE', SLOW, () => {
  it('calls once a line on one session and ends with stdin (W15)', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving('cat', { CT_LOG_LEVEL: 'info' }))
    const caller = members.call(address, LINES)
    const words = Array.from({ length: 30 }, (_, index) => `line ${index}`)
    caller.end(`${words.join('\n')}\n\n  \nlast, without a line end`)
    expect((await caller.exit).status).toBe(0)
    expect(caller.lines).toEqual(
      [...words, 'last, without a line end'].map((output) => JSON.stringify({ ok: true, output })),
    )
    await agent.says(/session\.ended/)
    expect(agent.stderr.match(/session\.opened/g)).toHaveLength(1)
  })

  it('goes on after a tool error, which is an answer', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept(serving('read -r line; [ "$line" = bad ] && exit 3; echo "$line"'))
    const caller = members.call(address, LINES).end('one\nbad\ntwo\n')
    expect((await caller.exit).status).toBe(0)
    const [one, bad, two] = await answers(caller, 3)
    expect([one, two]).toEqual([
      { ok: true, output: 'one' },
      { ok: true, output: 'two' },
    ])
    expect(bad).toMatchObject({ ok: false, error: expect.stringContaining('exited exit status: 3') })
  })

  it('keeps a line whole that has other separators in it, and answers one that is no text', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept(serving('cat'))
    const caller = members.call(address, LINES)
    caller.write('a\u2028b\u0085c\rd\r\n').write(Uint8Array.of(0xff, 0x0a)).end('end\n')
    expect((await caller.exit).status).toBe(0)
    expect((await answers(caller, 3)).map(({ output, code }) => output ?? code)).toEqual([
      'a\u2028b\u0085c\rd',
      'ERR_CALL_INVALID',
      'end',
    ])
  })

  it('re-sends the line in flight and keeps those behind it when the connection is cut (W16)', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, runs, gate } = noting(stage)
    const { address } = await members.accept(serving(handler))
    const proxy = await startProxy(stage, address)
    const caller = members.call(proxy.address, LINES).end('wait\ntwo\nthree\n')
    await until('the first run', () => runs().length === 1)
    proxy.cut()
    await until('a second connection', () => proxy.connections === 2)
    stage.touch(gate)
    expect((await caller.exit).status).toBe(0)
    expect((await answers(caller, 3)).map(({ output }) => output)).toEqual(['done wait', 'done two', 'done three'])
    expect(runs()).toEqual(['wait', 'two', 'three'])
  })

  it('keeps the lines over a killed and restarted server and runs each at most once (W16)', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, runs, gate } = noting(stage)
    const first = await members.accept(serving(handler))
    const proxy = await startProxy(stage, first.address)
    const caller = members.call(proxy.address, LINES).end('one\nwait two\nthree\nfour\n')
    await until('the second run', () => runs().length === 2)
    await first.agent.kill()
    stage.touch(gate)
    const second = await members.accept(serving(handler))
    proxy.lead(second.address)
    expect((await caller.exit).status).toBe(0)
    const [one, lost, three, four] = await answers(caller, 4)
    expect(one).toEqual({ ok: true, output: 'done one' })
    expect(lost).toMatchObject({ ok: false, code: 'ERR_CALL_OUTCOME_UNKNOWN' })
    expect([three, four]).toEqual([
      { ok: true, output: 'done three' },
      { ok: true, output: 'done four' },
    ])
    expect(runs()).toEqual(['one', 'wait two', 'three', 'four'])
  })

  it('notices the end of an idle session and loses no line to it (W16)', async ({ stage }) => {
    const members = new Members(stage)
    const first = await members.accept(serving('cat'))
    const proxy = await startProxy(stage, first.address)
    const caller = members.call(proxy.address, LINES).write('one\n')
    await caller.line(1)
    await first.agent.kill()
    const second = await members.accept(serving('cat'))
    proxy.lead(second.address)
    await caller.says(/session ended \(ERR_LINK_LOST/)
    caller.end('two\n')
    expect((await caller.exit).status).toBe(0)
    expect((await answers(caller, 2)).map(({ output }) => output)).toEqual(['one', 'two'])
  })

  it('waits for a server that is not there yet, and says so', async ({ stage }) => {
    const members = new Members(stage)
    const proxy = await startProxy(stage, '127.0.0.1:1')
    const caller = members.call(proxy.address, LINES).end('early\n')
    await caller.says(/^ct-agent channel: cannot connect, trying again \(ERR_/m)
    const { address } = await members.accept(serving('cat'))
    proxy.lead(address)
    expect((await caller.exit).status).toBe(0)
    expect(caller.lines).toEqual(['{"ok":true,"output":"early"}'])
    expect(caller.stderr).toMatch(/^ct-agent channel: connected again$/m)
  })

  it('ends with the reason when it is refused for good (W12)', async ({ stage }) => {
    const members = new Members(stage)
    const strangers = new Members(stage)
    const { agent, address } = await members.accept(serving('cat'))
    const caller = strangers.call(address, { ...LINES, ...strangers.trusting(members) }).write('one\n')
    expect((await caller.exit).status).toBe(1)
    expect(caller.stderr).toMatch(isRefusal)
    expect(caller.stderr).toContain('ERR_PEER_REFUSED')
    expect(await answers(caller, 1)).toMatchObject([{ ok: false, code: 'ERR_PEER_REFUSED' }])
    const other = members.call(address, LINES).end('still there\n')
    expect((await other.exit).status).toBe(0)
    expect(agent.child.exitCode).toBeNull()
  })

  it('ends with the session when it may not reconnect, after the answer to the line in flight', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, runs } = noting(stage)
    const { agent, address } = await members.accept(serving(handler))
    const caller = members.call(address, { ...LINES, CT_CHANNEL_CALL_RECONNECT: '0' }).write('wait\ntwo\n')
    await until('the first run', () => runs().length === 1)
    await agent.kill()
    expect((await caller.exit).status).toBe(1)
    expect(await answers(caller, 1)).toMatchObject([{ ok: false, code: 'ERR_CALL_OUTCOME_UNKNOWN' }])
    expect(caller.lines).toHaveLength(1)
    expect(caller.stderr).toMatch(/^Error: "/m)
  })

  it('gives a call up after CT_CHANNEL_CALL_TIMEOUT_SECS and goes on', async ({ stage }) => {
    const members = new Members(stage)
    const { handler } = noting(stage)
    const { address } = await members.accept(serving(handler))
    const caller = members.call(address, { ...LINES, CT_CHANNEL_CALL_TIMEOUT_SECS: '4' }).end('wait\ntwo\n')
    expect((await caller.exit).status).toBe(0)
    expect(await answers(caller, 2)).toMatchObject([
      { ok: false, code: 'ERR_CALL_TIMEOUT' },
      { ok: true, output: 'done two' },
    ])
  })

  it('says goodbye and ends with 0 on SIGTERM', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving('cat', { CT_LOG_LEVEL: 'info' }))
    const caller = members.call(address, LINES).write('one\n')
    await caller.line(1)
    caller.signal('SIGTERM')
    expect(await caller.exit).toEqual({ status: 0, signal: null })
    await agent.says(/session\.ended/)
    expect(agent.stderr).toContain('ERR_LINK_CLOSED')
  })
})
