import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLines } from '../../src/agent/line-reader.ts'
import { isCtError } from '../../src/core/errors.ts'

async function* inPieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const cut of [...cuts].map((at) => at % (bytes.length + 1)).sort((left, right) => left - right)) {
    yield bytes.subarray(start, cut)
    start = cut
  }
  yield bytes.subarray(start)
}

async function linesOf(bytes: Uint8Array, cuts: readonly number[] = [], maxBytes = 1_000_000) {
  const lines: string[] = []
  for await (const line of readLines(inPieces(bytes, cuts), maxBytes)) {
    lines.push('text' in line ? line.text : line.problem.code)
  }
  return lines
}

describe('readLines', () => {
  it('ends lines at a line feed alone, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), fc.array(fc.nat()), async (texts, cuts) => {
        const lines = texts.map((text) => text.replaceAll('\n', '').toWellFormed())
        expect(await linesOf(Buffer.from(lines.map((line) => `${line}\n`).join('')), cuts)).toEqual(lines)
      }),
    )
  })

  it('takes what follows the last line feed for a line, and no empty one', async () => {
    expect(await linesOf(Buffer.from('a\n\nb'))).toEqual(['a', '', 'b'])
    expect(await linesOf(Buffer.from('a\n'))).toEqual(['a'])
    expect(await linesOf(Buffer.from(''))).toEqual([])
  })

  it('tells a line that is too long or no text from the others', async () => {
    const long = Buffer.from(`${'x'.repeat(11)}\n${'y'.repeat(10)}\n${'z'.repeat(11)}`)
    for (const cuts of [[], [5], [3, 11, 12, 13], [11, 22, 23]]) {
      expect(await linesOf(long, cuts, 10)).toEqual(['ERR_MESSAGE_TOO_LARGE', 'y'.repeat(10), 'ERR_MESSAGE_TOO_LARGE'])
    }
    expect(await linesOf(Uint8Array.of(0xc3, 0x0a, 0x61, 0x0a, 0xff))).toEqual([
      'ERR_CALL_INVALID',
      'a',
      'ERR_CALL_INVALID',
    ])
  })

  it('keeps no more of an endless line than the limit', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      const chunk = Buffer.alloc(1_000_000, 'x')
      for (let count = 0; count < 2_000; count += 1) yield chunk
    }
    const before = process.memoryUsage().arrayBuffers
    const { value } = await readLines(endless(), 1_000).next()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000)
    expect(value !== undefined && 'problem' in value && isCtError(value.problem, 'ERR_MESSAGE_TOO_LARGE')).toBe(true)
  })
})
