import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { type Io, notice } from '../../src/agent/io.ts'
import { createLogger } from '../../src/agent/logger.ts'
import { reportError } from '../../src/agent/report.ts'
import { CtError } from '../../src/core/errors.ts'

const HOSTILE = 'a\u001b[2J\u009b\u007f\u202e\u061c\u200b\ufeff\u{e0041}\ud800z'
const UNFIT = /[^\P{C}\n]|\p{Default_Ignorable_Code_Point}/u

class Sink extends Writable {
  text = ''

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.text += Buffer.from(chunk).toString()
    done()
  }
}

function shownBy(write: (io: Io) => unknown): string {
  const stderr = new Sink()
  write({ stderr } as unknown as Io)
  return stderr.text
}

describe('reportError', () => {
  for (const form of ['people', 'json', 'compatible'] as const) {
    it(`shows no character of a message that steers a terminal, for ${form}`, () => {
      const shown = shownBy((io) => reportError(io, new CtError('ERR_TOOL_FAILED', `${HOSTILE}\nb`), form))
      expect(shown).not.toMatch(UNFIT)
      expect(shown).toContain('a')
    })
  }

  it('keeps the message whole in JSON', () => {
    const shown = shownBy((io) => reportError(io, new CtError('ERR_TOOL_FAILED', HOSTILE), 'json'))
    expect(JSON.parse(shown)).toMatchObject({ error: { message: HOSTILE } })
  })
})

describe('notice', () => {
  it('keeps its lines and shows nothing that steers a terminal', () => {
    const shown = shownBy((io) => notice(io, `one\n${HOSTILE}`))
    expect(shown).not.toMatch(UNFIT)
    expect(shown).toMatch(/^one\na.*z\n$/)
  })
})

describe('createLogger', () => {
  it('writes one line of JSON an event, whatever a peer said', async () => {
    const stderr = new Sink()
    const log = createLogger('info', stderr)
    log.info('session.ended', { reason: `${HOSTILE}\n` })
    log.info('session.ended', { reason: 'next' })
    await log.flush()
    expect(stderr.text).not.toMatch(UNFIT)
    const lines = stderr.text.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual([`${HOSTILE}\n`, 'next'])
  })
})
