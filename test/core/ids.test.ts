import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHexBytes, parseHolderId, parseNoiseKeyId, shortId } from '../../src/core/ids.ts'

const parsers = [
  { name: 'parseHolderId', parse: parseHolderId, digits: 64 },
  { name: 'parseNoiseKeyId', parse: parseNoiseKeyId, digits: 64 },
] as const

for (const { name, parse, digits } of parsers) {
  describe(name, () => {
    it('gives lower-case digits for either case and ignores surrounding blanks', () => {
      expect(parse(` ${'aB'.repeat(digits / 2)}\n`)).toEqual({ value: 'ab'.repeat(digits / 2) })
    })

    const refusals: readonly { name: string; text: string }[] = [
      { name: 'nothing', text: '' },
      { name: 'one digit too few', text: 'a'.repeat(digits - 1) },
      { name: 'one byte too few', text: 'a'.repeat(digits - 2) },
      { name: 'one byte too many', text: 'a'.repeat(digits + 2) },
      { name: 'a blank inside', text: `${'a'.repeat(digits / 2)} ${'a'.repeat(digits / 2 - 1)}` },
      { name: 'multi-byte text of the right length (W23)', text: 'é'.repeat(digits) },
      { name: 'multi-byte text of the right length in bytes (W23)', text: 'é'.repeat(digits / 2) },
    ]
    for (const { name: what, text } of refusals) {
      it(`refuses ${what}`, () => {
        expect(parse(text)).toEqual({ problem: expect.stringContaining(`expected ${digits} hex digits, found`) })
      })
    }

    it('never throws, and accepts only what it gives back', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary', maxLength: digits + 2 }), (text) => {
          const parsed = parse(text)
          if ('value' in parsed) expect(parsed.value).toBe(text.trim().toLowerCase())
        }),
      )
    })
  })
}

describe('parseHexBytes', () => {
  it('never repeats a malformed text, which may be a secret', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 8, maxLength: 80 }), (text) => {
        const parsed = parseHexBytes(text, 32)
        if ('problem' in parsed) expect(parsed.problem).not.toContain(text)
      }),
    )
  })
})

describe('shortId', () => {
  it('is the first ten digits', () => {
    const parsed = parseHolderId('0123456789abcdef'.repeat(4))
    expect('value' in parsed && shortId(parsed.value)).toBe('0123456789')
  })
})
