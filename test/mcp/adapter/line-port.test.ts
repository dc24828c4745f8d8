import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CtError } from '../../../src/core/errors.ts'
import { type IncomingMessage } from '../../../src/core/link.ts'
import { openLinePort } from '../../../src/mcp/adapter/line-port.ts'

const LIMIT = 64

async function received(chunks: readonly (string | Uint8Array)[], limit = LIMIT): Promise<readonly IncomingMessage[]> {
  const messages: IncomingMessage[] = []
  const port = openLinePort({ input: from(chunks), write: () => Promise.resolve() }, limit)
  port.receive((message) => messages.push(message))
  const { reason, final } = await port.closed
  expect(reason.code).toBe('ERR_LINK_CLOSED')
  expect(final).toBe(true)
  return messages
}

function from(chunks: readonly (string | Uint8Array)[]): Readable {
  return Readable.from(chunks, { objectMode: false })
}

function texts(messages: readonly IncomingMessage[]): readonly string[] {
  return messages.map((message) => (message.kind === 'text' ? Buffer.from(message.bytes).toString() : message.kind))
}

describe('lines of a host', () => {
  it('are messages, however they are cut, also the last one without its end', async () => {
    const line = fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .filter((text) => !/[\n\r]/.test(text) && [...text].some((char) => char > ' '))
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        async (lines, sizes) => {
          const bytes = Buffer.from(lines.join('\n'))
          const chunks: Uint8Array[] = []
          for (let start = 0; start < bytes.length; ) {
            const size = sizes.next().value
            chunks.push(bytes.subarray(start, start + size))
            start += size
          }
          expect(texts(await received(chunks, 1_000))).toEqual(lines)
        },
      ),
    )
  })

  it('that are blank are none', async () => {
    expect(texts(await received(['\n', ' \t\r\n', '{}\r\n', '\r\n']))).toEqual(['{}\r'])
  })

  it('that are too long are told by their heads and cost nothing more', async () => {
    const long = `{"id":7,"x":"${'y'.repeat(5_000)}"}`
    const [first, second] = await received([long.slice(0, 40), long.slice(40), '\n{}\n'])
    expect(first).toMatchObject({ kind: 'oversize', totalBytes: long.length })
    expect(first?.kind === 'oversize' && Buffer.from(first.head).toString()).toBe(long.slice(0, 1_024))
    expect(second).toMatchObject({ kind: 'text' })
  })

  it('are written whole, and not any more when nobody reads', async () => {
    const written: string[] = []
    const port = openLinePort({
      input: from([]),
      write: (line) => {
        written.push(line)
        return written.length === 1 ? Promise.resolve() : Promise.reject(new CtError('ERR_LINK_LOST', 'gone'))
      },
    })
    await port.send({ text: '{"a":1}' })
    await expect(port.send({ text: '{}' })).rejects.toMatchObject({ code: 'ERR_LINK_LOST' })
    expect((await port.closed).reason.code).toBe('ERR_LINK_LOST')
    await expect(port.send({ text: '{}' })).rejects.toMatchObject({ code: 'ERR_LINK_LOST' })
    expect(written).toEqual(['{"a":1}\n', '{}\n'])
  })
})
