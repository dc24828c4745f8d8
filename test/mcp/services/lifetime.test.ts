import { spawn } from 'node:child_process'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CtError } from '../../../src/core/errors.ts'
import { children, fixture, openDescriptors, pidsIn, temporaryPath, until, untilGone } from './processes.ts'
import { serveHandler } from './serve-handler.ts'

function shell(name: string, path: string): string {
  return `exec /bin/sh '${fixture(name)}' '${path}'`
}

describe('a handler and all it starts', () => {
  it('end when the caller cancels', async () => {
    const path = temporaryPath()
    const caller = new AbortController()
    const call = serveHandler(shell('family.sh', path)).call('', { signal: caller.signal })
    const pids = await pidsIn(path)
    caller.abort()
    await expect(call).rejects.toMatchObject({ code: 'ERR_CALL_CANCELLED' })
    await untilGone(pids)
  })

  it('end when the peer is gone, with the reason of the link', async () => {
    const path = temporaryPath()
    const caller = new AbortController()
    const call = serveHandler(shell('family.sh', path)).call('', { signal: caller.signal })
    const pids = await pidsIn(path)
    caller.abort(new CtError('ERR_LINK_LOST', 'the link broke'))
    await expect(call).rejects.toMatchObject({ code: 'ERR_LINK_LOST' })
    await untilGone(pids)
  })

  it('end after the time limit even when deaf to TERM (W25)', async () => {
    const path = temporaryPath()
    const { call } = serveHandler(shell('stubborn.sh', path), {
      env: { CT_AGENT_SERVICE_TIMEOUT_SECS: '1' },
    })
    const failed = expect(call('')).rejects.toMatchObject({ code: 'ERR_TOOL_FAILED' })
    const pids = await pidsIn(path)
    await failed
    await untilGone(pids)
  })

  it('end with the leader, whose answer is kept, when it leaves a child behind', async () => {
    const path = temporaryPath()
    const { call } = serveHandler(shell('leaver.sh', path))
    await expect(call('')).resolves.toEqual({ output: 'answer' })
    await untilGone(await pidsIn(path))
  })

  it('end with the leader when the child left behind holds nothing open', async () => {
    const { call } = serveHandler('sleep 300 </dev/null >/dev/null 2>&1 & echo $!')
    const { output } = (await call('')) as { output: string }
    await untilGone([Number(output)])
  })

  for (const name of ['family.sh', 'stubborn.sh', 'leaver.sh']) {
    it(`end when the agent is killed by SIGKILL: ${name} (W25)`, async () => {
      const path = temporaryPath()
      const agent = spawn(process.execPath, [fixture('agent.ts'), shell(name, path)], {
        stdio: 'ignore',
      })
      onTestFinished(() => {
        agent.kill('SIGKILL')
      })
      const pids = await pidsIn(path)
      expect(agent.exitCode).toBeNull()
      agent.kill('SIGKILL')
      await untilGone(pids)
    })
  }

  it('end when the agent is killed by SIGKILL: a worker and its child', async () => {
    const path = temporaryPath()
    const command = `exec '${process.execPath}' '${fixture('worker.ts')}' '${path}' deaf`
    const agent = spawn(process.execPath, [fixture('agent.ts'), command, 'worker'], { stdio: 'ignore' })
    onTestFinished(() => {
      agent.kill('SIGKILL')
    })
    const pids = await pidsIn(path)
    agent.kill('SIGKILL')
    await untilGone(pids)
  })

  it('leave no zombie and no descriptor after 100 runs, good and bad', async () => {
    const commands = ['cat', 'exit 3', 'yes', 'kill -KILL 0', 'exec <&-; echo answer']
    const served = commands.map((command) =>
      serveHandler(command, { env: { CT_AGENT_SERVICE_MAX_OUTPUT_BYTES: '65536' } }),
    )
    await Promise.allSettled(served.map(({ call }) => call('text')))
    const before = { children: children().length, descriptors: openDescriptors() }
    for (let round = 0; round < 20; round += 1) {
      await Promise.allSettled(served.map(({ call }) => call('text')))
    }
    await until('all descriptors closed', () => openDescriptors() <= before.descriptors)
    expect(children().length).toBeLessThanOrEqual(before.children)
  })
})

describe('createServices', () => {
  it('does not block others while handlers hang (W24)', async () => {
    const caller = new AbortController()
    const served = serveHandler('read -r word; [ "$word" = hang ] && exec sleep 300; echo "$word"')
    const hanging = [1, 2, 3].map(() => served.call('hang\n', { signal: caller.signal }))
    for (let count = 0; count < 1_000; count += 1) await turn()
    await expect(served.call('quick\n')).resolves.toEqual({ output: 'quick' })
    expect(await Promise.race([...hanging, Promise.resolve('all hang')])).toBe('all hang')
    caller.abort()
    await Promise.allSettled(hanging)
    await served.services.close()
  })

  it('lets what runs finish when it drains, and refuses what waits and what comes', async () => {
    const { call, services } = serveHandler('cat', { env: { CT_AGENT_SERVICE_CONCURRENCY: '1' } })
    const running = call('text')
    const waiting = call('text')
    const drained = services.drain(10_000)
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_PEER_SHUTDOWN' })
    await expect(call('text')).rejects.toMatchObject({ code: 'ERR_PEER_SHUTDOWN' })
    await expect(running).resolves.toEqual({ output: 'text' })
    await drained
  })

  it('stops what still runs at the deadline of the drain', async () => {
    const path = temporaryPath()
    const { call, services } = serveHandler(shell('family.sh', path))
    const running = expect(call('')).rejects.toMatchObject({ code: 'ERR_CALL_INTERRUPTED' })
    const pids = await pidsIn(path)
    await services.drain(50)
    await running
    await untilGone(pids)
  })

  it('kills what runs when it closes, deaf to TERM or not', async () => {
    const path = temporaryPath()
    const { call, services } = serveHandler(shell('stubborn.sh', path))
    const running = expect(call('')).rejects.toMatchObject({ code: 'ERR_CALL_INTERRUPTED' })
    const pids = await pidsIn(path)
    await services.close()
    await running
    await untilGone(pids)
  })
})
