import { encode } from 'cborg'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeFrame, FRAME } from '../../src/channel/session/frame.ts'
import { encodeHello, parseBye, type SessionMode } from '../../src/channel/session/hello.ts'
import { HELLO_TIMEOUT_MS } from '../../src/channel/session/session.ts'
import { type ErrorCode } from '../../src/core/errors.ts'
import { helloOf, raw } from './session-pair.ts'
import { settle } from './test-wire.ts'

const unhandled: unknown[] = []
const note = (error: unknown): void => {
  unhandled.push(error)
}
beforeAll(() => process.on('unhandledRejection', note))
afterAll(() => process.off('unhandledRejection', note))

const HELLO = encodeFrame(FRAME.hello, encodeHello(helloOf('call')))
const NOTHING = new Uint8Array(0)

const streams: readonly { name: string; bytes: readonly Uint8Array[]; code: ErrorCode }[] = [
  { name: 'garbage', bytes: [Buffer.from('GET / HTTP/1.1\r\n\r\n')], code: 'ERR_PROTOCOL' },
  { name: 'a frame of 4 GiB', bytes: [Buffer.from('ffffffff01', 'hex')], code: 'ERR_PROTOCOL' },
  { name: 'a message before the hello', bytes: [encodeFrame(FRAME.message, NOTHING)], code: 'ERR_PROTOCOL' },
  { name: 'a ping before the hello', bytes: [encodeFrame(FRAME.ping, new Uint8Array(8))], code: 'ERR_PROTOCOL' },
  { name: 'a second hello', bytes: [HELLO, HELLO], code: 'ERR_PROTOCOL' },
  { name: 'a hello that is no CBOR', bytes: [encodeFrame(FRAME.hello, Uint8Array.of(0xff))], code: 'ERR_PROTOCOL' },
  {
    name: 'a hello of version 2',
    bytes: [encodeFrame(FRAME.hello, encode({ v: 2 }))],
    code: 'ERR_VERSION_UNSUPPORTED',
  },
  { name: 'a ping of seven bytes', bytes: [HELLO, encodeFrame(FRAME.ping, new Uint8Array(7))], code: 'ERR_PROTOCOL' },
  { name: 'a piece of no message', bytes: [HELLO, encodeFrame(FRAME.part, NOTHING)], code: 'ERR_PROTOCOL' },
  { name: 'the end of no message', bytes: [HELLO, encodeFrame(FRAME.last, NOTHING)], code: 'ERR_PROTOCOL' },
  {
    name: 'a large message within another',
    bytes: [HELLO, encodeFrame(FRAME.messageOpen, NOTHING), encodeFrame(FRAME.messageOpen, NOTHING)],
    code: 'ERR_PROTOCOL',
  },
  { name: 'a call without a tag', bytes: [HELLO, encodeFrame(FRAME.call, new Uint8Array(16))], code: 'ERR_PROTOCOL' },
  { name: 'a call of number 0', bytes: [HELLO, encodeFrame(FRAME.call, new Uint8Array(17))], code: 'ERR_PROTOCOL' },
  { name: 'bytes of a pipe', bytes: [HELLO, encodeFrame(FRAME.data, NOTHING)], code: 'ERR_PROTOCOL' },
  { name: 'credit without a pipe', bytes: [HELLO, encodeFrame(FRAME.credit, new Uint8Array(4))], code: 'ERR_PROTOCOL' },
  { name: 'an unknown frame', bytes: [HELLO, Buffer.from('000000010f', 'hex')], code: 'ERR_PROTOCOL' },
  { name: 'a bye that is no map', bytes: [HELLO, encodeFrame(FRAME.bye, encode(5))], code: 'ERR_PROTOCOL' },
  {
    name: 'the mode of the same side',
    bytes: [encodeFrame(FRAME.hello, encodeHello(helloOf('serve')))],
    code: 'ERR_PEER_REFUSED',
  },
]

describe('a session whose peer sends', () => {
  for (const { name, bytes, code } of streams) {
    it(`${name} ends with ${code}, and tells the peer`, async () => {
      const { session, wire, clock } = raw('serve')
      for (const part of bytes) wire.deliver(part)
      expect((await session.closed).reason.code).toBe(code)
      const last = wire.frames.at(-1)
      expect(last?.type).toBe(FRAME.bye)
      expect(parseBye(last?.payload ?? NOTHING).code).toBe(code)
      expect(clock.timers).toBe(0)
    })
  }

  it('optional frames it does not know goes on', async () => {
    const { session, wire } = raw('serve')
    wire.deliver(Buffer.concat([Buffer.from('0000000280aa', 'hex'), HELLO, Buffer.from('00000001ff', 'hex')]))
    await session.ready
    expect(session.isReady).toBe(true)
  })

  for (const [name, bytes] of [
    ['nothing', NOTHING],
    ['half a frame', HELLO.subarray(0, 20)],
  ] as const) {
    it(`${name} and then stays silent is left in time`, async () => {
      const { session, wire, clock } = raw('serve')
      wire.deliver(bytes)
      clock.advance(HELLO_TIMEOUT_MS)
      expect((await session.closed).reason.code).toBe('ERR_TIMEOUT')
    })

    it(`${name} and then goes away is lost`, async () => {
      const { session, wire } = raw('serve')
      wire.deliver(bytes)
      wire.end()
      expect((await session.closed).reason.code).toBe('ERR_LINK_LOST')
    })
  }
})

describe('any bytes of a peer', () => {
  const modes: readonly SessionMode[] = ['serve', 'call', 'pipe']
  const frame = fc
    .tuple(
      fc.constantFrom(...Object.values(FRAME)),
      fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(new Uint8Array(8), Uint8Array.of(0, 0, 0, 9))),
    )
    .map(([type, payload]) => encodeFrame(type, payload))
  const greetings = modes.map((mode) => encodeFrame(FRAME.hello, encodeHello(helloOf(mode))))
  const part = fc.oneof(
    { weight: 6, arbitrary: frame },
    { weight: 2, arbitrary: fc.constantFrom(...greetings) },
    fc.uint8Array({ maxLength: 30 }),
  )

  for (const mode of modes) {
    it(`leave no promise unhandled, no session open and nothing delivered late: ${mode}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...greetings, NOTHING),
          fc.array(part, { maxLength: 12 }),
          fc.integer({ min: 1, max: 50 }),
          async (first, parts, cut) => {
            const { session, wire, clock } = raw(mode)
            let over = false
            let late = 0
            void session.closed.then(() => {
              over = true
            })
            session.receive(() => {
              if (over) late += 1
            })
            const bytes = Buffer.concat([first, ...parts])
            for (let at = 0; at < bytes.length; at += cut) {
              wire.deliver(bytes.subarray(at, at + cut))
              if (at % 3 === 0) await Promise.resolve()
            }
            wire.end()
            await session.closed
            await session.ready.catch(() => {})
            await session.finished
            expect([late, clock.timers]).toEqual([0, 0])
          },
        ),
        { numRuns: 150 },
      )
      await settle()
      expect(unhandled).toEqual([])
    })
  }
})
