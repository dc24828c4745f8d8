import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseU64, saturatingAdd, U64_MAX, u64, unixSeconds } from '../../src/core/u64.ts'

const anyU64 = fc.bigInt({ min: 0n, max: U64_MAX }).map(u64)

describe('u64', () => {
  const accepted: readonly (readonly [bigint | number, bigint])[] = [
    [0, 0n],
    [0n, 0n],
    [-0, 0n],
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991n],
    [2n ** 53n + 1n, 9_007_199_254_740_993n],
    [2n ** 64n - 1n, 18_446_744_073_709_551_615n],
  ]
  for (const [value, exact] of accepted) {
    it(`takes the ${typeof value} ${value}`, () => expect(u64(value)).toBe(exact))
  }

  const refused = [-1n, -1, 2n ** 64n, 0.5, 2 ** 53, 2 ** 64, Number.NaN, Number.POSITIVE_INFINITY]
  for (const value of refused) {
    it(`refuses the ${typeof value} ${value}`, () => expect(() => u64(value)).toThrow(RangeError))
  }
})

describe('saturatingAdd', () => {
  it('is the sum, or the largest value there is', () => {
    fc.assert(
      fc.property(anyU64, anyU64, (left, right) => {
        const sum = left + right
        expect(saturatingAdd(left, right)).toBe(sum >> 64n === 0n ? sum : U64_MAX)
      }),
    )
    expect(saturatingAdd(U64_MAX, u64(0))).toBe(U64_MAX)
    expect(saturatingAdd(U64_MAX, u64(1))).toBe(U64_MAX)
  })
})

describe('parseU64', () => {
  const accepted: readonly (readonly [string, bigint])[] = [
    ['0', 0n],
    [' 7\n', 7n],
    ['007', 7n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['18446744073709551615', U64_MAX],
  ]
  for (const [text, value] of accepted) {
    it(`reads ${JSON.stringify(text)}`, () => expect(parseU64(text)).toEqual({ value }))
  }

  const refused = ['', ' ', '-1', '-0', '+1', '1.0', '1e3', '0x10', '1_000', '1 000', '1n', '٣', '１', 'NaN']
  for (const text of [...refused, '18446744073709551616', '0'.repeat(21), '9'.repeat(1_000)]) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))} of ${text.length} characters`, () => {
      const parsed = parseU64(text)
      expect(parsed).toEqual({ problem: expect.stringMatching(/^expected a whole number from 0 to \d+, found "/) })
      expect(JSON.stringify(parsed).length).toBeLessThan(150)
    })
  }

  it('reads back what is written, and nothing else', () => {
    fc.assert(
      fc.property(anyU64, (value) => {
        expect(parseU64(value.toString())).toEqual({ value })
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 22 }), (text) => {
        const parsed = parseU64(text)
        if ('value' in parsed) expect(text.trim()).toMatch(/^[0-9]{1,20}$/)
      }),
    )
  })
})

describe('unixSeconds', () => {
  for (const [milliseconds, seconds] of [
    [0, 0n],
    [999, 0n],
    [1_000, 1n],
    [1_785_000_000_999.9, 1_785_000_000n],
  ] as const) {
    it(`counts ${milliseconds} ms as ${seconds} s`, () =>
      expect(unixSeconds({ now: () => milliseconds })).toBe(seconds))
  }
})
