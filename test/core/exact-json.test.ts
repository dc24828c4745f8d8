import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ExactJson,
  isRawInteger,
  MAX_ARTEFACT_CHARS,
  parseExactJson,
  parseIntegersExactly,
  toJsonValue,
  writeExactJson,
} from '../../src/core/exact-json.ts'
import { MAX_NESTING } from '../../src/core/json.ts'
import { anyJsonText } from './any-json-text.ts'

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

/** The same by the engine's own reader, which tells a function how each number is written, and is slow for it. */
function asTheEngineTells(text: string): unknown {
  const read = JSON.parse as (
    text: string,
    told: (key: string, value: unknown, from: { source?: string }) => unknown,
  ) => unknown
  return read(text, (_, value, { source = '' }) => {
    return typeof value === 'number' && /^(?:0|-?[1-9]\d*)$/.test(source) ? BigInt(source) : value
  })
}

/** Milliseconds of the fastest of a few runs. */
function quickest(run: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now()
    run()
    return performance.now() - start
  })
  return Math.min(...times)
}

/** The value as `JSON.parse` has it. */
function asDoubles(value: ExactJson): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(asDoubles)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, asDoubles(member)]))
}

describe('parseExactJson', () => {
  const values: readonly (readonly [string, ExactJson])[] = [
    ['0', 0n],
    ['-1', -1n],
    ['9007199254740991', 9_007_199_254_740_991n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-9007199254740993', -9_007_199_254_740_993n],
    ['18446744073709551615', 18_446_744_073_709_551_615n],
    ['18446744073709551616', 18_446_744_073_709_551_616n],
    ['1'.repeat(300), BigInt('1'.repeat(300))],
    ['1.0', 1],
    ['1e3', 1_000],
    ['1E3', 1_000],
    ['-0', -0],
    ['-0.0', -0],
    ['0.5', 0.5],
    ['1e-400', 0],
    ['"1"', '1'],
    ['"\\u0000"', '\u0000'],
    ['"\\ud800"', '\ud800'],
    [' \t\r\n[ 1 , 2.5 ] ', [1n, 2.5]],
    ['{"a":{"a":1},"b":[{"a":1},{"a":1}]}', { a: { a: 1n }, b: [{ a: 1n }, { a: 1n }] }],
    ['{"a":"b","b":"a","c":"{\\"a\\":1,\\"a\\":1}"}', { a: 'b', b: 'a', c: '{"a":1,"a":1}' }],
    ['["a","a"]', ['a', 'a']],
    ['{"":1,"A":1,"a":1,"a ":1}', { '': 1n, A: 1n, a: 1n, 'a ': 1n }],
    ['{"é":1,"e\u0301":1}', { é: 1n, 'e\u0301': 1n }],
  ]
  for (const [text, value] of values) {
    it(`reads ${text.slice(0, 60)}`, () => expect(parseExactJson(text, 'it')).toStrictEqual(value))
  }

  it('reads a member called __proto__ as any other, at every level', () => {
    const text = '{"__proto__":{"polluted":1},"in":{"__proto__":2}}'
    const value = parseExactJson(text, 'it')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.hasOwn(value as object, '__proto__')).toBe(true)
    expect(value).not.toHaveProperty('polluted')
    expect(writeExactJson(value)).toBe(text)
  })

  const repeated: readonly { name: string; text: string; key: string }[] = [
    { name: 'a key twice', text: '{"a":1,"a":2}', key: 'a' },
    { name: 'a key twice with equal values', text: '{"a":1,"a":1}', key: 'a' },
    { name: 'a key twice, once with an escape', text: '{"a":1,"\\u0061":1}', key: 'a' },
    { name: 'a key twice, with different escapes', text: '{"\\u00e9":1,"\\u00E9":1}', key: 'é' },
    { name: 'a key twice, behind an escaped quote', text: '{"\\"":1,"b":"\\\\","\\u0022":2}', key: '\\"' },
    { name: 'an empty key twice', text: '{"":1,"":2}', key: '' },
    { name: 'a key twice, far apart', text: '{"a":[{"a":1}],"b":{"c":{}},"a" \n:\t2}', key: 'a' },
    { name: 'a key twice further in', text: '[0,{"x":[{"a":1,"b":{},"a":1}]}]', key: 'a' },
    { name: 'a key twice after an object', text: '{"o":{"k":1},"k":2,"k":3}', key: 'k' },
    { name: '__proto__ twice', text: '{"__proto__":1,"__proto__":2}', key: '__proto__' },
    { name: 'an index twice', text: '{"0":1,"1":1,"0":1}', key: '0' },
  ]
  for (const { name, text, key } of repeated) {
    it(`refuses ${name}`, () => {
      const message = `it: expected each key once in an object, found "${key}" twice`
      const invalid = expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID', message })
      expect(() => parseExactJson(text, 'it')).toThrow(invalid)
    })
  }

  const refused: readonly { name: string; text: string }[] = [
    { name: 'nothing', text: '' },
    { name: 'blanks', text: ' \n' },
    { name: 'a byte order mark', text: '\ufeff{}' },
    { name: 'a NUL', text: '\u0000' },
    { name: 'a NUL behind the value', text: '{}\u0000' },
    { name: 'a NUL in a string', text: '"\u0000"' },
    { name: 'a no-break space', text: '\u00a0{}' },
    { name: 'a text cut off', text: '{"a":1' },
    { name: 'two values', text: '{}{}' },
    { name: 'a comma too many', text: '[1,]' },
    { name: 'a leading zero', text: '01' },
    { name: 'a plus', text: '+1' },
    { name: 'hex', text: '0x1' },
    { name: 'NaN', text: 'NaN' },
    { name: 'a comment', text: '{}//' },
    { name: 'a number beyond the doubles', text: '[1e400]' },
    { name: 'a negative number beyond the doubles', text: '-1e400' },
    { name: 'an integer beyond the doubles', text: '9'.repeat(500) },
    { name: 'nesting too deep', text: nested(MAX_NESTING + 1) },
    { name: 'nesting far too deep', text: nested(200_000) },
    { name: 'nesting too deep that is cut off', text: '{"a":'.repeat(100_000) },
    { name: 'a text too long', text: `"${'x'.repeat(MAX_ARTEFACT_CHARS)}"` },
  ]
  for (const { name, text } of refused) {
    it(`refuses ${name}, in few words`, () => {
      const invalid = { code: 'ERR_ARTEFACT_INVALID', message: expect.stringMatching(/^it: expected .{1,250}$/) }
      expect(() => parseExactJson(text, 'it')).toThrow(expect.objectContaining(invalid))
    })
  }

  it('reads nesting and length up to the bounds', () => {
    expect(JSON.stringify(parseExactJson(nested(MAX_NESTING), 'it'))).toBe(nested(MAX_NESTING))
    const longest = `"${'x'.repeat(MAX_ARTEFACT_CHARS - 2)}"`
    expect(parseExactJson(longest, 'it')).toHaveLength(MAX_ARTEFACT_CHARS - 2)
  })

  it('agrees with JSON.parse on what it reads, and with JSON.stringify on what it writes', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2, '\t'), (text, indent) => {
        const plain: unknown = JSON.parse(text)
        const value = parseExactJson(JSON.stringify(plain, null, indent), 'it')
        expect(asDoubles(value)).toStrictEqual(plain)
        expect(writeExactJson(value)).toBe(JSON.stringify(plain))
      }),
      { numRuns: 500 },
    )
  })

  it('agrees with what the engine tells of the digits of every number, in any text', () => {
    fc.assert(
      fc.property(anyJsonText, (text) => {
        expect(parseExactJson(text, 'it')).toStrictEqual(asTheEngineTells(text))
      }),
      { numRuns: 2_000 },
    )
  })

  it('takes little longer than the engine, however many values a stranger sends', () => {
    const text = `[${'0,'.repeat(MAX_ARTEFACT_CHARS / 2 - 2)}0]`
    const engine = quickest(() => JSON.parse(text))
    expect(quickest(() => parseExactJson(text, 'it')) / engine).toBeLessThan(30)
  })

  it('reads or refuses any text, and agrees with JSON.parse which are JSON', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '"b"', '"\\u0061"', '1', '-0', ' ', 'null', '"')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        const ours = attempt(() => parseExactJson(text, 'it'))
        const plain = attempt(() => JSON.parse(text))
        if (ours !== undefined) expect(asDoubles(ours.value as ExactJson)).toStrictEqual(plain?.value)
        // Only what stands twice may be refused that others take.
        else if (plain !== undefined) expect(text).toMatch(/("a"|"b"|"\\u0061").*("a"|"b"|"\\u0061")/)
      }),
      { numRuns: 2_000 },
    )
  })
})

function attempt(read: () => unknown): { readonly value: unknown } | undefined {
  try {
    return { value: read() }
  } catch {
    return undefined
  }
}

describe('writeExactJson', () => {
  const integers = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n })
  const { any } = fc.letrec<{ any: ExactJson }>((tie) => ({
    any: fc.oneof(
      integers,
      fc.string({ unit: 'binary' }),
      fc.constantFrom(null, true, false, '__proto__'),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__'), fc.constant('rawJSON')), tie('any'), {
        maxKeys: 4,
      }),
    ),
  }))

  it('is read back as the same value, to the last digit', () => {
    fc.assert(
      fc.property(any, (value) => {
        const text = writeExactJson(value)
        const read = parseExactJson(text, 'it')
        expect(writeExactJson(read)).toBe(text)
        expect(read).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  it('writes integers around 2^53 as numbers or digits, with no difference in the text', () => {
    for (let offset = -2n; offset <= 2n; offset += 1n) {
      for (const value of [2n ** 53n + offset, -(2n ** 53n) + offset]) {
        expect(writeExactJson(value)).toBe(value.toString())
        expect(isRawInteger(toJsonValue(value))).toBe(value >= 2n ** 53n || value <= -(2n ** 53n))
      }
    }
  })
})

describe('isRawInteger', () => {
  for (const value of [1, '1', null, undefined, [], {}, { rawJSON: '1' }, Object.create(null, { rawJSON: {} })]) {
    it(`is false for ${JSON.stringify(value)}`, () => expect(isRawInteger(value)).toBe(false))
  }
})

describe('parseIntegersExactly', () => {
  it('takes the last of a key that stands twice, as JSON.parse does', () => {
    expect(parseIntegersExactly('{"a":9007199254740993,"a":18446744073709551615}')).toEqual({ a: 2n ** 64n - 1n })
  })

  it('refuses what is no JSON, and a number beyond the doubles', () => {
    expect(() => parseIntegersExactly('{')).toThrow(SyntaxError)
    expect(() => parseIntegersExactly('[1e999]')).toThrow(RangeError)
  })
})
