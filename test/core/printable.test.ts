import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeUnprintable, printable } from '../../src/core/printable.ts'

/** Written out apart from the code under test: what steers a terminal, or is drawn as nothing. */
const FORBIDDEN: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe0fff],
]

function isForbidden(point: number): boolean {
  return FORBIDDEN.some(([first, last]) => point >= first && point <= last)
}

function forbiddenIn(text: string): string[] {
  return Array.from(text).filter((character) => isForbidden(character.codePointAt(0) ?? 0))
}

const forbidden = fc
  .constantFrom(...FORBIDDEN)
  .chain(([first, last]) => fc.integer({ min: first, max: last }))
  .map((point) => String.fromCodePoint(point))
const hostile = fc.string({
  unit: fc.oneof(forbidden, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom('a', ' ', '…')),
})

describe('printable', () => {
  it('lets no character through that steers a terminal or is drawn as nothing, is bounded, and changes nothing twice', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 30 }), (text, maxChars) => {
        const shown = printable(text, maxChars)
        expect(forbiddenIn(shown)).toEqual([])
        expect(shown.length).toBeLessThanOrEqual(maxChars)
        expect(printable(shown, maxChars)).toBe(shown)
      }),
      { numRuns: 2_000 },
    )
  })

  const rows: readonly [name: string, text: string, shown: string][] = [
    ['plain text', 'Größe 3 €, 東京 \u{1f600}', 'Größe 3 €, 東京 \u{1f600}'],
    ['an escape sequence', 'a\u001b[31mred\u009b0m', 'a [31mred 0m'],
    ['lines', '\n one\r\ntwo\u2028three\t', 'one two three'],
    ['reordered text', 'x\u202egnp.exe\u061c\u2066y', 'x gnp.exe y'],
    ['hidden text', 'a\u200bb\ufeffc\u{e0041}d', 'a b c d'],
    ['a text of 31 characters', 'x'.repeat(31), `${'x'.repeat(29)}…`],
    ['a character cut in two', `${'x'.repeat(28)}\u{1f600}yy`, `${'x'.repeat(28)} …`],
    ['two halves that must not meet', '\udb40\u200b\udc41', ''],
  ]
  for (const [name, text, shown] of rows) {
    it(`shows ${name} in one line of at most 30`, () => expect(printable(text, 30)).toBe(shown))
  }
})

describe('escapeUnprintable', () => {
  it('leaves JSON the same value, without unprintable characters', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const escaped = escapeUnprintable(JSON.stringify({ [text]: text }))
        expect(forbiddenIn(escaped)).toEqual([])
        expect(JSON.parse(escaped)).toEqual({ [text]: text })
        expect(escapeUnprintable(escaped)).toBe(escaped)
      }),
      { numRuns: 2_000 },
    )
  })
})
