import { describe, expect } from 'vitest'
import { it } from '../e2e/stage.ts'
import { SEED } from '../faults/settings.ts'
import { storm } from '../faults/storm.ts'
import { NOTHING_WRONG } from '../faults/verdict.ts'
import { record } from './record.ts'

const [CALLS, FAULTS] = [100_000, 1_000]

describe('calls through a broker while everything fails in turn', () => {
  it(`end once each, and run at most once: ${CALLS} of them, ${FAULTS} faults`, { timeout: 4 * 3_600_000 }, async ({
    stage,
  }) => {
    const report = await storm(stage, {
      seed: SEED,
      calls: CALLS,
      faults: FAULTS,
      callers: 4,
      workers: 16,
      deadlineMs: 60_000,
      thinkMs: 200,
      workMs: 50,
      gapMs: [200, 1_500],
      patienceMs: 3_000,
      lastsMs: [200, 20_000],
    })
    record('faults', { ...report, verdict: { ...report.verdict, wrong: counted(report.verdict.wrong) } })
    expect(report.verdict.wrong, `seed ${SEED}`).toEqual(NOTHING_WRONG)
    expect(report.verdict.results).toBeGreaterThan(0.9 * CALLS)
  })
})

function counted(wrong: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(wrong).map(([name, keys]) => [name, keys.length]))
}
