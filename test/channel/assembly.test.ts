import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Assembly } from '../../src/channel/session/assembly.ts'
import { encodeCallTag } from '../../src/channel/session/call-tag.ts'
import { FRAME } from '../../src/channel/session/frame.ts'
import { Inbox } from '../../src/channel/session/inbox.ts'
import { type InstanceId } from '../../src/core/ids.ts'
import { type IncomingMessage } from '../../src/core/link.ts'

const RUN = '0f'.repeat(16) as InstanceId
const TAG = { instance: RUN, sequence: 3, acknowledgedBelow: 2, resent: true }
const protocolError = expect.objectContaining({ code: 'ERR_PROTOCOL' })

describe('Assembly', () => {
  it('gives the whole of every message within the limit, however it is cut', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 90 }), { minLength: 2, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 3 }), (messages) => {
        const assembly = new Assembly(10_000)
        for (const [index, [first = new Uint8Array(0), ...rest]] of messages.entries()) {
          const call = index % 2 === 0 ? TAG : undefined
          assembly.begin(first, call)
          const last = rest.pop() ?? new Uint8Array(0)
          for (const piece of rest) assembly.continue(piece)
          const bytes = Buffer.concat(messages[index] ?? [])
          const expected = call === undefined ? { kind: 'text', bytes } : { kind: 'text', bytes, call }
          const message = assembly.finish(last)
          expect(message.kind === 'text' ? { ...message, bytes: Buffer.from(message.bytes) } : message).toEqual(
            expected,
          )
        }
      }),
    )
  })

  const sizes: readonly { total: number; kind: IncomingMessage['kind'] }[] = [
    { total: 2_000, kind: 'text' },
    { total: 2_001, kind: 'oversize' },
    { total: 500_000, kind: 'oversize' },
  ]
  for (const { total, kind } of sizes) {
    it(`takes ${total} bytes against a limit of 2000 as ${kind}, whole or in pieces`, () => {
      const bytes = Buffer.alloc(total, '{"id":7,"method":')
      const assembly = new Assembly(2_000)
      assembly.begin(bytes.subarray(0, 1_500), TAG)
      for (let at = 1_500; at < total - 1; at += 400)
        assembly.continue(bytes.subarray(at, Math.min(total - 1, at + 400)))
      for (const message of [assembly.finish(bytes.subarray(total - 1)), assembly.whole(bytes, TAG)]) {
        expect(message).toMatchObject({ kind, call: TAG })
        if (message.kind === 'oversize') {
          expect(message.totalBytes).toBe(total)
          expect(Buffer.from(message.head)).toEqual(bytes.subarray(0, 1_024))
        }
      }
      assembly.begin(Uint8Array.of(1))
      expect(assembly.finish(Uint8Array.of(2))).toEqual({ kind: 'text', bytes: Buffer.of(1, 2) })
    })
  }

  it('costs no more than the limit, however small and many the pieces', () => {
    const assembly = new Assembly(1_048_576)
    assembly.begin(Uint8Array.of(1))
    const piece = Uint8Array.of(2)
    const before = process.memoryUsage()
    for (let count = 0; count < 1_000_000; count += 1) assembly.continue(piece)
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(8 * 1_048_576)
    expect(assembly.finish(piece)).toMatchObject({ kind: 'text' })
  })

  it('copies what it keeps', () => {
    const assembly = new Assembly(100)
    const chunk = Uint8Array.of(1, 2, 3)
    assembly.begin(chunk)
    chunk.fill(9)
    expect(assembly.finish(Uint8Array.of(4))).toEqual({ kind: 'text', bytes: Buffer.of(1, 2, 3, 4) })
  })

  it('refuses a message within another, and a piece of none', () => {
    const assembly = new Assembly(100)
    expect(() => assembly.continue(Uint8Array.of(1))).toThrow(protocolError)
    expect(() => assembly.finish(Uint8Array.of(1))).toThrow(protocolError)
    assembly.begin(Uint8Array.of(1))
    expect(() => assembly.begin(Uint8Array.of(1))).toThrow(protocolError)
  })
})

describe('Inbox', () => {
  const text = (message: IncomingMessage): string =>
    message.kind === 'text' ? Buffer.from(message.bytes).toString() : 'oversize'

  it('delivers whole messages that come between the pieces of a large one', () => {
    const inbox = new Inbox(1_000)
    const got: string[] = []
    inbox.receive((message) => got.push(text(message)))
    inbox.onFrame(FRAME.callOpen, Buffer.concat([encodeCallTag(TAG), Buffer.from('large ')]), RUN)
    inbox.onFrame(FRAME.message, Buffer.from('small'), RUN)
    inbox.onFrame(FRAME.call, Buffer.concat([encodeCallTag(TAG), Buffer.from('call')]), RUN)
    inbox.onFrame(FRAME.part, Buffer.from('and '), RUN)
    inbox.onFrame(FRAME.last, Buffer.from('late'), RUN)
    expect(got).toEqual(['small', 'call', 'large and late'])
  })

  it('delivers what came before the listener first, and nothing of it once it was cleared', () => {
    const inbox = new Inbox(1_000)
    for (const word of ['a', 'b', 'c']) inbox.onFrame(FRAME.message, Buffer.from(word), RUN)
    const got: string[] = []
    inbox.receive((message) => {
      got.push(text(message))
      if (got.length === 2) inbox.clear()
    })
    expect(got).toEqual(['a', 'b'])
  })

  for (const [name, size] of [
    ['large', 60_000],
    ['empty', 0],
  ] as const) {
    it(`bounds what waits for a listener that never comes: ${name} messages`, () => {
      const inbox = new Inbox(100_000)
      const fill = (): void => {
        for (let count = 0; count < 200_000; count += 1) inbox.onFrame(FRAME.message, new Uint8Array(size), RUN)
      }
      expect(fill).toThrow(protocolError)
    })
  }

  for (const type of [FRAME.hello, FRAME.ping, FRAME.data, FRAME.end, FRAME.credit, FRAME.bye]) {
    it(`leaves frame type ${type} to others`, () => {
      expect(new Inbox(10).onFrame(type, new Uint8Array(0), RUN)).toBe(false)
    })
  }
})
