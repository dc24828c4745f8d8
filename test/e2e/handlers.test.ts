import { existsSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { fixture, isRunning, until, untilGone } from '../mcp/services/processes.ts'
import { Members, serving } from './members.ts'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

const LINES: Env = { CT_CHANNEL_CALL_SERVICE: 'echo' }
const MIB = 1024 * 1024

interface Answer {
  readonly ok: boolean
  readonly output?: string
  readonly error?: string
  readonly code?: string
}

/** What a caller gets for lines sent to a server with this handler, and what the server logs. */
async function outcome(stage: Stage, handler: string, lines: readonly string[], more: Env = {}) {
  const members = new Members(stage)
  const { agent, address } = await members.accept(serving(handler, more))
  const caller = members.call(address, { ...LINES, CT_CHANNEL_MAX_MESSAGE_BYTES: String(16 * MIB) })
  caller.end(`${lines.join('\n')}\n`)
  const { status } = await caller.exit
  return { status, answers: caller.lines.map((line) => JSON.parse(line) as Answer), agent, caller }
}

describe.concurrent('a handler', SLOW, () => {
  it('that is missing is a tool error with a reference, and its stderr stays here (W43)', async ({ stage }) => {
    const { status, answers, agent, caller } = await outcome(stage, '/no/such/program --token=hidden', ['x', 'y'])
    expect(status).toBe(0)
    expect(answers).toHaveLength(2)
    for (const { ok, error = '' } of answers) {
      expect(ok).toBe(false)
      expect(error).toMatch(/^service handler exited exit status: 127 \(reference \w+\)$/)
      expect(agent.stderr).toContain(/reference (\w+)/.exec(error)?.[1])
    }
    expect(`${caller.stdout}${caller.stderr}`).not.toMatch(/no such|not found|hidden/i)
    expect(agent.stderr).toContain('not found')
  })

  it('that crashes, says nothing, or floods is a tool error, and the next call works (W25)', async ({ stage }) => {
    const handler =
      'read -r word; case "$word" in crash) kill -SEGV $$;; nothing) ;; flood) yes;; noise) yes >&2;; *) echo "$word";; esac'
    const { answers } = await outcome(stage, handler, ['crash', 'nothing', 'flood', 'fine'], {
      CT_AGENT_SERVICE_MAX_OUTPUT_BYTES: '100000',
    })
    expect(answers.map(({ ok, output, error = '' }) => (ok ? output : error.replace(/ \(reference.*/, '')))).toEqual([
      expect.stringMatching(/^service handler exited /),
      'service handler exited exit status: 0 but produced no output (killed mid-run?)',
      'service handler wrote more than 100000 bytes of output',
      'fine',
    ])
  })

  it('that hangs is ended with its grandchild after the time limit (W25)', async ({ stage }) => {
    const file = stage.path('pids')
    const { answers } = await outcome(stage, `exec /bin/sh '${fixture('stubborn.sh')}' '${file}'`, ['x'], {
      CT_AGENT_SERVICE_TIMEOUT_SECS: '1',
    })
    const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number)
    stage.onClose(() => {
      for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
    })
    expect(answers).toMatchObject([{ ok: false, error: expect.stringContaining('timed out after 1s') }])
    await untilGone(pids)
  })

  it('that leaves a grandchild behind has its answer kept', async ({ stage }) => {
    const file = stage.path('pids')
    const { answers } = await outcome(stage, `exec /bin/sh '${fixture('leaver.sh')}' '${file}'`, ['x'])
    expect(answers).toEqual([{ ok: true, output: 'answer' }])
    await untilGone(readFileSync(file, 'utf8').trim().split('\n').map(Number))
  })

  it('that hangs keeps nobody else from being served (W24)', async ({ stage }) => {
    const members = new Members(stage)
    const begun = stage.path('begun')
    const { address } = await members.accept(serving(`touch '${begun}'; exec sleep 300`))
    const stuck = members.call(address, LINES).write('x\n')
    await until('the handler to run', () => existsSync(begun))
    const ping = members.call(address, { CT_CHANNEL_CALL: 'tools/call', CT_CHANNEL_CALL_PARAMS: '{"name":"ping"}' })
    expect((await ping.exit).status).toBe(0)
    expect(stuck.stdout).toBe('')
  })

  it('takes and gives 2 MiB (W7)', async ({ stage }) => {
    const text = `${'0123456789abcdef'.repeat((2 * MIB) / 16 - 1)}the end`
    const { status, answers } = await outcome(stage, 'cat', [text, 'small'])
    expect(status).toBe(0)
    expect(answers.map(({ output }) => output?.length)).toEqual([text.length, 5])
    expect(answers[0]?.output === text).toBe(true)
  })

  it('is not asked with more than 4 MiB, nor with more than fits in a message: both are answers (W7)', async ({
    stage,
  }) => {
    const { status, answers } = await outcome(stage, 'cat', ['x'.repeat(5 * MIB), 'y'.repeat(9 * MIB), 'small'])
    expect(status).toBe(0)
    expect(answers).toMatchObject([
      { ok: false, error: expect.stringContaining('exceeds the 4194304-byte cap') },
      { ok: false, code: 'ERR_MESSAGE_TOO_LARGE' },
      { ok: true, output: 'small' },
    ])
  })

  it('whose output does not fit in a message is a tool error, and the session lives on (W7)', async ({ stage }) => {
    const members = new Members(stage)
    const handler = 'read -r n; head -c "$n" /dev/zero | tr "\\0" x'
    const { address } = await members.accept(serving(handler))
    const caller = members.call(address, { ...LINES, CT_CHANNEL_MAX_MESSAGE_BYTES: '65536' })
    caller.end('1000000\n10\n')
    expect((await caller.exit).status).toBe(0)
    const [large, small] = caller.lines.map((line) => JSON.parse(line) as Answer)
    expect(large).toMatchObject({ ok: false, error: expect.stringMatching(/65536|too large|at most/) })
    expect(small).toEqual({ ok: true, output: 'xxxxxxxxxx' })
    expect(caller.stderr).not.toContain('session ended')
  })

  it('sees none of the agent’s variables but the name of the service and of the caller', async ({ stage }) => {
    const { answers } = await outcome(
      stage,
      'env | grep ^CT_ | cut -d= -f1 | sort | tr "\\n" " "; echo "$CT_SERVICE_TYPE"',
      ['x'],
    )
    expect(answers).toEqual([{ ok: true, output: 'CT_CALL_ID CT_PEER_HOLDER CT_SERVICE_TYPE echo' }])
  })

  it('may run an agent of its own', async ({ stage }) => {
    const server = stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'one') })
    const ticket = await server.line()
    const { answers } = await outcome(
      stage,
      `CT_AGENT_STATE_DIR='${stage.path('two')}' '${process.execPath}' '${PROGRAM}' call ${ticket} ping`,
      ['x'],
    )
    expect(answers).toEqual([{ ok: true, output: '{"reply":"pong"}' }])
  })
})
