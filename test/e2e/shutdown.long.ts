import { existsSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { fixture, isRunning, until, untilGone } from '../mcp/services/processes.ts'
import { type Agent } from './agent.ts'
import { Members, serving } from './members.ts'
import { silentServer } from './silent-server.ts'
import { it, SLOW, type Stage } from './stage.ts'

const LINES: Env = { CT_CHANNEL_CALL_SERVICE: 'echo' }
const ONE_CALL: Env = { ...LINES, CT_CHANNEL_CALL_PERSISTENT: '0' }
const ONE_LINK: Env = { ...ONE_CALL, CT_CHANNEL_CALL_RECONNECT: '0' }

/** A handler that says when it runs and waits until it may answer. */
function gated(stage: Stage): { handler: string; started: () => boolean; open: () => void } {
  const begun = stage.path('begun')
  const gate = stage.path('gate')
  return {
    handler: `touch '${begun}'; while [ ! -e '${gate}' ]; do sleep 0.02; done; echo answer`,
    started: () => existsSync(begun),
    open: () => stage.touch(gate),
  }
}

/** A handler of the fixtures, which note their pids. */
function noted(stage: Stage, name: string): { handler: string; pids: () => Promise<readonly number[]> } {
  const file = stage.path('pids')
  return {
    handler: `exec /bin/sh '${fixture(name)}' '${file}'`,
    pids: async () => {
      await until(`pids of ${name}`, () => existsSync(file))
      const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number)
      stage.onClose(() => {
        for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
      })
      return pids
    },
  }
}

async function statusOf(agent: Agent): Promise<number | null> {
  return (await agent.exit).status
}

describe.concurrent('a serving agent', SLOW, () => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    it(`lets the call in flight finish on ${name}, turns new ones away, says goodbye and exits with 0`, async ({
      stage,
    }) => {
      const members = new Members(stage)
      const { handler, started, open } = gated(stage)
      const { agent, address } = await members.accept(serving(handler))
      const call = members.call(address, ONE_CALL).end('x')
      await until('the handler to run', started)
      agent.signal(name)
      const late = members.call(address, { CT_CHANNEL_CALL: 'tools/list' })
      expect(await statusOf(late)).toBe(1)
      expect(late.stderr).toContain('ERR_PEER_SHUTDOWN')
      expect(agent.child.exitCode).toBeNull()
      open()
      expect(await statusOf(call)).toBe(0)
      expect(call.stdout).toBe('answer\n')
      expect(await agent.exit).toEqual({ status: 0, signal: null })
    })
  }

  it('tells a caller that stays connected why it goes', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving('cat'))
    const caller = members.call(address, LINES).write('one\n')
    await caller.line()
    agent.signal('SIGTERM')
    expect(await statusOf(agent)).toBe(0)
    await caller.says(/session ended \(ERR_PEER_SHUTDOWN: the serving agent is shutting down\)/)
  })

  it('stops what still runs after CT_DRAIN_SECS', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, pids } = noted(stage, 'family.sh')
    const { agent, address } = await members.accept(serving(handler, { CT_DRAIN_SECS: '1' }))
    const call = members.call(address, ONE_CALL).end('x')
    const running = await pids()
    agent.signal('SIGTERM')
    expect(await statusOf(agent)).toBe(0)
    expect(await statusOf(call)).toBe(1)
    expect(call.stderr).toMatch(/^ct-agent channel: ERR_CALL_INTERRUPTED: /m)
    await untilGone(running)
  })

  it('exits at once on the second signal and leaves no handler (W25)', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, pids } = noted(stage, 'stubborn.sh')
    const { agent, address } = await members.accept(serving(handler))
    const call = members.call(address, ONE_LINK).end('x')
    const running = await pids()
    agent.signal('SIGTERM')
    const late = members.call(address, { CT_CHANNEL_CALL: 'tools/list' })
    expect(await statusOf(late)).toBe(1)
    agent.signal('SIGINT')
    expect(await agent.exit).toEqual({ status: 130, signal: null })
    await untilGone(running)
    expect(await statusOf(call)).toBe(1)
    expect(call.stderr).toMatch(/^ct-agent channel: ERR_CALL_OUTCOME_UNKNOWN: /m)
  })

  for (const name of ['family.sh', 'stubborn.sh', 'leaver.sh']) {
    it(`leaves no handler and no grandchild when it is killed by SIGKILL: ${name} (W25)`, async ({ stage }) => {
      const members = new Members(stage)
      const { handler, pids } = noted(stage, name)
      const { agent, address } = await members.accept(serving(handler))
      members.call(address, ONE_CALL).end('x')
      const running = await pids()
      await agent.kill()
      await untilGone(running)
    })
  }

  for (const [name, leave] of [
    ['is killed', (caller: Agent) => caller.kill()],
    ['is told to stop', async (caller: Agent) => caller.signal('SIGTERM')],
  ] as const) {
    it(`ends the handler of a caller that ${name} (W25)`, async ({ stage }) => {
      const members = new Members(stage)
      const { handler, pids } = noted(stage, 'family.sh')
      const { agent, address } = await members.accept(serving(handler))
      const call = members.call(address, ONE_LINK).end('x')
      const running = await pids()
      await leave(call)
      await untilGone(running)
      expect(agent.child.exitCode).toBeNull()
      expect((await call.exit).status).not.toBe(0)
    })
  }
})

describe.concurrent('a serving agent that dials', SLOW, () => {
  it('exits with 0 when it is stopped before anybody answers', async ({ stage }) => {
    const { address, connected } = await silentServer(stage)
    const agent = stage.start(['channel'], { env: new Members(stage).initiate(address, serving()) })
    await until('a connection', connected)
    agent.signal('SIGTERM')
    expect(await agent.exit).toEqual({ status: 0, signal: null })
    expect(agent.stderr).not.toContain('ERR_')
  })
})

describe.concurrent('a caller that is gone', SLOW, () => {
  it('has its resumable call ended when it does not come back in time (W25)', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, pids } = noted(stage, 'family.sh')
    const { agent, address } = await members.accept(serving(handler))
    const call = members.call(address, ONE_CALL).end('x')
    const running = await pids()
    await call.kill()
    await until('the end of the handler', () => !running.some(isRunning), 20_000)
    expect(agent.child.exitCode).toBeNull()
  })
})

describe.concurrent('a frozen peer', SLOW, () => {
  it('that serves is noticed within 5 s while a call is in flight, and used again when it is back', async ({
    stage,
  }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving('cat'))
    const caller = members.call(address, LINES).write('one\n')
    await caller.line()
    agent.signal('SIGSTOP')
    const began = performance.now()
    caller.write('two\n')
    await caller.says(/session ended \(ERR_PEER_UNRESPONSIVE/)
    expect(performance.now() - began).toBeLessThan(5_500)
    agent.signal('SIGCONT')
    expect(await caller.line(2)).toBe('{"ok":true,"output":"two"}')
    caller.end('three\n')
    expect(await statusOf(caller)).toBe(0)
    expect(caller.lines[2]).toBe('{"ok":true,"output":"three"}')
  })

  it('that serves ends a single call that may not reconnect with a code within 5 s', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, started } = gated(stage)
    const { agent, address } = await members.accept(serving(handler))
    const call = members.call(address, ONE_LINK).end('x')
    await until('the handler to run', started)
    agent.signal('SIGSTOP')
    const began = performance.now()
    expect(await statusOf(call)).toBe(1)
    expect(performance.now() - began).toBeLessThan(8_500)
    expect(call.stderr).toMatch(/^ct-agent channel: ERR_CALL_OUTCOME_UNKNOWN: /m)
    expect(call.stdout).toBe('')
    agent.signal('SIGCONT')
    const again = members.call(address, { CT_CHANNEL_CALL: 'tools/list' })
    expect(await statusOf(again)).toBe(0)
  })

  it('that serves finishes a single call when it is back', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, started, open } = gated(stage)
    const { agent, address } = await members.accept(serving(handler))
    const call = members.call(address, ONE_CALL).end('x')
    await until('the handler to run', started)
    agent.signal('SIGSTOP')
    await call.says(/session ended \(ERR_PEER_UNRESPONSIVE/)
    agent.signal('SIGCONT')
    await call.says(/connected again/)
    open()
    expect(await statusOf(call)).toBe(0)
    expect(call.stdout).toBe('answer\n')
  })

  it('that calls has its handler ended, and its place freed', async ({ stage }) => {
    const members = new Members(stage)
    const { handler, pids } = noted(stage, 'family.sh')
    const { agent, address } = await members.accept(serving(handler, { CT_LOG_LEVEL: 'info' }))
    const caller = members.call(address, LINES).write('x\n')
    const running = await pids()
    caller.signal('SIGSTOP')
    const began = performance.now()
    await agent.says(/"code":"ERR_PEER_UNRESPONSIVE"/)
    expect(performance.now() - began).toBeLessThan(5_500)
    caller.signal('SIGCONT')
    await caller.says(/session ended/)
    expect(running.length).toBe(2)
  })
})
