import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Backoff, pause, systemClock } from '../../src/core/time.ts'
import { FakeClock } from '../mcp/fake-clock.ts'

const POLICY = { baseMs: 200, capMs: 30_000, stableMs: 5_000 }
const highest = (): number => 1 - Number.EPSILON

describe('Backoff', () => {
  it('doubles up to the cap', () => {
    const backoff = new Backoff(POLICY, highest)
    const delays = Array.from({ length: 10 }, () => backoff.next(0))
    expect(delays).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
  })

  it('stays between half the ceiling and the ceiling, whatever the policy and the draw', () => {
    const policies = fc.record({
      baseMs: fc.integer({ min: 1, max: 10_000 }),
      capMs: fc.integer({ min: 10_000, max: 1e6 }),
      stableMs: fc.constant(5_000),
    })
    fc.assert(
      fc.property(policies, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (policy, draw) => {
        const backoff = new Backoff(policy, () => draw)
        for (let failures = 0; failures < 70; failures += 1) {
          const ceiling = Math.min(policy.capMs, policy.baseMs * 2 ** failures)
          const delay = backoff.next(0)
          expect(delay).toBeGreaterThanOrEqual(Math.floor(ceiling / 2))
          expect(delay).toBeLessThanOrEqual(ceiling)
        }
        expect(backoff.failures).toBe(70)
      }),
    )
  })

  it('spreads many callers: no tenth of the range gets more than a fifth of them', () => {
    const delays = Array.from({ length: 1_000 }, () => new Backoff({ ...POLICY, baseMs: 1_000 }, Math.random).next(0))
    const tenths = new Map<number, number>()
    for (const delay of delays) {
      const tenth = Math.min(9, Math.floor((delay - 500) / 50))
      tenths.set(tenth, (tenths.get(tenth) ?? 0) + 1)
    }
    expect(Math.max(...tenths.values())).toBeLessThan(200)
  })

  it('starts anew after an attempt that was up long enough, and only then', () => {
    const backoff = new Backoff(POLICY, highest)
    backoff.next(0)
    backoff.next(0)
    expect(backoff.next(POLICY.stableMs - 1)).toBe(800)
    expect(backoff.next(POLICY.stableMs)).toBe(200)
    expect(backoff.failures).toBe(1)
  })
})

describe('pause', () => {
  it('resolves after its time', async () => {
    const clock = new FakeClock()
    const waiting = pause(clock, 1_000)
    clock.advance(1_000)
    await waiting
    expect(clock.timers).toBe(0)
  })

  it('ends at once when the signal aborts, and leaves no timer behind', async () => {
    const clock = new FakeClock()
    const abort = new AbortController()
    const waiting = pause(clock, 1_000, abort.signal)
    abort.abort()
    await waiting
    expect(clock.timers).toBe(0)
  })

  it('does not begin with an aborted signal', async () => {
    const clock = new FakeClock()
    await pause(clock, 1_000, AbortSignal.abort())
    expect(clock.timers).toBe(0)
  })
})

describe('systemClock', () => {
  it('calls back, and does not once cancelled', async () => {
    const calls: string[] = []
    const cancel = systemClock.after(0, () => calls.push('cancelled'))
    cancel()
    await new Promise<void>((resolve) => systemClock.after(1, resolve))
    expect(calls).toEqual([])
    expect(systemClock.monotonic()).toBeLessThanOrEqual(systemClock.monotonic())
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000)
  })
})
