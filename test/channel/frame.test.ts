import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeFrame,
  encodeFrameHead,
  encodeTextFrame,
  FRAME,
  FRAME_HEADER_BYTES,
  FrameReader,
  type FrameType,
  MAX_FRAME_BYTES,
  MAX_PAYLOAD_BYTES,
} from '../../src/channel/session/frame.ts'
import { isCtError } from '../../src/core/errors.ts'

interface Frame {
  readonly type: FrameType
  readonly payload: Uint8Array
}

const types = fc.constantFrom(...Object.values(FRAME))
const frames = fc.array(fc.record({ type: types, payload: fc.uint8Array({ maxLength: 40 }) }), { maxLength: 12 })

function reader(): { readonly read: Frame[]; readonly frames: FrameReader } {
  const read: Frame[] = []
  return { read, frames: new FrameReader((type, payload) => read.push({ type, payload: Uint8Array.from(payload) })) }
}

function refusalOf(run: () => void): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('encodeFrame', () => {
  it('puts the length of type and payload in front, big endian', () => {
    expect(encodeFrame(FRAME.credit, Uint8Array.of(1, 2, 3))).toEqual(Buffer.from('000000040e010203', 'hex'))
  })

  it('takes payloads up to the bound and none above', () => {
    expect(encodeFrame(FRAME.data, new Uint8Array(MAX_PAYLOAD_BYTES))).toHaveLength(MAX_FRAME_BYTES)
    expect(() => encodeFrame(FRAME.data, new Uint8Array(MAX_PAYLOAD_BYTES + 1))).toThrow(RangeError)
  })
})

describe('encodeFrameHead', () => {
  it('is the beginning of the frame that the rest completes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(40), (payload, at) => {
        const [head, rest] = [payload.subarray(0, at), payload.subarray(at)]
        const whole = Buffer.concat([encodeFrameHead(FRAME.callOpen, head, rest.length), rest])
        expect(whole).toEqual(encodeFrame(FRAME.callOpen, payload))
      }),
    )
    expect(() => encodeFrameHead(FRAME.part, Uint8Array.of(1), MAX_PAYLOAD_BYTES)).toThrow(RangeError)
  })
})

describe('encodeTextFrame', () => {
  it('is encodeFrame of the UTF-8 form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 20 }), (text, head) => {
        const bytes = Buffer.from(text)
        expect(encodeTextFrame(FRAME.call, head, text, bytes.length)).toEqual(
          encodeFrame(FRAME.call, Buffer.concat([head, bytes])),
        )
      }),
    )
  })
})

describe('FrameReader', () => {
  it('gives the same frames however the bytes are split', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(200)), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(({ type, payload }) => encodeFrame(type, payload)))
        const { read, frames: cutter } = reader()
        const places = [
          0,
          ...cuts.map((cut) => cut % (bytes.length + 1)).sort((left, right) => left - right),
          bytes.length,
        ]
        for (const [index, place] of places.slice(1).entries()) cutter.push(bytes.subarray(places[index], place))
        expect(read).toEqual(sent)
        expect(cutter.pendingBytes).toBe(0)
      }),
    )
  })

  it('gives the same frames byte by byte, up to the largest', () => {
    const sent = [
      { type: FRAME.message, payload: new Uint8Array(MAX_PAYLOAD_BYTES).fill(7) },
      { type: FRAME.ping, payload: new Uint8Array(0) },
      { type: FRAME.last, payload: Uint8Array.from(Buffer.from('🦀 漢字')) },
    ]
    const { read, frames: cutter } = reader()
    for (const { type, payload } of sent) {
      const bytes = encodeFrame(type, payload)
      for (let index = 0; index < bytes.length; index += 1) cutter.push(bytes.subarray(index, index + 1))
    }
    expect(read).toEqual(sent)
  })

  it('keeps what it holds of a chunk apart from the chunk', () => {
    const { read, frames: cutter } = reader()
    const bytes = Buffer.from(encodeFrame(FRAME.data, Uint8Array.of(1, 2, 3)))
    const chunk = Uint8Array.from(bytes.subarray(0, 6))
    cutter.push(chunk)
    chunk.fill(0xff)
    cutter.push(bytes.subarray(6))
    expect(read).toEqual([{ type: FRAME.data, payload: Uint8Array.of(1, 2, 3) }])
  })

  const refusals: readonly { name: string; hex: string; message: string }[] = [
    { name: 'a length of zero', hex: '00000000', message: 'found 0' },
    { name: 'a length of one more than the bound', hex: '00010002', message: 'found 65538' },
    { name: 'a length of 4 GiB, before allocating anything', hex: 'ffffffff', message: 'found 4294967295' },
    { name: 'a length of 2 GiB', hex: '80000000', message: 'found 2147483648' },
    { name: 'an unknown type below 0x80', hex: '000000010f', message: 'found 15' },
    { name: 'type zero', hex: '0000000100', message: 'found 0' },
    { name: 'the last unknown type below 0x80', hex: '000000017f', message: 'found 127' },
    { name: 'an HTTP request', hex: Buffer.from('GET / HTTP/1.1\r\n').toString('hex'), message: 'found 1195725856' },
  ]
  for (const { name, hex, message } of refusals) {
    it(`refuses ${name}`, () => {
      const { frames: cutter } = reader()
      const expected = expect.objectContaining({ code: 'ERR_PROTOCOL', message: expect.stringContaining(message) })
      expect(() => cutter.push(Buffer.from(hex, 'hex'))).toThrow(expected)
    })

    it(`refuses ${name} also byte by byte`, () => {
      const { frames: cutter } = reader()
      const bytes = Buffer.from(hex, 'hex')
      const pushAll = (): void => {
        for (const byte of bytes) cutter.push(Uint8Array.of(byte))
      }
      expect(pushAll).toThrow(expect.objectContaining({ code: 'ERR_PROTOCOL' }))
    })
  }

  it('skips optional types it does not know and goes on', () => {
    const { read, frames: cutter } = reader()
    for (const type of [0x80, 0x81, 0xff]) cutter.push(Buffer.from([0, 0, 0, 3, type, 1, 2]))
    cutter.push(encodeFrame(FRAME.ping, new Uint8Array(8)))
    expect(read.map(({ type }) => type)).toEqual([FRAME.ping])
  })

  it('makes frames or ERR_PROTOCOL of any bytes, and never holds more than one frame', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.uint8Array({ maxLength: 300 }), garbageFrame())), (chunks) => {
        const { read, frames: cutter } = reader()
        const error = refusalOf(() => {
          for (const chunk of chunks) {
            cutter.push(chunk)
            expect(cutter.pendingBytes).toBeLessThan(MAX_FRAME_BYTES)
          }
        })
        expect(error === undefined || isCtError(error, 'ERR_PROTOCOL')).toBe(true)
        for (const { type } of read) expect(Object.values(FRAME)).toContain(type)
      }),
    )
  })

  it('keeps an unfinished frame in no more than its size', () => {
    const { frames: cutter } = reader()
    cutter.push(Buffer.from([0, 1, 0, 1, FRAME.data]))
    expect(cutter.pendingBytes).toBe(FRAME_HEADER_BYTES)
  })
})

/** Bytes that look like frames often enough to get past the first check. */
function garbageFrame(): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(fc.nat(40), fc.nat(255), fc.uint8Array({ maxLength: 40 }))
    .map(([length, type, rest]) => Uint8Array.from([0, 0, 0, length, type, ...rest]))
}
