import { describe, expect } from 'vitest'
import { SEED } from '../faults/settings.ts'
import { storm } from '../faults/storm.ts'
import { NOTHING_WRONG } from '../faults/verdict.ts'
import { it } from './stage.ts'

describe('calls through a broker while everything fails in turn', () => {
  it('end once each, and run at most once', { timeout: 120_000 }, async ({ stage }) => {
    const report = await storm(stage, {
      seed: SEED,
      calls: 2_000,
      faults: 50,
      callers: 3,
      workers: 12,
      deadlineMs: 15_000,
      thinkMs: 120,
      workMs: 20,
      gapMs: [50, 300],
      patienceMs: 200,
      lastsMs: [100, 2_000],
    })
    process.stdout.write(`fault soak: ${JSON.stringify(report)}\n`)
    expect(report.verdict.wrong, `seed ${SEED}`).toEqual(NOTHING_WRONG)
    expect(report.verdict.calls).toBeGreaterThanOrEqual(2_000)
    expect(report.verdict.results).toBeGreaterThan(1_500)
  })
})
