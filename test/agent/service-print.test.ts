import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { launchdPlist } from '../../src/agent/service/launchd.ts'
import { type ServiceFacts } from '../../src/agent/service/service-facts.ts'
import { systemdUnit } from '../../src/agent/service/systemd.ts'
import { runLine } from './fake-io.ts'

const FACTS: ServiceFacts = {
  command: [process.execPath, '/opt/ct agent/ct-agent.js', 'serve', '--handler', 'echo "$HOME" \\ 5% <&>'],
  stateDir: '/var/lib/ct agent',
  folder: '/srv/a b%c',
  env: { CT_AGENT_STATE_DIR: '/var/lib/ct agent', PATH: '/bin' },
  stopSeconds: 20,
  user: 'alice',
}
const ANALYZE = 'systemd-analyze'
const hasSystemd = spawnSync(ANALYZE, ['--version']).error === undefined

describe('a unit for systemd', () => {
  it('says the words of the command whatever is in them', () => {
    const lines = systemdUnit(FACTS, 'system').split('\n')
    expect(lines).toContain(
      `ExecStart="${process.execPath}" "/opt/ct agent/ct-agent.js" "serve" "--handler" "echo \\"$$HOME\\" \\\\ 5%% <&>"`,
    )
    expect(lines).toContain('WorkingDirectory=/srv/a b%%c')
    expect(lines).toContain('ReadWritePaths="/var/lib/ct agent"')
    expect(lines).toContain('User=alice')
  })

  for (const scope of ['system', 'user'] as const) {
    it.skipIf(!hasSystemd)(`is one that systemd takes, for the ${scope}`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'ct-agent-unit-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const path = join(folder, 'ct-agent.service')
      writeFileSync(path, systemdUnit({ ...FACTS, user: 'root' }, scope))
      const { status, stderr } = spawnSync(ANALYZE, ['verify', path], { encoding: 'utf8' })
      // Versions before 254 do not know these.
      const said = stderr
        .split('\n')
        .filter((line) => line.includes('ct-agent') && !/Restart(?:Steps|MaxDelaySec)/.test(line))
      expect({ status, said }).toEqual({ status: 0, said: [] })
    })
  }

  it('of a user has nothing that only root may ask for', () => {
    expect(systemdUnit(FACTS, 'user')).not.toMatch(/^(?:User|Protect\w+|Private\w+|CapabilityBoundingSet)=/m)
  })
})

describe('a property list for launchd', () => {
  it('says the words of the command whatever is in them', () => {
    const text = launchdPlist(FACTS)
    expect(text).toContain('<string>echo "$HOME" \\ 5% &lt;&amp;&gt;</string>')
    const opened = text.match(/<(?:dict|array|string|key|integer)>/g) ?? []
    const closed = text.match(/<\/(?:dict|array|string|key|integer)>/g) ?? []
    expect(opened).toHaveLength(closed.length)
  })
})

describe('ct-agent service print', () => {
  const SECRET = 'ab'.repeat(32)
  const env = { CT_AGENT_STATE_DIR: '/nowhere/state', CT_CHANNEL_HOLDER_KEY: SECRET, PATH: '/bin' }

  for (const manager of ['systemd', 'launchd']) {
    it(`has no secret in it, and says what is left out: ${manager}`, async () => {
      const { status, stdout, stderr } = await runLine(
        ['service', 'print', manager, '--', '--listen', '127.0.0.1:1'],
        env,
      )
      expect(status).toBe(0)
      expect(`${stdout}${stderr}`).not.toContain(SECRET)
      expect(stderr).toContain('not in it: CT_CHANNEL_HOLDER_KEY')
      expect(stderr).toContain('mkdir -p -m 700 "/nowhere/state"')
      expect(stdout).toMatch(
        /serve\W[\s\S]*--ticket-file\W[\s\S]*\/nowhere\/state\/ticket\W[\s\S]*--listen\W[\s\S]*127\.0\.0\.1:1/,
      )
    })
  }

  it('refuses what serve would refuse, and managers that it does not know', async () => {
    expect(await runLine(['service', 'print', 'systemd', '--', '--lisen', 'x'], env)).toMatchObject({
      status: 2,
      stdout: '',
    })
    expect(await runLine(['service', 'print', 'upstart'], env)).toMatchObject({ status: 2, stdout: '' })
  })

  it('runs an MCP server that stands after another --', async () => {
    const { status, stdout } = await runLine(['service', 'print', 'systemd', '--', '--once', '--', 'npx', 'a b'], env)
    expect([status, stdout]).toEqual([0, expect.stringContaining('"--once" "--" "npx" "a b"\n')])
  })

  it('leaves the place of the ticket to whoever names one', async () => {
    const { stdout } = await runLine(['service', 'print', 'systemd', '--', '--ticket-file', '/srv/t'], env)
    expect(stdout.match(/--ticket-file/g)).toHaveLength(1)
  })
})
