import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { SecretKey } from '../../src/core/keys.ts'
import { until } from '../mcp/services/processes.ts'
import { makeKeys } from './members.ts'
import { Peer, targetOf } from './peer.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const CANARY = 'canary-4d1f'

async function serving(stage: Stage, env: Record<string, string> = {}) {
  const variables = stateOf(stage, 'server', { CT_CHANNEL_LISTEN: '127.0.0.1:0', ...env })
  const agent = stage.start(['serve'], { env: variables })
  return { agent, ticket: await agent.line(), folder: stage.path('server'), variables }
}

async function statusOf(stage: Stage, folder: string) {
  const { status, stdout, stderr } = await stage.finish(['status', '--json', '--state-dir', folder])
  return { status, stderr, agents: status === 0 ? JSON.parse(stdout).agents : [] }
}

function audited(folder: string): readonly { readonly event: string; readonly [fact: string]: unknown }[] {
  const lines = readFileSync(join(folder, 'audit.log'), 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

describe('a running agent', SLOW, () => {
  it('says who is there, by which path, and how much was called', async ({ stage }) => {
    const { agent, ticket, folder } = await serving(stage, { CT_METRICS_ADDR: '0' })
    const peers = [
      await Peer.open(stage, makeKeys(), targetOf(ticket)),
      await Peer.open(stage, makeKeys(), targetOf(ticket)),
    ]
    const [first, second] = peers
    for (let call = 0; call < 3; call += 1)
      await first?.ask('tools/call', { name: 'ping', arguments: { canary: CANARY } })
    await second?.ask('tools/call', { name: CANARY })
    const stranger = await Peer.open(stage, makeKeys(), { ...targetOf(ticket), ticketSecret: SecretKey.generate() })
    await stranger.session.closed

    const { agents } = await statusOf(stage, folder)
    expect(agents).toHaveLength(1)
    const [status] = agents
    expect(status).toMatchObject({
      command: 'serve',
      pid: agent.pid,
      peers_total: 2,
      addresses: [expect.stringMatching(/^127/)],
    })
    const rows = status.peers.map(({ path, calls_done, calls_failed, calls_in_flight }: Record<string, unknown>) => [
      path,
      calls_done,
      calls_failed,
      calls_in_flight,
    ])
    expect(rows).toEqual([
      ['direct', 3, 0, 0],
      ['direct', 1, 1, 0],
    ])
    expect(status.refusals).toMatchObject({ total: 1, latest: [{ code: 'ERR_PEER_REFUSED', count: 1 }] })
    expect(status.peers[0].bytes_in).toBeGreaterThan(100)
    expect(status.peers[0].rtt_ms).toBeGreaterThan(0)
    expect(status.peers[0].rtt_ms).toBeLessThan(5_000)

    const shown = await stage.finish(['status', '--state-dir', folder])
    expect(shown.stdout).toMatch(/peer +name +path .*\n[0-9a-f]{10} +direct +127\.0\.0\.1:\d+/)

    const metrics = await (await fetch(await agent.says(/metrics at (\S+)/))).text()
    expect(metrics).toContain('ct_agent_calls_total{kind="tool",name="ping",outcome="ok"} 3')
    expect(metrics).toContain('ct_agent_sessions 2')

    await until('the audit log', () => audited(folder).length >= 6)
    const log = readFileSync(join(folder, 'audit.log'), 'utf8')
    expect([JSON.stringify(status), metrics, log].some((text) => text.includes(CANARY))).toBe(false)
    expect(audited(folder).filter(({ event }) => event === 'call')).toHaveLength(4)
  })

  it('is asked by nobody but its user, and leaves nothing behind that the next question does not clear away', async ({
    stage,
  }) => {
    const { agent, folder, variables } = await serving(stage)
    const sockets = (): readonly string[] => readdirSync(join(folder, 'run'))
    const [name = ''] = sockets()
    const socket = join(folder, 'run', name)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o700)
    if (process.geteuid?.() === 0) expect(connectAs(65_534, socket)).toContain('EACCES')

    await agent.kill()
    expect(sockets()).toEqual([name])
    const gone = await statusOf(stage, folder)
    expect(gone.status).toBe(5)
    expect(gone.stderr).toContain('ERR_AGENT_NOT_RUNNING')
    expect(sockets()).toEqual([])

    const [again, beside] = [
      stage.start(['serve'], { env: variables }),
      stage.start(['broker', '--listen', '127.0.0.1:0'], { env: variables }),
    ]
    await Promise.all([again.line(), beside.line()])
    const { agents } = await statusOf(stage, folder)
    expect(agents.map(({ command }: { command: string }) => command).sort()).toEqual(['broker', 'serve'])
    again.signal('SIGTERM')
    await again.exit
    expect(sockets()).toHaveLength(1)
  })

  it('writes an audit log that shows one changed byte, and that a killed agent leaves usable', async ({ stage }) => {
    const { agent, ticket, folder, variables } = await serving(stage)
    const path = join(folder, 'audit.log')
    const call = (to: string) => stage.finish(['call', to, 'ping'], { env: stateOf(stage, 'caller') })
    expect((await call(ticket)).status).toBe(0)
    await until('the end of the session', () => audited(folder).some(({ event }) => event === 'ended'))
    expect(audited(folder).map(({ event }) => event)).toEqual(['admitted', 'call', 'ended'])
    await agent.kill()
    // As if it had been killed within a write.
    writeFileSync(path, readFileSync(path).subarray(0, -30))
    expect((await stage.finish(['audit', 'verify', path])).stdout).toContain('the last line is cut off')

    const next = stage.start(['serve'], { env: variables })
    expect((await call(await next.line())).status).toBe(0)
    next.signal('SIGTERM')
    await next.exit
    const verified = await stage.finish(['audit', 'verify', '--json', '--state-dir', folder])
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, entries: 6, recovered: 1, torn: false })

    const bytes = readFileSync(path)
    const at = bytes.indexOf('"tool":"ping"')
    bytes[at + 9] = 0x71
    writeFileSync(path, bytes)
    const broken = await stage.finish(['audit', 'verify', '--json', '--state-dir', folder])
    expect(broken.status).toBe(3)
    expect(JSON.parse(broken.stdout)).toMatchObject({ ok: false, fault: { line: 2, fault: 'changed', file: path } })
    expect(JSON.parse(broken.stderr).error.code).toBe('ERR_AUDIT_BROKEN')
  })
})

/** What became of it when that user connected. */
function connectAs(uid: number, socket: string): string {
  const program = `require('node:net').connect(${JSON.stringify(socket)}).on('connect', () => console.log('connected')).on('error', (e) => console.log(e.code))`
  return spawnSync(process.execPath, ['-e', program], { uid, gid: uid, cwd: '/', env: {}, encoding: 'utf8' }).stdout
}
