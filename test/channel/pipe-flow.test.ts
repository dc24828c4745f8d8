import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FRAME, type FrameType } from '../../src/channel/session/frame.ts'
import {
  CREDIT_PORTION_BYTES,
  PIPE_WINDOW_BYTES,
  PipeFlow,
  type PipeSink,
} from '../../src/channel/session/pipe-flow.ts'
import { CtError } from '../../src/core/errors.ts'
import { type Frame, settle } from './test-wire.ts'

const NOTHING = new Uint8Array(0)
const REASON = new CtError('ERR_LINK_LOST', 'gone')
const protocolError = expect.objectContaining({ code: 'ERR_PROTOCOL' })

function pipe(): { readonly flow: PipeFlow; readonly sent: Frame[] } {
  const sent: Frame[] = []
  return { flow: new PipeFlow((type, payload) => sent.push({ type, payload: Uint8Array.from(payload) })), sent }
}

interface TestSink extends PipeSink {
  readonly bytes: () => Buffer
  /** Lets the write under way, and all later ones, end. */
  readonly release: () => void
  ended: boolean
}

function sink({ stalled = false } = {}): TestSink {
  const parts: Uint8Array[] = []
  const gate = Promise.withResolvers<void>()
  if (!stalled) gate.resolve()
  return {
    bytes: () => Buffer.concat(parts),
    release: () => gate.resolve(),
    ended: false,
    async write(bytes) {
      await gate.promise
      parts.push(Uint8Array.from(bytes))
    },
    async end() {
      await gate.promise
      this.ended = true
    },
  }
}

const dataBytes = (frames: readonly Frame[]): number =>
  frames.reduce((sum, { type, payload }) => sum + (type === FRAME.data ? payload.length : 0), 0)
const credit = (bytes: number): Uint8Array => {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(bytes)
  return payload
}
const typesOf = (frames: readonly Frame[]): FrameType[] => frames.map(({ type }) => type)

describe('PipeFlow, sending', () => {
  it('sends as much as the window holds and then waits for credit', async () => {
    const { flow, sent } = pipe()
    const sending = flow.send(new Uint8Array(PIPE_WINDOW_BYTES + 10))
    await settle()
    expect(dataBytes(sent)).toBe(PIPE_WINDOW_BYTES)
    flow.onFrame(FRAME.credit, credit(4))
    await settle()
    expect(dataBytes(sent)).toBe(PIPE_WINDOW_BYTES + 4)
    flow.onFrame(FRAME.credit, credit(100))
    await sending
    expect(dataBytes(sent)).toBe(PIPE_WINDOW_BYTES + 10)
  })

  it('wakes every sender that waits', async () => {
    const { flow, sent } = pipe()
    const sending = [new Uint8Array(PIPE_WINDOW_BYTES), Uint8Array.of(1), Uint8Array.of(2)].map((bytes) =>
      flow.send(bytes),
    )
    await settle()
    flow.onFrame(FRAME.credit, credit(2))
    await Promise.all(sending)
    expect(dataBytes(sent)).toBe(PIPE_WINDOW_BYTES + 2)
  })

  it('fails every sender that waits, and all receipts, when the session ends', async () => {
    const { flow } = pipe()
    const sending = [flow.send(new Uint8Array(PIPE_WINDOW_BYTES + 1)), flow.send(Uint8Array.of(1))]
    const failed = Promise.allSettled([...sending, flow.sentAll, flow.receivedAll])
    await settle()
    flow.fail(REASON)
    expect((await failed).map((result) => result.status === 'rejected' && result.reason)).toEqual(Array(4).fill(REASON))
    await expect(flow.send(Uint8Array.of(1))).rejects.toBe(REASON)
  })

  it('is done when the peer acknowledged its end, and not before (W42)', async () => {
    const { flow } = pipe()
    let done = false
    void flow.sentAll.then(() => {
      done = true
    })
    await flow.send(Uint8Array.of(1))
    flow.sendEnd()
    await settle()
    expect(done).toBe(false)
    flow.onFrame(FRAME.endAck, NOTHING)
    await settle()
    expect(done).toBe(true)
  })

  const lies: readonly { name: string; type: FrameType; payload: Uint8Array }[] = [
    { name: 'more credit than the window', type: FRAME.credit, payload: credit(1) },
    { name: 'as much credit as a number holds', type: FRAME.credit, payload: credit(0xffffffff) },
    { name: 'a credit of three bytes', type: FRAME.credit, payload: new Uint8Array(3) },
    { name: 'a receipt for an end that was not sent', type: FRAME.endAck, payload: NOTHING },
  ]
  for (const { name, type, payload } of lies) {
    it(`refuses ${name}`, () => expect(() => pipe().flow.onFrame(type, payload)).toThrow(protocolError))
  }
})

describe('PipeFlow, receiving', () => {
  it('delivers what came before the sink, and acknowledges the end when all is written out (W42)', async () => {
    const { flow, sent } = pipe()
    flow.onFrame(FRAME.data, Uint8Array.of(1, 2))
    flow.onFrame(FRAME.data, Uint8Array.of(3))
    flow.onFrame(FRAME.end, NOTHING)
    const out = sink({ stalled: true })
    flow.deliverTo(out)
    await settle()
    expect([out.ended, typesOf(sent)]).toEqual([false, []])
    out.release()
    await flow.receivedAll
    expect([...out.bytes()]).toEqual([1, 2, 3])
    expect([out.ended, typesOf(sent)]).toEqual([true, [FRAME.endAck]])
  })

  it('acknowledges the end only when the sink has taken it (W42)', async () => {
    const { flow, sent } = pipe()
    const ending = Promise.withResolvers<void>()
    flow.deliverTo({ write: () => Promise.resolve(), end: () => ending.promise })
    flow.onFrame(FRAME.end, NOTHING)
    await settle()
    expect(sent).toEqual([])
    ending.resolve()
    await flow.receivedAll
    expect(typesOf(sent)).toEqual([FRAME.endAck])
  })

  it('gives credit in portions for what is written out, and none for what is not', async () => {
    const { flow, sent } = pipe()
    const out = sink({ stalled: true })
    flow.deliverTo(out)
    for (let bytes = 0; bytes < PIPE_WINDOW_BYTES; bytes += 65_536) flow.onFrame(FRAME.data, new Uint8Array(65_536))
    await settle()
    expect(sent).toEqual([])
    out.release()
    await settle()
    expect(sent).toEqual(Array(4).fill({ type: FRAME.credit, payload: Uint8Array.from(credit(CREDIT_PORTION_BYTES)) }))
  })

  it('does not let a peer that never reads fill the memory with credit', async () => {
    const { flow, sent } = pipe()
    flow.deliverTo(sink())
    for (let count = 0; count < 1_000; count += 1) {
      flow.onFrame(FRAME.data, Uint8Array.of(1))
      await Promise.resolve()
    }
    await settle()
    expect(sent).toEqual([])
  })

  it('refuses a peer that sends beyond its credit', () => {
    const { flow } = pipe()
    for (let bytes = 0; bytes < PIPE_WINDOW_BYTES; bytes += 65_536) flow.onFrame(FRAME.data, new Uint8Array(65_536))
    expect(() => flow.onFrame(FRAME.data, Uint8Array.of(1))).toThrow(protocolError)
  })

  for (const type of [FRAME.data, FRAME.end]) {
    it(`refuses frame type ${type} after the end`, () => {
      const { flow } = pipe()
      flow.onFrame(FRAME.end, NOTHING)
      expect(() => flow.onFrame(type, NOTHING)).toThrow(protocolError)
    })
  }

  it('keeps small pieces together: many of them cost hardly more than their bytes', () => {
    const { flow } = pipe()
    const chunk = new Uint8Array(65_536)
    const before = process.memoryUsage().arrayBuffers
    for (let count = 0; count < 200_000; count += 1)
      flow.onFrame(FRAME.data, chunk.subarray(count % 100, (count % 100) + 1))
    for (let count = 0; count < 200_000; count += 1) flow.onFrame(FRAME.data, NOTHING)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1_048_576)
  })

  it('acknowledges nothing once a write has failed', async () => {
    const { flow, sent } = pipe()
    const failure = new Error('EPIPE')
    let writes = 0
    flow.deliverTo({
      write: () => {
        writes += 1
        return Promise.reject(failure)
      },
      end: () => Promise.resolve(),
    })
    flow.onFrame(FRAME.data, new Uint8Array(10_000))
    flow.onFrame(FRAME.data, new Uint8Array(10_000))
    flow.onFrame(FRAME.end, NOTHING)
    await expect(flow.receivedAll).rejects.toBe(failure)
    await settle()
    expect([writes, sent]).toEqual([1, []])
  })

  for (const type of [FRAME.message, FRAME.call, FRAME.part, FRAME.last]) {
    it(`leaves frame type ${type} to others`, () => expect(pipe().flow.onFrame(type, NOTHING)).toBe(false))
  }
})

describe('PipeFlow, both ways', () => {
  it('is byte-exact however the bytes are cut, and never exceeds the window', async () => {
    const chunks = fc.array(fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 700_000 })), {
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(chunks, chunks, async (there, back) => {
        const [left, right] = tied()
        const [atLeft, atRight] = [sink(), sink()]
        left.deliverTo(atLeft)
        right.deliverTo(atRight)
        const [sentThere, sentBack] = await Promise.all([sendAll(left, there), sendAll(right, back)])
        await Promise.all([left.sentAll, right.sentAll, left.receivedAll, right.receivedAll])
        expect(atRight.bytes().equals(sentThere)).toBe(true)
        expect(atLeft.bytes().equals(sentBack)).toBe(true)
      }),
      { numRuns: 25 },
    )
  })
})

/** Two flows whose frames reach the other in a later microtask, in order; each refuses what exceeds its window. */
function tied(): [PipeFlow, PipeFlow] {
  const flows: PipeFlow[] = []
  const make = (other: number): PipeFlow =>
    new PipeFlow((type, payload) => {
      queueMicrotask(() => flows[other]?.onFrame(type, payload))
    })
  const [left, right] = [make(1), make(0)]
  flows.push(left, right)
  return [left, right]
}

async function sendAll(flow: PipeFlow, sizes: readonly number[]): Promise<Buffer> {
  const chunks = sizes.map((size, index) => Buffer.alloc(size, `${index}-${size}.`))
  for (const chunk of chunks) await flow.send(chunk)
  flow.sendEnd()
  return Buffer.concat(chunks)
}
