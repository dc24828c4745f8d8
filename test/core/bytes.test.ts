import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeUtf8, encodeUtf8, equalBytes, fromHex, toHex } from '../../src/core/bytes.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
)

describe('toHex and fromHex', () => {
  it('round-trip all bytes, in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'))
        expect(fromHex(toHex(bytes))).toEqual(bytes)
        expect(fromHex(toHex(bytes).toUpperCase())).toEqual(bytes)
      }),
    )
  })

  it('never throws and never guesses, whatever the text (W23)', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const read = fromHex(text)
        if ('problem' in read) expect(/^([0-9a-f]{2})*$/i.test(text)).toBe(false)
        else expect(toHex(read)).toBe(text.toLowerCase())
      }),
    )
  })

  const refusals: readonly { name: string; text: string; problem: string }[] = [
    { name: 'an odd length', text: 'abc', problem: 'an odd number of hex digits (3)' },
    { name: 'a multi-byte character in the middle (W23)', text: `aé${'0'.repeat(62)}`, problem: 'position 2' },
    { name: 'a character outside the first plane (W23)', text: '00🦀00', problem: 'position 3' },
    { name: 'half a surrogate pair (W23)', text: '0\ud83e', problem: 'position 2' },
    { name: 'a full-width digit (W23)', text: '0１', problem: 'position 2' },
    { name: 'the sign of a number', text: '-1', problem: 'position 1' },
    { name: 'the prefix 0x', text: '0x00', problem: 'position 2' },
    { name: 'a blank', text: '0 ', problem: 'position 2' },
    { name: 'the characters beside the digits and letters', text: '/:', problem: 'position 1' },
    { name: 'the characters beside the letters', text: '@`', problem: 'position 1' },
    { name: 'the letter g', text: '0g', problem: 'position 2' },
  ]
  for (const { name, text, problem } of refusals) {
    it(`refuses ${name} and says where`, () => {
      expect(fromHex(text)).toEqual({ problem: expect.stringContaining(problem) })
    })
  }
})

describe('equalBytes', () => {
  it('is equality of every byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4, max: 1 }), fc.uint8Array({ maxLength: 4, max: 1 }), (left, right) => {
        expect(equalBytes(left, right)).toBe(toHex(left) === toHex(right))
      }),
    )
  })
})

describe('encodeUtf8 and decodeUtf8', () => {
  it('round-trip all well-formed text, a leading byte order mark included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decodeUtf8(encodeUtf8(text))).toBe(text)
      }),
    )
    expect(decodeUtf8(encodeUtf8('\ufeffa'))).toBe('\ufeffa')
  })

  for (const hex of ['80', 'c0af', 'eda080', 'f4908080', 'e282', 'ff']) {
    it(`refuses ${hex}, which is no UTF-8`, () => expect(decodeUtf8(Buffer.from(hex, 'hex'))).toBeUndefined())
  }
})
