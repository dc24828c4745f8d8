import { describe, expect, it } from 'vitest'
import { Quota, sourceOf } from '../../../src/channel/broker/quota.ts'

const POLICY = { budget: 3, windowMs: 1_000, maxKeys: 2 }

describe('Quota', () => {
  it('is used up by its budget, until the window of the first use is over', () => {
    const quota = new Quota(POLICY)
    for (const now of [0, 100, 200]) {
      expect(quota.waitOf('a', now)).toBe(0)
      quota.note('a', now)
    }
    expect(quota.waitOf('a', 300)).toBe(700)
    expect(quota.waitOf('b', 300)).toBe(0)
    expect(quota.waitOf('a', 1_000)).toBe(0)
    quota.note('a', 1_000)
    expect(quota.waitOf('a', 1_001)).toBe(0)
  })

  it('counts amounts', () => {
    const quota = new Quota(POLICY)
    quota.note('a', 0, 3)
    expect(quota.waitOf('a', 0)).toBe(1_000)
  })

  it('forgets the one that used it longest ago', () => {
    const quota = new Quota(POLICY)
    quota.note('a', 0, 3)
    quota.note('b', 1, 3)
    quota.note('a', 2)
    quota.note('c', 3, 3)
    expect(['a', 'b', 'c'].map((key) => quota.waitOf(key, 4) > 0)).toEqual([true, false, true])
  })
})

describe('sourceOf', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['203.0.113.5', '203.0.113.5'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ]
  for (const [host, source] of cases) {
    it(`takes ${host} as ${source}`, () => {
      expect(sourceOf(host)).toBe(source)
    })
  }
})
