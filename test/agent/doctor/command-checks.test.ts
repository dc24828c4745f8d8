import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkHandler, programOf } from '../../../src/agent/doctor/handler-check.ts'
import { checkServer } from '../../../src/agent/doctor/server-check.ts'
import { isRunning, until } from '../../mcp/services/processes.ts'

const env = { PATH: '/usr/local/bin:/usr/bin:/bin', CT_CHANNEL_HOLDER_KEY: 'secret' }
const { signal } = new AbortController()

function script(text: string, mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'script')
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, mode)
  return path
}

describe('the doctor, of a handler', () => {
  for (const [code, command] of [
    ['handler.skipped', undefined],
    ['handler.skipped', ' '],
    ['handler.ok', 'cat'],
    ['handler.ok', 'X=1 exec tr a-z A-Z | cat'],
    ['handler.ok', 'if true; then cat; fi'],
    ['handler.ok', '"$HOME"/x'],
    ['handler.missing', 'no-such-program-here --x'],
    ['handler.missing', './no/such/file'],
    ['handler.syntax', 'if true; then'],
    ['handler.syntax', "echo 'x"],
  ] as const) {
    it(`finds ${code} for ${String(command)}`, async () => {
      expect(await checkHandler(command, { env, hasServices: true }, signal)).toMatchObject([{ code }])
    })
  }

  it('finds one that may not be run, and runs none', async () => {
    const path = script('', 0o644)
    expect(await checkHandler(path, { env, hasServices: true }, signal)).toMatchObject([
      { code: 'handler.not_executable' },
    ])
    const mark = `${path}.ran`
    await checkHandler(script(`touch ${mark}`), { env, hasServices: true }, signal)
    expect(existsSync(mark)).toBe(false)
  })

  it('finds one that nothing is called by', async () => {
    expect(await checkHandler('cat', { env, hasServices: false }, signal)).toMatchObject([
      { code: 'handler.ok' },
      { code: 'handler.unused' },
    ])
  })

  for (const [command, program] of [
    ['./a.sh x', './a.sh'],
    ["'/opt/my tool' x", '/opt/my tool'],
    ['A=1 B=/x exec python3 -u s.py', 'python3'],
    ['cat|wc', 'cat'],
    ['$X', undefined],
    ['"a b"', undefined],
    ['(cat)', undefined],
  ] as const) {
    it(`takes ${String(program)} for the program of ${command}`, () => {
      expect(programOf(command)).toBe(program)
    })
  }
})

const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"s","version":"1"}}}'

describe('the doctor, of an MCP server', () => {
  for (const [code, text, message] of [
    ['server.ok', `read line; echo '${ANSWER}'; cat >/dev/null`, /it answers: "s"/],
    ['server.ok', `echo '{"jsonrpc":"2.0","method":"notifications/message"}'; echo '${ANSWER}'; cat`, /answers/],
    ['server.stdout', `echo 'Server ready!'; read line; echo '${ANSWER}'; cat`, /"Server ready!"/],
    ['server.stdout', 'echo banner; cat >/dev/null', /"banner"/],
    ['server.stdout', 'echo banner', /"banner"/],
    ['server.ended', 'echo "no config" >&2; exit 3', /status 3.*"no config"/],
    ['server.ended', 'exit 0', /status 0/],
    ['server.missing', 'no-such-program-here', /no such program/],
    ['server.silent', 'cat >/dev/null', /no answer/],
    ['server.ended', `[ -z "$CT_CHANNEL_HOLDER_KEY" ] && exit 9; echo '${ANSWER}'`, /status 9/],
  ] as const) {
    it(`finds ${code} for one that runs ${text}`, async () => {
      const finding = await checkServer(text, env, AbortSignal.timeout(1_500))
      expect(finding).toMatchObject({ code, message: expect.stringMatching(message) as string })
    })
  }

  it('ends it, and what it started', async () => {
    const path = script(`sleep 60 & echo $! > "$0.pid"; echo '${ANSWER}'; wait`)
    expect((await checkServer(path, env, signal)).code).toBe('server.ok')
    const pid = Number(readFileSync(`${path}.pid`, 'utf8'))
    await until('the end of what it started', () => !isRunning(pid))
  })

  it('needs none', async () => {
    expect((await checkServer(undefined, env, signal)).code).toBe('server.skipped')
  })
})
