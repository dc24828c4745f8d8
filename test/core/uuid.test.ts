import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUuid, uuidOf, uuidSource } from '../../src/core/uuid.ts'

describe('a UUID of version 7', () => {
  it('is the example of RFC 9562', () => {
    // Appendix A.6: rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F.
    const random = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
    expect(uuidOf(0x017f22e279b0, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
  })

  it('sorts by time, and is one', () => {
    const random = fc.uint8Array({ minLength: 10, maxLength: 10 })
    const time = fc.integer({ min: 0, max: 2 ** 47 })
    fc.assert(
      fc.property(time, fc.integer({ min: 1, max: 1_000 }), random, random, (ms, later, one, other) => {
        const [first, second] = [uuidOf(ms, one), uuidOf(ms + later, other)]
        expect([isUuid(first), isUuid(second), first < second]).toEqual([true, true, true])
      }),
    )
  })

  it('sorts after the one before it, whatever the clock does', () => {
    const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 })
    const steps = fc.array(fc.tuple(fc.integer({ min: -5, max: 5 }), bytes), { minLength: 2, maxLength: 50 })
    fc.assert(
      fc.property(steps, (given) => {
        let [now, at] = [1_000, 0]
        const next = uuidSource(
          () => now,
          () => Uint8Array.from(given[at]?.[1] ?? []),
        )
        const made = given.map(([step], index) => {
          at = index
          now += step
          return next()
        })
        expect(made.every(isUuid)).toBe(true)
        expect([...new Set(made)].sort()).toEqual(made)
      }),
    )
  })

  it('has room for more within a millisecond than its counter', () => {
    const next = uuidSource(
      () => 1_000,
      () => new Uint8Array(10).fill(0xff),
    )
    const made = Array.from({ length: 10_000 }, next)
    expect([...new Set(made)].sort()).toEqual(made)
  })

  it.each(['', 'x', '017f22e2-79b0-7cc3-98c4-dc0c0c07398', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F'])(
    'is not %s',
    (text) => {
      expect(isUuid(text)).toBe(false)
    },
  )
})
