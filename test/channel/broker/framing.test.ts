import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeRendezvousFrame, RendezvousReader } from '../../../src/channel/rendezvous/framing.ts'
import { MAX_LIST_MESSAGE_BYTES, MAX_RENDEZVOUS_BYTES } from '../../../src/channel/rendezvous/messages.ts'

const payload = fc.uint8Array({ minLength: 1, maxLength: 200 })

describe('RendezvousReader', () => {
  it('gives back what was framed, however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(payload, { maxLength: 8 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 60 })),
        (sent, cuts) => {
          const stream = Buffer.concat(sent.map(encodeRendezvousFrame))
          const reader = new RendezvousReader()
          const received: Uint8Array[] = []
          for (let offset = 0; offset < stream.length; ) {
            const size = cuts.next().value ?? 1
            received.push(...reader.push(stream.subarray(offset, offset + size)))
            offset += size
          }
          expect(received.map((bytes) => [...bytes])).toEqual(sent.map((bytes) => [...bytes]))
          expect(reader.isWithinFrame).toBe(false)
        },
      ),
    )
  })

  it('takes the largest message', () => {
    const largest = new Uint8Array(MAX_RENDEZVOUS_BYTES).fill(7)
    expect(new RendezvousReader().push(encodeRendezvousFrame(largest))).toEqual([largest])
  })

  for (const [name, length] of [
    ['an empty message', 0],
    ['a message one byte too long', MAX_RENDEZVOUS_BYTES + 1],
    ['a message of 4 GiB', 0xffff_ffff],
  ] as const) {
    it(`refuses ${name} at its length`, () => {
      const head = Buffer.alloc(4)
      head.writeUInt32BE(length)
      expect(() => new RendezvousReader().push(head)).toThrow(expect.objectContaining({ code: 'ERR_PROTOCOL' }))
    })
  }

  it('knows when it stands within a frame', () => {
    const reader = new RendezvousReader()
    reader.push(encodeRendezvousFrame(Uint8Array.of(1, 2, 3)).subarray(0, 5))
    expect(reader.isWithinFrame).toBe(true)
  })

  it('hands out payloads that a later chunk does not change', () => {
    const reader = new RendezvousReader()
    const chunk = Uint8Array.from(encodeRendezvousFrame(Uint8Array.of(1, 2, 3)))
    const [first] = reader.push(chunk)
    chunk.fill(0)
    expect(first).toEqual(Uint8Array.of(1, 2, 3))
  })
})

describe('encodeRendezvousFrame', () => {
  for (const size of [0, MAX_LIST_MESSAGE_BYTES + 1]) {
    it(`refuses a payload of ${size} bytes`, () => {
      expect(() => encodeRendezvousFrame(new Uint8Array(size))).toThrow(RangeError)
    })
  }
})
