import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseIntegersExactly, readJsonValue, toJsonValue } from '../../src/core/exact-json.ts'
import { anyJsonText } from './any-json-text.ts'

describe('readJsonValue', () => {
  it('gives what is written again to the digit, and keeps what an object hides', () => {
    fc.assert(
      fc.property(anyJsonText, (text) => {
        const exact = toJsonValue(parseIntegersExactly(text))
        const value = readJsonValue(text)
        expect(JSON.stringify(value)).toBe(JSON.stringify(exact))
        expect(value).toStrictEqual(exact)
      }),
      { numRuns: 2_000 },
    )
  })

  const cases: readonly { name: string; text: string; written: string }[] = [
    { name: 'an integer beyond 2^53', text: '[9007199254740993]', written: '[9007199254740993]' },
    {
      name: 'one in a text that looks like one',
      text: '{"9007199254740993":"1e999"}',
      written: '{"9007199254740993":"1e999"}',
    },
    { name: 'a key called __proto__', text: '{"__proto__":{"a":1}}', written: '{"__proto__":{"a":1}}' },
    { name: 'the last of two members', text: '{"a":1,"a":2}', written: '{"a":2}' },
  ]
  for (const { name, text, written } of cases) {
    it(`keeps ${name}`, () => expect(JSON.stringify(readJsonValue(text))).toBe(written))
  }

  const beyond = ['1e400', '-1e400', '1E+309', '1e0309', '[0.1e999]', '9'.repeat(400), '12345678901234e300']
  for (const text of beyond) {
    it(`refuses ${text.slice(0, 20)}`, () => expect(() => readJsonValue(text)).toThrow(RangeError))
  }
})
