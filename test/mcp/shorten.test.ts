import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callResultText } from '../../src/mcp/serving/faces.ts'
import { shorten } from '../../src/mcp/wire/shorten.ts'

const INFO = { name: 'ct-agent', version: '1.2.3' }

afterEach(() => vi.restoreAllMocks())

function bytesOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

describe('shorten', () => {
  const unit = fc.oneof(
    fc.constantFrom('"', '\\', '\b', '\t', '\n', '\v', '\f', '\r', '\0', '\u001f', '\u007f', '\u0080', '\u2028'),
    fc.constantFrom('a', 'é', '€', '\u{1f600}', '\ud800', '\udc00', '\uffff', '\u{10ffff}'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )

  it('cuts a text to the longest beginning of whole characters that fits', () => {
    fc.assert(
      fc.property(fc.array(unit), fc.integer({ min: -3, max: 60 }), (units, room) => {
        const characters = Array.from(units.join(''))
        const fitting = characters.findLastIndex((_, at) => bytesOf(characters.slice(0, at + 1).join('')) <= room)
        expect(shorten(characters.join(''), room)).toBe(characters.slice(0, fitting + 1).join(''))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('callResultText', () => {
  it('makes JSON of a large result a few times, not once a character', () => {
    const stringify = vi.spyOn(JSON, 'stringify')
    const text = callResultText({ output: '"\n€'.repeat(100_000) }, 'full', INFO, 900_000)
    expect(stringify.mock.calls.length).toBeLessThan(10)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(900_000)
  })
})
