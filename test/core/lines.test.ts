import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter, type LongLine } from '../../src/core/lines.ts'

function pieces(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((left, right) => left - right), bytes.length]
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

function read(text: string, cuts: readonly number[], maxBytes: number) {
  const lines: string[] = []
  let tooLong = 0
  const reader = new LineSplitter(maxBytes, {
    line: (line) => lines.push(Buffer.from(line).toString()),
    overflow: () => {
      tooLong += 1
      reader.stop()
    },
  })
  const bytes = Buffer.from(text)
  for (const piece of pieces(bytes, cuts)) reader.push(piece)
  return { lines, tooLong }
}

describe('LineSplitter', () => {
  it('gives whole lines, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-zé]{0,9}$/)), fc.array(fc.nat()), (lines, cuts) => {
        expect(read(lines.map((line) => `${line}\n`).join(''), cuts, 18)).toEqual({ lines, tooLong: 0 })
      }),
    )
  })

  it('says once that a line is too long, and tells nothing after it when it is stopped', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        expect(read('1234\n12345\nab\n123456\n', cuts, 4)).toEqual({ lines: ['1234'], tooLong: 1 })
      }),
    )
  })

  it('keeps both ends of a line that is too long, and goes on after it', () => {
    const long = `${'a'.repeat(700)}${'b'.repeat(4_000)}${'c'.repeat(700)}`
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        const [lines, longs]: [string[], LongLine[]] = [[], []]
        const reader = new LineSplitter(600, {
          line: (line) => lines.push(Buffer.from(line).toString()),
          tooLong: (line) => longs.push(line),
        })
        for (const piece of pieces(Buffer.from(`${long}\nshort\n${long}`), cuts)) reader.push(piece)
        reader.end()
        expect(lines).toEqual(['short'])
        expect(longs).toHaveLength(2)
        for (const { totalBytes, head, tail } of longs) {
          expect(totalBytes).toBe(long.length)
          expect(Buffer.from(head).toString()).toBe(long.slice(0, 1_024))
          expect(long.endsWith(Buffer.from(tail).toString())).toBe(true)
          expect(tail.length).toBe(1_024)
        }
      }),
    )
  })
})
