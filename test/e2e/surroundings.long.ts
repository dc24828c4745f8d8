import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { until } from '../mcp/services/processes.ts'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

/** Runs `$0 $@` as the program, so that a shell can set limits and pipes around it. */
function shell(stage: Stage, script: string, name = 'state') {
  return stage.run([script, process.execPath, PROGRAM], { command: ['/bin/sh', '-c'], env: stateOf(stage, name) })
}

describe.concurrent('ct-agent in its surroundings', SLOW, () => {
  it('shows in the demo a list, a ping, a call and a refusal, and exits with 0', async ({ stage }) => {
    const { status, stdout, stderr } = await stage.finish(['demo'])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    for (const line of [
      /^ {2}ping +liveness check → returns pong$/m,
      /^ {2}service\/word_count +typed word_count service/m,
      /^ {2}\{"reply":"pong"\}$/m,
      /^ {2}15$/m,
      /^ {4}ERR_PEER_REFUSED: /m,
      /^ {2}\(exit status 3, \d+ ms from start to exit\)$/m,
      /^ {2}\(exit status 0\)$/m,
      /^Your turn: ct-agent serve$/m,
    ]) {
      expect(stdout).toMatch(line)
    }
  })

  it('stays quiet when the reader of its stdout goes away', async ({ stage }) => {
    for (const args of ['help env', '--version', 'channel init', '--help']) {
      const agent = shell(stage, `{ "$0" "$1" ${args}; echo "status $?" >&2; } | true`)
      await agent.exit
      expect(agent.stderr).toMatch(/^status (0|141)\n$/)
    }
  })

  it('stays quiet when the reader of a call goes away', async ({ stage }) => {
    const server = stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'server') })
    const ticket = await server.line()
    const agent = shell(stage, `{ "$0" "$1" call ${ticket} ping; echo "status $?" >&2; } | true`)
    await agent.exit
    expect(agent.stderr).toMatch(/^status (0|141)\n$/)
    expect(server.child.exitCode).toBeNull()
  })

  it('goes on serving when whoever read the ticket closes the pipe', async ({ stage }) => {
    const ticketFile = stage.path('ticket')
    const agent = shell(stage, `"$0" "$1" serve --listen 127.0.0.1:0 | head -n 1 >'${ticketFile}'; echo over`)
    await agent.says(/whoever has the ticket may call/)
    // The reader writes the file when it likes.
    await until('the ticket', () => readFileSync(ticketFile, 'utf8').endsWith('\n'))
    const ticket = readFileSync(ticketFile, 'utf8').trim()
    expect((await stage.finish(['call', ticket, 'ping'], { env: stateOf(stage, 'caller') })).status).toBe(0)
    expect(agent.stdout).toBe('')
    spawnSync('/bin/sh', ['-c', `kill $(ps -o pid= --ppid ${agent.pid})`])
    await agent.exit
  })

  it('ends when it cannot print its ticket, and says why', async ({ stage }) => {
    const gone = shell(stage, '{ sleep 0.01; "$0" "$1" serve --listen 127.0.0.1:0; echo "status $?" >&2; } | exec true')
    await gone.exit
    expect(gone.stderr).toContain('status 141\n')
    const full = shell(stage, '"$0" "$1" serve --listen 127.0.0.1:0 >/dev/full; echo "status $?" >&2')
    await full.exit
    expect(full.stderr).toMatch(/^ct-agent: cannot write to stdout: ENOSPC/)
    expect(full.stderr).toContain('status 1\n')
  })

  it('ends with a code when its state cannot be written or read', async ({ stage }) => {
    const file = stage.path('file')
    writeFileSync(file, '')
    for (const folder of [`${file}/below`, '/proc/ct-agent', '/dev/null']) {
      const { status, stderr } = await stage.finish(['serve'], { env: { CT_AGENT_STATE_DIR: folder } })
      expect([folder, status]).toEqual([folder, 8])
      expect(stderr).toContain('ERR_STATE_UNAVAILABLE')
    }
    const full = shell(stage, 'ulimit -f 0; "$0" "$1" serve 2>&1 | cat', 'full')
    await full.exit
    expect(full.stdout).toMatch(/cannot write .*holder\.key: EFBIG/)
  })

  it('refuses state that others can read, and a key that is none, without showing it', async ({ stage }) => {
    const folder = stage.path('wide')
    mkdirSync(folder)
    const key = `${folder}/holder.key`
    writeFileSync(key, `${'ab'.repeat(32)}\n`)
    chmodSync(key, 0o640)
    const wide = await stage.finish(['serve'], { env: { CT_AGENT_STATE_DIR: folder } })
    expect(wide.status).toBe(8)
    expect(wide.stderr).toMatch(/expected mode 600, found 640; run chmod 600 on it/)
    chmodSync(key, 0o600)
    writeFileSync(key, 'abab')
    const short = await stage.finish(['serve'], { env: { CT_AGENT_STATE_DIR: folder } })
    expect(short.status).toBe(8)
    expect(short.stderr).toContain('ERR_STATE_UNAVAILABLE')
    expect(short.stderr).not.toContain('abab')
  })

  it('runs the same when compiled code cannot be kept', async ({ stage }) => {
    for (const folder of ['/proc/none', '/dev/null', 'relative', '']) {
      const ended = await stage.finish(['--version'], { env: { XDG_CACHE_HOME: folder, HOME: '/proc/none' } })
      expect(ended).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^ct-agent \d/) })
    }
  })

  it('takes part when stdin is closed from the start', async ({ stage }) => {
    const server = stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'server') })
    const ticket = await server.line()
    const agent = shell(stage, `exec "$0" "$1" call ${ticket} ping <&-`)
    expect((await agent.exit).status).toBe(0)
    expect(agent.stdout).toBe('{"reply":"pong"}\n')
  })

  it('gives a Node that is too old one clear line and exits with 1', async ({ stage, skip }) => {
    const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
      const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
      return typeof stdout === 'string' && /^v(1\d|20)\./.test(stdout)
    })
    if (old === undefined) {
      skip('this machine has no Node older than 22')
      return
    }
    const agent = stage.run([PROGRAM, 'demo'], { command: [old] })
    expect((await agent.exit).status).toBe(1)
    expect(agent.stdout).toBe('')
    expect(agent.stderr).toMatch(/^ct-agent: needs Node\.js 22\.18 or newer, found v\d+\.\d+\.\d+; .*\n$/)
  })

  it('gives handlers nothing of its settings file', async ({ stage }) => {
    const config = stage.path('settings')
    writeFileSync(config, 'FROM_FILE=leaked\nPATH=/nowhere\nCT_AGENT_SERVICES=show\n', { mode: 0o600 })
    const server = stage.start(
      ['serve', '--listen', '127.0.0.1:0', '--config', config, '--handler', 'echo "[$FROM_FILE]"; command -v sh'],
      { env: stateOf(stage, 'server') },
    )
    const env = stateOf(stage, 'caller', { CT_TICKET: await server.line() })
    const { stdout } = await stage.finish(['call', 'service/show', '{"input":""}'], { env })
    expect(stdout).toMatch(/^\[\]\n\/.*sh\n$/)
  })

  it('shows where a defect is at CT_LOG_LEVEL=debug, else its first line alone', ({ stage }) => {
    const preload = stage.path('defect.mjs')
    writeFileSync(
      preload,
      `process.on('newListener', (name) => {
        if (name === 'uncaughtException') process.nextTick(() => { throw new Error('broken\\nin two lines') })
      })`,
    )
    const run = (level: string) =>
      spawnSync(process.execPath, ['--import', preload, PROGRAM, 'channel'], {
        encoding: 'utf8',
        env: { HOME: stage.folder, CT_LOG_LEVEL: level },
      })
    expect(run('warn').stderr).toMatch(/^ct-agent: internal error: broken\n(?!in two lines)/m)
    expect(run('debug').stderr).toMatch(/^ct-agent: internal error: Error: broken\nin two lines\n +at .*defect\.mjs/m)
  })
})
