import { describe, expect, it } from 'vitest'
import { encodeFrame, FRAME } from '../../src/channel/session/frame.ts'
import { encodeBye, encodeHello, parseBye } from '../../src/channel/session/hello.ts'
import { HELLO_TIMEOUT_MS } from '../../src/channel/session/session.ts'
import { CtError, type ErrorCode } from '../../src/core/errors.ts'
import { helloOf, pair, raw, textsAt } from './session-pair.ts'
import { settle } from './test-wire.ts'

const message = (text: string): Uint8Array => encodeFrame(FRAME.message, Buffer.from(text))
const hello = encodeFrame(FRAME.hello, encodeHello(helloOf('serve')))
const DONE = new CtError('ERR_LINK_CLOSED', 'the peer is done')

describe('a session', () => {
  it('delivers messages that ride behind the first hello, in order', async () => {
    const { caller, server, callerWire } = pair()
    const got = textsAt(server)
    for (const text of ['one', 'two', 'three']) await caller.send({ text })
    await settle()
    expect(got).toEqual(['one', 'two', 'three'])
    expect(callerWire.frames.map(({ type }) => type).slice(0, 2)).toEqual([FRAME.hello, FRAME.message])
  })

  it('says nothing to a stranger before its hello', async () => {
    const { wire } = raw('serve')
    await settle()
    expect(wire.writes).toEqual([])
  })

  it('carries call tags, with the run of the peer’s hello', async () => {
    const { caller, server } = pair()
    const got: unknown[] = []
    server.receive((received) => got.push(received.call))
    await caller.send({
      text: '{}',
      call: { instance: 'ff'.repeat(16) as never, sequence: 9, acknowledgedBelow: 4, resent: true },
    })
    await settle()
    expect(got).toEqual([{ instance: helloOf('call').run, sequence: 9, acknowledgedBelow: 4, resent: true }])
  })

  it('knows from the hello whether the peer’s run has called before', async () => {
    const { server } = pair({ call: { calls: 'fresh' } })
    const resumed = pair({ call: { calls: 'resumed' } }).server
    await settle()
    expect([server.peer.freshRun, resumed.peer.freshRun]).toEqual([helloOf('call').run, undefined])
  })

  it('lets a large message wait for the peer’s limit, and then sends or refuses it', async () => {
    const { caller, server } = pair({ serve: { limits: { messageBytes: 200_000, inFlight: 1, idleSeconds: 0 } } })
    const got = textsAt(server)
    const [fits, exceeds] = [caller.send({ text: 'x'.repeat(200_000) }), caller.send({ text: 'y'.repeat(200_001) })]
    await expect(exceeds).rejects.toMatchObject({
      code: 'ERR_MESSAGE_TOO_LARGE',
      detail: { bytes: 200_001, limit: 200_000 },
    })
    await fits
    await settle()
    expect(got).toEqual(['x'.repeat(200_000)])
  })

  it('counts a limit in bytes of UTF-8', async () => {
    const { caller } = pair({ serve: { limits: { messageBytes: 9, inFlight: 1, idleSeconds: 0 } } })
    await caller.ready
    await caller.send({ text: '漢字漢' })
    await expect(caller.send({ text: '漢字漢!' })).rejects.toMatchObject({ code: 'ERR_MESSAGE_TOO_LARGE' })
  })

  it('fails a large message with the reason the session ended, when that is before the hello', async () => {
    const { session, wire } = raw('call')
    const before = session.send({ text: 'x'.repeat(100_000) })
    wire.deliver(encodeFrame(FRAME.bye, encodeBye({ code: 'ERR_PEER_REFUSED', reason: 'no', final: true })))
    await expect(before).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED' })
    await expect(session.send({ text: 'x'.repeat(100_000) })).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED' })
    await expect(session.send({ text: 'x' })).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED' })
  })

  it('marks what the peer sends too large, and goes on', async () => {
    const { wire, session } = raw('serve', { limits: { messageBytes: 10, inFlight: 1, idleSeconds: 0 } })
    const got: unknown[] = []
    session.receive((received) => got.push(received.kind))
    wire.deliver(encodeFrame(FRAME.hello, encodeHello(helloOf('call'))))
    wire.deliver(message('x'.repeat(11)))
    wire.deliver(message('x'.repeat(10)))
    await settle()
    expect(got).toEqual(['oversize', 'text'])
  })

  it('answers a ping with its bytes, and not without bound', async () => {
    const { wire } = raw('serve')
    wire.deliver(encodeFrame(FRAME.hello, encodeHello(helloOf('call'))))
    wire.deliver(encodeFrame(FRAME.ping, Buffer.from('12345678')))
    await settle()
    expect(wire.frames.at(-1)).toEqual({ type: FRAME.pong, payload: Uint8Array.from(Buffer.from('12345678')) })
    wire.full = true
    for (let count = 0; count < 50_000; count += 1) wire.deliver(encodeFrame(FRAME.ping, Buffer.alloc(8)))
    await settle()
    wire.drain()
    await settle()
    expect(wire.frames.length).toBeLessThan(5_000)
  })
})

interface End {
  readonly name: string
  readonly bring: (met: ReturnType<typeof pair>) => void
  /** What the caller learns. */
  readonly caller: { readonly code: ErrorCode; readonly final: boolean; readonly byPeer: boolean }
}

const ends: readonly End[] = [
  {
    name: 'the peer is done',
    bring: ({ server }) => server.end(DONE),
    caller: { code: 'ERR_LINK_CLOSED', final: true, byPeer: true },
  },
  {
    name: 'the peer shuts down',
    bring: ({ server }) => server.end(new CtError('ERR_PEER_SHUTDOWN', 'down'), { final: false }),
    caller: { code: 'ERR_PEER_SHUTDOWN', final: false, byPeer: true },
  },
  {
    name: 'the peer crashes',
    bring: ({ serverWire }) => serverWire.destroy(new Error('SIGKILL')),
    caller: { code: 'ERR_LINK_LOST', final: false, byPeer: false },
  },
  {
    name: 'the link breaks',
    bring: ({ callerWire }) => callerWire.end(new Error('ECONNRESET')),
    caller: { code: 'ERR_LINK_LOST', final: false, byPeer: false },
  },
  {
    name: 'nobody used it for the peer’s limit',
    bring: ({ serverClock }) => serverClock.advance(10_000),
    caller: { code: 'ERR_SESSION_IDLE', final: false, byPeer: true },
  },
  {
    name: 'the peer is frozen',
    bring: ({ caller, callerClock }) => {
      caller.watch(true)
      callerClock.advance(5_000)
    },
    caller: { code: 'ERR_PEER_UNRESPONSIVE', final: false, byPeer: false },
  },
  {
    name: 'the peer does not read',
    bring: ({ caller, callerWire, callerClock }) => {
      callerWire.full = true
      void caller.send({ text: 'x' })
      setImmediate(() => {
        caller.watch(true)
        callerClock.advance(5_000)
      })
    },
    caller: { code: 'ERR_PEER_SLOW', final: false, byPeer: false },
  },
  {
    name: 'the peer sends what is no frame',
    bring: ({ callerWire }) => callerWire.deliver(Buffer.from('HTTP/1.1 400')),
    caller: { code: 'ERR_PROTOCOL', final: true, byPeer: false },
  },
  {
    name: 'the peer finds our frames wrong',
    bring: ({ serverWire }) => serverWire.deliver(hello),
    caller: { code: 'ERR_PROTOCOL', final: true, byPeer: true },
  },
]

describe('the end of a session', () => {
  for (const { name, bring, caller: expected } of ends) {
    it(`says why on both sides, and settles all promises, when ${name}`, async () => {
      const met = pair({ serve: { limits: { messageBytes: 1_000, inFlight: 1, idleSeconds: 10 } } })
      await met.caller.ready
      await settle()
      bring(met)
      const { reason, final } = await met.caller.closed
      expect({ code: reason.code, final, byPeer: reason.detail['byPeer'] === true }).toEqual(expected)
      await settle()
      expect((await met.server.closed).reason).toBeInstanceOf(CtError)
      await Promise.all([met.caller.finished, met.server.finished])
      expect([met.callerWire.isOpen, met.serverWire.isOpen]).toEqual([false, false])
      expect([met.callerClock.timers, met.serverClock.timers]).toEqual([0, 0])
      await expect(met.caller.send({ text: 'late' })).rejects.toBe(reason)
    })
  }

  it('is told with the code and the reason of a refusal, which nothing precedes', async () => {
    const refusal = new CtError('ERR_PEER_BUSY', 'full', { detail: { retryAfterMs: 700 } })
    const { caller, server, serverWire } = pair({ admit: () => refusal })
    await expect(caller.ready).rejects.toMatchObject({
      code: 'ERR_PEER_BUSY',
      message: 'full',
      detail: { retryAfterMs: 700 },
    })
    await expect(server.ready).rejects.toBe(refusal)
    expect((await caller.closed).final).toBe(false)
    expect(serverWire.frames.map(({ type }) => type)).toEqual([FRAME.bye])
  })

  it('comes in time when the peer says no hello', async () => {
    const { session, wire, clock } = raw('serve')
    wire.deliver(hello.subarray(0, hello.length - 1))
    clock.advance(HELLO_TIMEOUT_MS)
    expect((await session.closed).reason.code).toBe('ERR_TIMEOUT')
    expect(wire.frames.map(({ payload }) => parseBye(payload).code)).toEqual(['ERR_TIMEOUT'])
    expect(clock.timers).toBe(0)
  })

  it('comes once: a second end changes and writes nothing', async () => {
    const { caller, callerWire } = pair()
    await caller.ready
    caller.end(DONE)
    const { length } = callerWire.writes
    caller.end(new CtError('ERR_INTERNAL', 'again'))
    callerWire.end(new Error('late'))
    expect((await caller.closed).reason).toBe(DONE)
    expect(callerWire.writes).toHaveLength(length)
  })

  it('lets nothing be delivered after it, not even what came in the same bytes', async () => {
    const { session, wire } = raw('call')
    const got = textsAt(session)
    const bye = encodeFrame(FRAME.bye, encodeBye({ code: 'ERR_LINK_CLOSED', reason: 'done', final: true }))
    wire.deliver(Buffer.concat([hello, message('before'), bye, message('after'), Buffer.from('garbage')]))
    wire.deliver(message('later'))
    expect((await session.closed).reason).toMatchObject({ code: 'ERR_LINK_CLOSED', message: 'done' })
    expect(got).toEqual(['before'])
  })

  it('stops delivery when the listener itself brings it about', async () => {
    const { session, wire } = raw('call')
    const got: string[] = []
    wire.deliver(Buffer.concat([hello, message('a'), message('b'), message('c')]))
    session.receive(({ kind }) => {
      got.push(kind)
      session.end(DONE)
    })
    expect(got).toEqual(['text'])
  })

  it('is an internal error when the listener throws, and is told without its words’ control characters', async () => {
    const { session, wire } = raw('call')
    session.receive(() => {
      throw new Error('a\u001bdefect')
    })
    wire.deliver(Buffer.concat([hello, message('a')]))
    expect((await session.closed).reason.code).toBe('ERR_INTERNAL')
    expect(parseBye(wire.frames.at(-1)?.payload ?? hello)).toMatchObject({
      code: 'ERR_LINK_CLOSED',
      reason: 'a defect',
    })
  })
})
