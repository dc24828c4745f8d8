import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CALL_TYPES, encodeFrame, FRAME, MAX_PAYLOAD_BYTES, MESSAGE_TYPES } from '../../src/channel/session/frame.ts'
import { HIGH_WATER_BYTES, Outbox } from '../../src/channel/session/outbox.ts'
import { CtError } from '../../src/core/errors.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { settle, TestWire } from './test-wire.ts'

const NO_HEAD = new Uint8Array(0)
const REASON = new CtError('ERR_LINK_CLOSED', 'over')

function outbox() {
  const wire = new TestWire()
  const clock = new FakeClock()
  const broken: Error[] = []
  let slow = 0
  const onSlow = (): void => {
    slow += 1
  }
  const box = new Outbox(wire, { clock, answers: true, onBroken: (error) => broken.push(error), onSlow })
  box.allowBulk()
  return { wire, clock, broken, box, slow: () => slow }
}

const small = (id: number): Uint8Array => encodeFrame(FRAME.message, Uint8Array.of(id))

/** Types and first bytes of what was written. */
function written(wire: TestWire): string[] {
  return wire.frames.map(({ type, payload }) => `${type}:${payload[0] ?? ''}`)
}

describe('Outbox', () => {
  it('joins what is queued within one turn into one write', async () => {
    const { wire, box } = outbox()
    for (const id of [1, 2, 3]) box.express(small(id))
    await settle()
    expect(wire.writes).toHaveLength(1)
    expect(written(wire)).toEqual(['2:1', '2:2', '2:3'])
  })

  it('writes in another turn what is queued in another turn', async () => {
    const { wire, box } = outbox()
    box.express(small(1))
    await settle()
    box.express(small(2))
    await settle()
    expect(wire.writes).toHaveLength(2)
  })

  it('cuts large messages into frames and puts them together in order', async () => {
    const { wire, box } = outbox()
    const body = Buffer.alloc(3 * MAX_PAYLOAD_BYTES, 'abcdefg')
    box.bulk(CALL_TYPES, Uint8Array.of(9), body)
    await settle()
    expect(wire.frames.map(({ type }) => type)).toEqual([FRAME.callOpen, FRAME.part, FRAME.part, FRAME.last])
    expect(Buffer.concat(wire.frames.map(({ payload }) => payload))).toEqual(Buffer.concat([Uint8Array.of(9), body]))
  })

  it('lets small frames overtake large messages, and keeps the order within each lane', async () => {
    const { wire, box } = outbox()
    wire.full = true
    box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(5 * MAX_PAYLOAD_BYTES, 'A'))
    box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(2 * MAX_PAYLOAD_BYTES, 'B'))
    await settle()
    const before = written(wire).length
    box.express(small(1))
    box.express(small(2))
    wire.drain()
    await settle()
    expect(written(wire).slice(before, before + 2)).toEqual(['2:1', '2:2'])
    const bulk = wire.frames.filter(({ type }) => type !== FRAME.message)
    expect(bulk.map(({ payload }) => String.fromCharCode(payload[0] ?? 0)).join('')).toBe('AAAAABB')
  })

  it('holds large messages back until the peer’s limits are known, and nothing else', async () => {
    const wire = new TestWire()
    const box = new Outbox(wire, { clock: new FakeClock(), answers: true, onBroken: () => {}, onSlow: () => {} })
    box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(2 * MAX_PAYLOAD_BYTES))
    box.express(small(1))
    await settle()
    expect(written(wire)).toEqual(['2:1'])
    box.allowBulk()
    await settle()
    expect(wire.frames).toHaveLength(3)
  })

  it('writes nothing while the wire is full', async () => {
    const { wire, box } = outbox()
    wire.full = true
    box.express(small(1))
    await settle()
    box.express(small(2))
    box.flush()
    await settle()
    expect(written(wire)).toEqual(['2:1'])
    expect(box.isBlocked).toBe(true)
    wire.drain()
    await settle()
    expect(written(wire)).toEqual(['2:1', '2:2'])
    expect(box.isBlocked).toBe(false)
  })

  it('lets senders wait while too much is queued, one after the other, and counts what they hold', async () => {
    const { wire, box } = outbox()
    wire.full = true
    box.express(small(0))
    await settle()
    const order: number[] = []
    let most = 0
    const sends = Array.from({ length: 8 }, async (_, id) => {
      if (!box.hasRoom) await box.room(HIGH_WATER_BYTES)
      order.push(id)
      box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(HIGH_WATER_BYTES, id))
    })
    await settle()
    expect(order.length).toBeLessThan(3)
    expect(box.queuedBytes).toBeGreaterThanOrEqual(8 * HIGH_WATER_BYTES)
    expect(wire.isHeld).toBe(true)
    most = box.queuedBytes
    wire.drain()
    await Promise.all(sends)
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(box.queuedBytes).toBeLessThan(most)
  })

  it('takes nothing in from a peer that does not read what it is answered', async () => {
    const { wire, box } = outbox()
    wire.full = true
    box.express(small(0))
    await settle()
    const answer = encodeFrame(FRAME.message, new Uint8Array(1_000))
    for (let count = 0; count < 20_000 && !wire.isHeld; count += 1) box.express(answer)
    expect(wire.isHeld).toBe(true)
    expect(box.queuedBytes).toBeLessThan(3 * HIGH_WATER_BYTES)
    wire.drain()
    await settle()
    expect(wire.isHeld).toBe(false)
  })

  it('goes on reading where it asks and does not answer', async () => {
    const wire = new TestWire()
    wire.full = true
    const box = new Outbox(wire, { clock: new FakeClock(), answers: false, onBroken: () => {}, onSlow: () => {} })
    box.allowBulk()
    box.express(small(0))
    await settle()
    box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(10 * HIGH_WATER_BYTES))
    expect(wire.isHeld).toBe(false)
  })

  it('reports a peer that takes nothing for long, once, and not one that takes a little now and then', async () => {
    const { wire, clock, box, slow } = outbox()
    wire.full = true
    for (let turn = 0; turn < 5; turn += 1) {
      box.express(small(turn))
      await settle()
      clock.advance(20_000)
      wire.drain()
      wire.full = true
      await settle()
    }
    expect(slow()).toBe(0)
    box.express(small(9))
    await settle()
    clock.advance(60_000)
    expect(slow()).toBe(1)
  })

  it('writes the last frame although the wire is full, so that the reason of an end is not lost', async () => {
    const { wire, box } = outbox()
    wire.full = true
    box.express(small(1))
    await settle()
    box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(HIGH_WATER_BYTES))
    box.last(encodeFrame(FRAME.bye, Uint8Array.of(7)))
    box.end(REASON)
    await settle()
    expect(written(wire)).toEqual(['2:1', '10:7'])
  })

  it('says that all has left only when the wire has taken it', async () => {
    const { wire, box } = outbox()
    wire.full = true
    box.express(small(1))
    await settle()
    let empty = false
    void box.emptied(new AbortController().signal).then(() => {
      empty = true
    })
    await settle()
    expect(empty).toBe(false)
    wire.drain()
    await settle()
    expect(empty).toBe(true)
  })

  it('settles everybody who waits when it ends, and takes nothing more', async () => {
    const { wire, box } = outbox()
    wire.full = true
    box.express(small(1))
    box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(2 * HIGH_WATER_BYTES))
    await settle()
    const waiting = [box.room(0), box.room(0)].map((room) => room.catch((error: unknown) => error))
    const emptied = box.emptied(new AbortController().signal)
    box.end(REASON)
    expect(await Promise.all(waiting)).toEqual([REASON, REASON])
    await emptied
    await expect(box.room(0)).rejects.toBe(REASON)
    box.express(small(2))
    wire.drain()
    await settle()
    expect(written(wire).filter((frame) => frame === '2:2')).toEqual([])
    expect([box.queuedBytes, box.hasRoom]).toEqual([0, false])
  })

  it('writes its last frame without the large messages that wait', async () => {
    const { wire, box } = outbox()
    box.bulk(MESSAGE_TYPES, NO_HEAD, Buffer.alloc(2 * MAX_PAYLOAD_BYTES))
    box.express(small(1))
    box.last(encodeFrame(FRAME.bye, NO_HEAD))
    await settle()
    expect(wire.frames.map(({ type }) => type)).toEqual([FRAME.message, FRAME.bye])
  })

  for (const how of ['throws', 'is gone while full'] as const) {
    it(`reports a wire that ${how} once`, async () => {
      const { wire, box, broken } = outbox()
      wire.broken = how === 'throws'
      wire.full = true
      box.express(small(1))
      await settle()
      wire.end(new Error('reset'))
      await settle()
      expect(broken).toHaveLength(1)
    })
  }

  it('resolves emptied at once when nothing waits, when all has left, and when the signal aborts', async () => {
    const { wire, box } = outbox()
    const abort = new AbortController()
    await box.emptied(abort.signal)
    box.express(small(1))
    await box.emptied(abort.signal)
    expect(wire.writes).toHaveLength(1)
    wire.full = true
    box.express(small(2))
    await settle()
    box.express(small(3))
    const waiting = box.emptied(abort.signal)
    abort.abort()
    await waiting
    expect(box.queuedBytes).toBeGreaterThan(0)
  })

  it('loses, doubles and mixes nothing, however the wire fills and drains', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('small' as const) }),
      fc.record({ kind: fc.constant('large' as const), bytes: fc.integer({ min: 65_537, max: 400_000 }) }),
      fc.record({ kind: fc.constantFrom('fill' as const, 'drain' as const, 'turn' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { wire, box } = outbox()
        const sent = { small: [] as number[], large: [] as Buffer[] }
        for (const [index, taken] of steps.entries()) {
          if (taken.kind === 'small') {
            sent.small.push(index)
            box.express(small(index))
          } else if (taken.kind === 'large') {
            const body = Buffer.alloc(taken.bytes, index + 1)
            sent.large.push(body)
            box.bulk(MESSAGE_TYPES, NO_HEAD, body)
          } else if (taken.kind === 'fill') wire.full = true
          else if (taken.kind === 'drain') wire.drain()
          else await new Promise((resolve) => setImmediate(resolve))
        }
        wire.drain()
        await settle()
        const frames = wire.frames
        expect(frames.filter(({ type }) => type === FRAME.message).map(({ payload }) => payload[0])).toEqual(sent.small)
        const rest = frames.filter(({ type }) => type !== FRAME.message).map(({ payload }) => payload)
        expect(Buffer.concat(rest).equals(Buffer.concat(sent.large))).toBe(true)
      }),
      { numRuns: 40 },
    )
  })
})
