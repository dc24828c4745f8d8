import { spawn } from 'node:child_process'
import { type Duplex } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HANDLER_LEADER } from '../../../src/mcp/services/handler-leader.ts'
import { group, until, untilGone } from './processes.ts'

/** The leader as the agent starts it; the agent's end of its channel, and what it reports there. */
function lead(command: string) {
  const leader = spawn('/bin/sh', ['-c', HANDLER_LEADER.script, 'leader', command], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const channel = leader.stdio[3] as Duplex
  const pid = leader.pid ?? 0
  let report = ''
  channel.on('data', (chunk: Buffer) => {
    report += chunk.toString()
  })
  onTestFinished(() => {
    for (const member of group(pid)) process.kill(member, 'SIGKILL')
  })
  return { pid, channel, report: () => report }
}

describe('LEADER', () => {
  it('reports the status and then, when all others are reaped, that it is over', async () => {
    const { pid, report } = lead('exit 3')
    await until('the report', () => report() === '3\nover\n')
    expect(group(pid)).toEqual([pid])
  })

  it('still ends what the command left behind when the agent dies after the report', async () => {
    const { pid, channel, report } = lead('sleep 300 </dev/null >/dev/null 2>&1 &')
    await until('the report', () => report() === '0\nover\n')
    const members = group(pid)
    expect(members).toHaveLength(2)
    channel.destroy()
    await untilGone(members)
  })

  it('ends itself and the command when the agent dies at once', async () => {
    const { pid, channel } = lead('trap "" TERM; sleep 300; sleep 300')
    channel.destroy()
    await until('an empty group', () => group(pid).length === 0)
  })
})
