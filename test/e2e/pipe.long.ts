import { once } from 'node:events'
import { describe, expect } from 'vitest'
import { pause, systemClock } from '../../src/core/time.ts'
import { until } from '../mcp/services/processes.ts'
import { Members } from './members.ts'
import { MIB, pushPattern, readPattern } from './pattern.ts'
import { residentBytes } from './resident.ts'
import { it, SLOW } from './stage.ts'

/** Longer than a peer may be silent before it is given up. */
const LONG_PAUSE_MS = 6_000

describe.concurrent('the raw pipe between two processes', SLOW, () => {
  it('carries 64 MiB each way at once to the byte in bounded memory', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({}, undefined, { ownStdout: true })
    const dialler = members.call(address, {}, { ownStdout: true })
    const peaks = [0, 0]
    const weigh = async (): Promise<void> => {
      for (const [index, { pid }] of [agent, dialler].entries()) {
        peaks[index] = Math.max(peaks[index] ?? 0, await residentBytes(pid))
      }
    }
    const bytes = 64 * MIB
    await Promise.all([
      pushPattern(agent.child.stdin, bytes, 1),
      pushPattern(dialler.child.stdin, bytes, 2),
      readPattern(agent.child.stdout, bytes, 2, weigh),
      readPattern(dialler.child.stdout, bytes, 1, weigh),
    ])
    expect([await agent.exit, await dialler.exit]).toEqual([
      { status: 0, signal: null },
      { status: 0, signal: null },
    ])
    expect(Math.max(...peaks)).toBeLessThan(220 * MIB)
  })

  it('passes the end of one direction on and keeps the other open', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({})
    const dialler = members.call(address, {}).end('question\n')
    expect(await agent.line()).toBe('question')
    agent.write('first half\n')
    expect(await dialler.line()).toBe('first half')
    agent.end('second half\n')
    expect((await dialler.exit).status).toBe(0)
    expect((await agent.exit).status).toBe(0)
    expect(dialler.lines).toEqual(['first half', 'second half'])
  })

  it('delivers the last byte although the sender exits at once (W42)', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({})
    agent.end()
    const text = `${'x'.repeat(300_000)}the end`
    const dialler = members.call(address, {}).end(text)
    expect((await dialler.exit).status).toBe(0)
    expect((await agent.exit).status).toBe(0)
    expect(agent.stdout === text).toBe(true)
  })

  it('waits for a reader that pauses for long, and loses nothing', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({}, undefined, { ownStdout: true })
    agent.end()
    const dialler = members.call(address, {})
    const bytes = 16 * MIB
    const pushed = pushPattern(dialler.child.stdin, bytes, 3)
    const { stdout } = agent.child
    if (stdout === null) throw new TypeError('expected a stream')
    await once(stdout, 'readable')
    await pause(systemClock, LONG_PAUSE_MS)
    expect([agent.child.exitCode, dialler.child.exitCode]).toEqual([null, null])
    expect(Math.max(await residentBytes(agent.pid), await residentBytes(dialler.pid))).toBeLessThan(160 * MIB)
    await Promise.all([pushed, readPattern(stdout, bytes, 3)])
    expect([(await agent.exit).status, (await dialler.exit).status]).toEqual([0, 0])
  })

  it('ends with a reason when the peer is killed', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({})
    const dialler = members.call(address, {}).write('hello\n')
    await agent.line()
    await agent.kill()
    expect((await dialler.exit).status).toBe(1)
    expect(dialler.stderr).toContain('ERR_LINK_LOST')
  })

  it('ends with a reason when the reader of the peer goes away', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({}, undefined, { ownStdout: true })
    const dialler = members.call(address, {})
    agent.child.stdout?.destroy()
    dialler.write('nobody reads this\n')
    expect((await agent.exit).status).toBe(141)
    expect((await dialler.exit).status).toBe(1)
    expect(dialler.stderr).toMatch(/ERR_LINK_(LOST|CLOSED)/)
    expect(agent.stderr).not.toContain('Error')
  })

  it('says goodbye and ends with 0 on SIGTERM', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({})
    const dialler = members.call(address, {}).write('hello\n')
    await agent.line()
    agent.signal('SIGTERM')
    expect(await agent.exit).toEqual({ status: 0, signal: null })
    expect((await dialler.exit).status).toBe(1)
    expect(dialler.stderr).toContain('ERR_PEER_SHUTDOWN')
  })

  it('ends both sides with a code when a byte is changed on the way (W44)', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({})
    const { startProxy } = await import('./proxy.ts')
    const proxy = await startProxy(stage, address)
    const dialler = members.call(proxy.address, {}).write('hello\n')
    await agent.line()
    proxy.corrupt()
    agent.write('changed\n')
    expect((await dialler.exit).status).toBe(1)
    expect((await agent.exit).status).toBe(1)
    expect(dialler.stdout).toBe('')
    expect(`${agent.stderr}${dialler.stderr}`.match(/ERR_LINK_LOST|ERR_PROTOCOL/g)?.length).toBe(2)
    await until('no more connections', () => proxy.connections === 1)
  })
})
