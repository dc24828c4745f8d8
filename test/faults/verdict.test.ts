import { describe, expect, it } from 'vitest'
import { type Evidence, judge, NOTHING_WRONG, type Outcome, type Verdict } from './verdict.ts'

const result = (key: string, more: Partial<Outcome> = {}): Outcome => ({ key, code: '', ms: 5, isOwn: true, ...more })
const WELL: Evidence = {
  made: ['a', 'b', 'c'],
  outcomes: [result('a'), result('b', { code: 'ERR_CALL_OUTCOME_UNKNOWN' }), result('c', { code: 'ERR_TIMEOUT' })],
  done: ['a', 'b'],
  latestMs: 10,
}

describe('the verdict on a storm of faults', () => {
  it('finds nothing wrong with results that were done once and errors that say what they know', () => {
    expect(judge(WELL)).toEqual({
      calls: 3,
      results: 1,
      errors: { ERR_CALL_OUTCOME_UNKNOWN: 1, ERR_TIMEOUT: 1 },
      executed: 2,
      slowestMs: 5,
      wrong: NOTHING_WRONG,
    })
  })

  const cases: readonly { wrong: keyof Verdict['wrong']; key: string; evidence: Partial<Evidence> }[] = [
    { wrong: 'executedTwice', key: 'a', evidence: { done: ['a', 'b', 'a'] } },
    { wrong: 'acknowledgedNotExecuted', key: 'a', evidence: { done: ['b'] } },
    { wrong: 'deniedButExecuted', key: 'c', evidence: { done: ['a', 'b', 'c'] } },
    { wrong: 'endedTwice', key: 'a', evidence: { outcomes: [...WELL.outcomes, result('a')] } },
    { wrong: 'neverEnded', key: 'd', evidence: { made: ['a', 'b', 'c', 'd'] } },
    {
      wrong: 'foreignResult',
      key: 'a',
      evidence: { outcomes: [result('a', { isOwn: false }), ...WELL.outcomes.slice(1)] },
    },
    { wrong: 'late', key: 'a', evidence: { outcomes: [result('a', { ms: 11 }), ...WELL.outcomes.slice(1)] } },
    { wrong: 'unasked', key: 'x', evidence: { done: ['a', 'b', 'x'] } },
  ]
  for (const { wrong, key, evidence } of cases) {
    it(`finds a call that is ${wrong}`, () => {
      expect(judge({ ...WELL, ...evidence }).wrong).toEqual({ ...NOTHING_WRONG, [wrong]: [key] })
    })
  }
})
