import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineReader } from '../../../src/mcp/services/line-reader.ts'

function read(text: string, cuts: readonly number[], maxBytes: number) {
  const lines: string[] = []
  let tooLong = 0
  const reader = new LineReader(maxBytes, {
    line: (line) => lines.push(Buffer.from(line).toString()),
    tooLong: () => {
      tooLong += 1
    },
  })
  const bytes = Buffer.from(text)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((left, right) => left - right), bytes.length]
  for (const [index, end] of ends.entries()) reader.push(bytes.subarray(ends[index - 1] ?? 0, end))
  return { lines, tooLong }
}

describe('LineReader', () => {
  it('gives whole lines, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-zé]{0,9}$/)), fc.array(fc.nat()), (lines, cuts) => {
        expect(read(lines.map((line) => `${line}\n`).join(''), cuts, 18)).toEqual({ lines, tooLong: 0 })
      }),
    )
  })

  it('says once that a line is too long, and reads nothing after it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        expect(read('1234\n12345\nab\n123456\n', cuts, 4)).toEqual({ lines: ['1234'], tooLong: 1 })
      }),
    )
  })
})
