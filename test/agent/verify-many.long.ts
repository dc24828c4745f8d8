import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { grouped } from '../../src/agent/artefacts/verdicts.ts'
import { run } from '../../src/agent/main.ts'
import { CLEAR_LINE, withProgress } from '../../src/agent/progress.ts'
import { ERROR_CODES } from '../../src/core/errors.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { cardText, temporaryFolder } from './artefact-files.ts'
import { fakeIo, runLine } from './fake-io.ts'

const CARDS = 10_000
const TAMPERED = 4_321
const TRUNCATED = 9_000

describe('verifying many documents', () => {
  it(`names the two of ${CARDS} that are broken, and counts the others`, async () => {
    const cards = Array.from({ length: 20 }, (_, index) => cardText({ roleTags: [`role ${index}`] }))
    const lines = Array.from({ length: CARDS }, (_, index) => cards[index % cards.length] ?? '')
    lines[TAMPERED - 1] = cardText().replace('planner', 'plannex')
    lines[TRUNCATED - 1] = cardText().slice(0, 120)
    const file = join(temporaryFolder(), 'cards.ndjson')
    writeFileSync(file, lines.join('\n'))
    const { status, stdout, stderr } = await runLine(['card', 'verify', file])
    expect([status, stderr]).toEqual([ERROR_CODES.ERR_SIGNATURE_INVALID.exit, ''])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(`^document ${TAMPERED}: ERR_SIGNATURE_INVALID `),
      expect.stringMatching(`^document ${TRUNCATED}: ERR_ARTEFACT_INVALID `),
      '9 998 valid, 2 invalid',
      '',
    ])
  }, 30_000)

  it('says what it knows of a document before it has the next, and stops when asked to', async () => {
    const stdin = new PassThrough()
    const { io, stdout, stderr, signals } = fakeIo()
    const status = run(['card', 'show'], {}, { ...io, stdin } as unknown as typeof io)
    stdin.write(`${cardText()}\n${cardText()}\n`)
    while (!stdout.text.includes('document 2,')) await new Promise(setImmediate)
    signals.emit('SIGINT')
    expect(await status).toBe(ERROR_CODES.ERR_STOPPED.exit)
    expect(stderr.text).toBe(
      `ct-agent: before that: 2 valid, 0 invalid\nct-agent: stopped by SIGINT\n  ERR_STOPPED: ${ERROR_CODES.ERR_STOPPED.hint}\n`,
    )
    expect(signals.listenerCount('SIGINT')).toBe(0)
  })

  it('says nothing on stderr but the JSON error to whoever asked for JSON', async () => {
    const stdin = new PassThrough()
    const { io, stdout, stderr, signals } = fakeIo()
    const tty = Object.assign(stderr, { isTTY: true })
    const env = { CT_AGENT_STAT_DIR: 'a mistake that is pointed out otherwise' }
    const status = run(['card', 'verify', '--json'], env, { ...io, stdin, stderr: tty } as unknown as typeof io)
    stdin.write(`${cardText()}\n${cardText()}\n`)
    while (stdout.text.split('\n').length < 3) await new Promise(setImmediate)
    signals.emit('SIGINT')
    expect(await status).toBe(ERROR_CODES.ERR_STOPPED.exit)
    expect(JSON.parse(stderr.text)).toMatchObject({ error: { code: 'ERR_STOPPED', message: 'stopped by SIGINT' } })
  })

  it('stops when asked to while documents keep coming', async () => {
    const stdin = Readable.from(Array(CARDS).fill(Buffer.from(`${cardText()}\n`)) as Buffer[])
    const { io, stdout, signals } = fakeIo()
    const status = run(['card', 'verify'], {}, { ...io, stdin } as unknown as typeof io)
    let ended = false
    const end = status.then(() => {
      ended = true
    })
    while (!ended && signals.listenerCount('SIGINT') === 0) await new Promise(setImmediate)
    await new Promise(setImmediate)
    signals.emit('SIGINT')
    await end
    expect([await status, stdout.text]).toEqual([ERROR_CODES.ERR_STOPPED.exit, ''])
  }, 30_000)

  it('counts bytes that are no text as one document, and goes on with the next', async () => {
    const bad = Buffer.concat([Buffer.from('{"role_tags":["'), Buffer.of(0xff), Buffer.from('"]}')])
    const file = join(temporaryFolder(), 'cards.ndjson')
    writeFileSync(file, Buffer.concat([Buffer.from(`${cardText()}\n`), bad, Buffer.from(`\n${cardText()}\n`)]))
    const { status, stdout, stderr } = await runLine(['card', 'verify', file])
    expect([status, stderr]).toEqual([ERROR_CODES.ERR_ARTEFACT_INVALID.exit, ''])
    expect(stdout).toBe('document 2: ERR_ARTEFACT_INVALID expected UTF-8 text, found other bytes\n2 valid, 1 invalid\n')
  })
})

describe('withProgress', () => {
  it('shows a count as it stands, after two seconds and on a terminal alone', async () => {
    const clock = new FakeClock()
    const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true })
    const io = { stderr: stderr as unknown as NodeJS.Process['stderr'] }
    const work = Promise.withResolvers<number>()
    let count = 0
    const awaited = withProgress(io, clock, () => `checked ${count}`, work.promise)
    clock.advance(1_999)
    expect(stderr.read()).toBeNull()
    count = 7
    clock.advance(1)
    expect(stderr.read()).toBe(`${CLEAR_LINE}checked 7 … 2 s`)
    count = 9
    clock.advance(1_000)
    expect(stderr.read()).toBe(`${CLEAR_LINE}checked 9 … 3 s`)
    work.resolve(1)
    expect(await awaited).toBe(1)
    expect(stderr.read()).toBe(CLEAR_LINE)
    expect(clock.timers).toBe(0)
  })
})

describe('grouped', () => {
  for (const [count, text] of [
    [0, '0'],
    [999, '999'],
    [1_000, '1 000'],
    [9_998, '9 998'],
    [1_234_567, '1 234 567'],
  ] as const) {
    it(`writes ${count} as ${text}`, () => expect(grouped(count)).toBe(text))
  }
})
