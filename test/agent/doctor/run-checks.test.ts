import { describe, expect, it } from 'vitest'
import { FINDINGS, type FindingCode, type FindingFacts, found } from '../../../src/agent/doctor/catalogue.ts'
import { isWell, reportJson, reportText } from '../../../src/agent/doctor/report.ts'
import { CHECK_LIMIT_MS, type Checked, runChecks } from '../../../src/agent/doctor/run-checks.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

describe('the checks of the doctor', () => {
  it('run side by side, each with a bound, and none spoils another', async () => {
    const clock = new FakeClock()
    const done: string[] = []
    let aborted = false
    const running = runChecks(
      [
        { name: 'quick', run: () => [found('node.ok', 'x')] },
        { name: 'broken', run: () => Promise.reject(new Error('oh')) },
        {
          name: 'slow',
          run: (signal) => {
            signal.addEventListener('abort', () => (aborted = true))
            return new Promise(() => {})
          },
        },
      ],
      { clock, onDone: (name) => done.push(name) },
    )
    await settled()
    expect(done.toSorted()).toEqual(['broken', 'quick'])
    clock.advance(CHECK_LIMIT_MS)
    expect(await running).toMatchObject([
      { check: 'node', code: 'node.ok' },
      { check: 'broken', code: 'doctor.crashed', status: 'fail' },
      { check: 'slow', code: 'doctor.late', error: 'ERR_TIMEOUT' },
    ])
    expect([aborted, clock.timers]).toEqual([true, 0])
  })
})

describe('what the doctor can find', () => {
  for (const [code, { status, fix }] of Object.entries<FindingFacts>(FINDINGS)) {
    it(`has a check, and something to do where it is bad: ${code}`, () => {
      expect(code).toMatch(/^[a-z0-9]+\.[a-z0-9_]+$/)
      expect(fix === undefined).toBe(status === 'ok' || status === 'skipped')
    })
  }
})

describe('the report of the doctor', () => {
  const checked = (...codes: readonly FindingCode[]): readonly Checked[] =>
    codes.map((code) => ({ check: code.split('.')[0] ?? '', ...found(code, `what\u001b[31m ${code}`) }))

  it('is bad when one thing is', () => {
    expect(isWell(checked('node.ok', 'settings.unknown', 'dns.skipped'))).toBe(true)
    expect(isWell(checked('node.ok', 'port.in_use'))).toBe(false)
  })

  it('says for people what to do, and nothing that steers a terminal', () => {
    const text = reportText(checked('node.ok', 'port.in_use'), false)
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/^ok {4}node {2}what\P{C}*$/u),
      expect.stringMatching(/^FAIL {2}port {2}what\P{C}* \(port\.in_use\)$/u),
      expect.stringMatching(/^ {12}→ stop the program/),
      '',
      '1 thing is wrong',
    ])
  })

  it('says the same for programs', () => {
    expect(JSON.parse(reportJson(checked('port.in_use')))).toMatchObject({
      ok: false,
      checks: [{ check: 'port', status: 'fail', code: 'port.in_use', fix: expect.any(String) as string }],
    })
  })
})
