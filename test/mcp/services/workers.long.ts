import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Progress } from '../../../src/mcp/index.ts'
import { children, fixture, group, isRunning, pidsIn, temporaryPath, until, untilGone } from './processes.ts'
import { type Served, serveHandler } from './serve-handler.ts'

const ONE = { CT_AGENT_SERVICE_HANDLER_MODE: 'worker', CT_AGENT_SERVICE_WORKERS: '1' }

function serveWorker(env: Readonly<Record<string, string>> = {}, ...args: readonly string[]): Served {
  const words = [process.execPath, fixture('worker.ts'), ...args].map((word) => `'${word}'`)
  return serveHandler(`exec ${words.join(' ')}`, { env: { ...ONE, ...env } })
}

describe('a worker', () => {
  it('answers one call after the other in the same process', async () => {
    const { call } = serveWorker()
    const first = await call('pid')
    expect(await call('pid')).toEqual(first)
    expect(await call('grüße\n')).toEqual({ output: 'grüße\n' })
  })

  it('is told which service, which call and who calls', async () => {
    const { call } = serveWorker()
    expect(await call('facts')).toEqual({ output: `echo call-1 ${'ab'.repeat(32)}` })
  })

  it('answers calls at the same time when it may', async () => {
    const { call } = serveWorker({ CT_AGENT_SERVICE_WORKER_CALLS: '2' })
    const caller = new AbortController()
    const hanging = call('wait', { signal: caller.signal })
    expect(await call('text')).toEqual({ output: 'text' })
    caller.abort()
    await expect(hanging).rejects.toMatchObject({ code: 'ERR_CALL_CANCELLED' })
  })

  it('reports progress and partial output', async () => {
    const heard: Progress[] = []
    const { call } = serveWorker()
    await call('progress', { progress: (progress) => heard.push(progress) })
    expect(heard).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, message: 'partial' },
    ])
  })

  it('has its own words of a failure shown to the caller', async () => {
    const { call, lines } = serveWorker()
    await expect(call('fail')).rejects.toMatchObject({
      code: 'ERR_TOOL_FAILED',
      message: 'service handler reported: no such city (reference ref-1)',
    })
    expect(lines).toMatchObject([{ level: 'warn', event: 'service.failed', facts: { reference: 'ref-1' } }])
  })

  it('that crashes fails the call that it has, and the next has a new one', async () => {
    const { call, lines } = serveWorker()
    const before = await call('pid')
    await expect(call('crash')).rejects.toMatchObject({
      code: 'ERR_TOOL_FAILED',
      message: 'service handler worker ended in the middle of it: exited exit status: 3 (reference ref-1)',
    })
    const after = await call('pid')
    expect(after).not.toEqual(before)
    expect(lines).toContainEqual({
      level: 'warn',
      event: 'worker.ended',
      facts: { reason: 'exited exit status: 3', restartMs: expect.any(Number) },
    })
  })

  it('that is killed from outside fails the call that it has, and leaves nothing of its group', async () => {
    const path = temporaryPath()
    const { call } = serveWorker({}, path)
    const lost = expect(call('hang')).rejects.toMatchObject({ code: 'ERR_TOOL_FAILED' })
    const pids = await pidsIn(path)
    process.kill(pids[0] ?? 0, 'SIGKILL')
    await lost
    await untilGone(pids)
  })

  it('is told of a cancellation and lives on', async () => {
    const { call } = serveWorker()
    const caller = new AbortController()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const before = await call('pid')
    const cancelled = call('wait', { signal: caller.signal, progress: () => begin() })
    await begun
    caller.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'ERR_CALL_CANCELLED' })
    expect(await call('pid')).toEqual(before)
  })

  it('that does not let go of a cancelled call is ended, and the next call has another', async () => {
    const path = temporaryPath()
    // Long enough for the next worker to start on a busy machine.
    const { call } = serveWorker({ CT_AGENT_SERVICE_TIMEOUT_SECS: '5' }, path, 'deaf')
    const pids = await pidsIn(path)
    await expect(call('hang')).rejects.toMatchObject({
      code: 'ERR_TOOL_FAILED',
      message: 'service handler timed out after 5s (reference ref-1)',
    })
    await untilGone(pids)
    expect(await call('pid')).toEqual({ output: readFileSync(path, 'utf8').split('\n')[0] })
  })

  it('may write what is no answer, which is pointed out once', async () => {
    const { call, lines } = serveWorker()
    expect(await call('garbage')).toEqual({ output: 'fine' })
    expect(await call('garbage')).toEqual({ output: 'fine' })
    expect(lines).toEqual([{ level: 'warn', event: 'worker.garbage', facts: { line: 'Loading model…' } }])
  })

  it('that writes a line without end is ended', async () => {
    const path = temporaryPath()
    const { call } = serveWorker({ CT_AGENT_SERVICE_MAX_OUTPUT_BYTES: '100000' }, path)
    await expect(call('flood')).rejects.toMatchObject({
      code: 'ERR_TOOL_FAILED',
      message: /a line of more than 101024/,
    })
    await untilGone(await pidsIn(path))
  })

  it('gives text where the service is text', async () => {
    const { callWith } = serveHandler(`while read -r line; do echo '{"id":1,"output":{"a":1}}'; done`, { env: ONE })
    await expect(callWith({ input: 'x' })).rejects.toMatchObject({
      code: 'ERR_TOOL_FAILED',
      message: /does not fit the service: expected a string, found an object/,
    })
  })

  it('that cannot run fails calls within bounds, and is tried again and again', async () => {
    const { call, lines } = serveHandler('echo no model >&2; exit 7', { env: ONE })
    await expect(call('x')).rejects.toMatchObject({
      code: 'ERR_TOOL_FAILED',
      message: /^service handler (has no worker to run it: the last one exited exit status: 7|worker ended)/,
    })
    await until('a restart', () => lines.filter(({ event }) => event === 'worker.ended').length > 1)
    expect(lines.find(({ event }) => event === 'worker.ended')?.facts).toMatchObject({ said: 'no model' })
    expect(lines).toContainEqual({ level: 'debug', event: 'worker.said', facts: { line: 'no model' } })
  })

  it('sees none of the agent’s variables', async () => {
    const command =
      'names=$(env | grep -c ^CT_); while read -r line; do echo "{\\"id\\":1,\\"output\\":\\"$names\\"}"; done'
    const { call } = serveHandler(command, { env: { ...ONE, CT_CHANNEL_HOLDER_KEY: '11'.repeat(32) } })
    expect(await call('x')).toEqual({ output: '0' })
  })

  it('ends with the services, deaf to TERM or not', async () => {
    const path = temporaryPath()
    const { services, call } = serveWorker({}, path, 'deaf')
    await call('text')
    const pids = await pidsIn(path)
    await services.close()
    await untilGone(pids)
  })

  it('lets what runs finish when it drains', async () => {
    const { services, call } = serveWorker()
    const running = call('text')
    await services.drain(10_000)
    await expect(running).resolves.toEqual({ output: 'text' })
    await expect(call('text')).rejects.toMatchObject({ code: 'ERR_PEER_SHUTDOWN' })
  })
})

describe('workers', () => {
  it('leave no zombie and no process after random kills of workers, children and leaders', async () => {
    const path = temporaryPath()
    const served = serveWorker({ CT_AGENT_SERVICE_WORKERS: '2' }, path)
    await served.call('text')
    const seen = new Set<number>()
    for (let round = 0; round < 5; round += 1) {
      const calls = ['text', 'hang', 'pid'].map((input) => served.call(input, { signal: AbortSignal.timeout(200) }))
      const members = children().flatMap((leader) => group(leader))
      for (const pid of members) seen.add(pid)
      // A number that does not repeat with the order in which the group was started.
      const victim = members[(round * 7 + 3) % Math.max(1, members.length)]
      if (victim !== undefined && isRunning(victim)) process.kill(victim, 'SIGKILL')
      await Promise.allSettled(calls)
    }
    await served.services.close()
    await untilGone([...seen])
    expect(children().filter((pid) => seen.has(pid))).toEqual([])
  }, 60_000)
})
