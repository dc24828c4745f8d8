import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonValue } from '../../../src/core/json.ts'
import { createProgressReader } from '../../../src/mcp/services/handler-progress.ts'
import { MAX_PROGRESS_BYTES, SpokenProgress } from '../../../src/mcp/services/spoken-progress.ts'
import { serveHandler } from './serve-handler.ts'

/** What is made of a text that arrives in pieces. */
function read(text: string, cuts: readonly number[] = []) {
  const heard: JsonValue[] = []
  const spoken = new SpokenProgress((value) => heard.push(value))
  const bytes = Buffer.from(text)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((left, right) => left - right), bytes.length]
  const others = ends.map((end, index) => Buffer.from(spoken.take(bytes.subarray(ends[index - 1] ?? 0, end))))
  return { heard, others: Buffer.concat([...others, spoken.end()]).toString() }
}

const lines = fc.array(
  fc.oneof(
    fc.integer().map((progress) => `ct-progress: {"progress":${progress}}`),
    fc.constantFrom('', 'words', 'ct-', 'ct-progress: {', ' ct-progress: {"progress":1}', 'ct-progress:ct-progress: 1'),
  ),
)

describe('SpokenProgress', () => {
  it('takes lines of progress out, and leaves the rest as it is, however it is cut', () => {
    fc.assert(
      fc.property(lines, fc.array(fc.nat()), fc.constantFrom('', '\n'), (spoken, cuts, end) => {
        const isProgress = (line: string): boolean => /^ct-progress: \{"progress":-?\d+\}$/.test(line)
        const whole = `${spoken.join('\n')}\n`
        const { heard, others } = read(`${whole}last${end}`, cuts)
        expect(heard).toEqual(spoken.filter(isProgress).map((line) => JSON.parse(line.slice(13)) as JsonValue))
        const rest =
          spoken.length === 0
            ? '\n'
            : spoken
                .filter((line) => !isProgress(line))
                .map((line) => `${line}\n`)
                .join('')
        expect(others).toBe(`${rest}last${end}`)
      }),
    )
  })

  it('holds no more back than a line of progress may have', () => {
    const long = `ct-progress: "${'x'.repeat(MAX_PROGRESS_BYTES)}`
    const spoken = new SpokenProgress(() => {})
    expect(spoken.take(Buffer.from(long))).toHaveLength(long.length)
    expect(read(`${long}"\nct-progress: 1\n`)).toEqual({ heard: [1], others: `${long}"\n` })
  })
})

describe('createProgressReader', () => {
  it('tells numbers, and counts messages without one', () => {
    const told: unknown[] = []
    const take = createProgressReader((progress) => told.push(progress))
    for (const value of [{ progress: 2, total: 4 }, { message: 'a' }, { progress: 'x' }, {}, [], 1, { message: 'b' }]) {
      take(value as JsonValue)
    }
    expect(told).toEqual([
      { progress: 2, total: 4 },
      { progress: 3, message: 'a' },
      { progress: 4, message: 'b' },
    ])
  })
})

describe('a handler', () => {
  it('says its progress on stderr, and the rest of that goes to the log alone', async () => {
    const command = `echo before >&2; echo 'ct-progress: {"progress":1,"total":2,"message":"half"}' >&2; printf after >&2; echo answer`
    const heard: unknown[] = []
    const { call, lines: logged } = serveHandler(command)
    expect(await call('', { progress: (progress) => heard.push(progress) })).toEqual({ output: 'answer' })
    expect(heard).toEqual([{ progress: 1, total: 2, message: 'half' }])
    expect(logged[0]?.facts['stderr']).toBe('before\nafter')
  })
})
