import { type AbortOptions } from '@libp2p/interface'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connectingAhead, isUnspoken, selectAhead } from '../../src/channel/node/optimistic-select.ts'
import { anyCuts, fakeStream, pieces } from './fake-stream.ts'

const ANSWER = Buffer.from('\x13/multistream/1.0.0\n\x07/noise\n', 'latin1')
const NOT_SPOKEN = Buffer.from('\x13/multistream/1.0.0\n\x03na\n', 'latin1')

describe('a protocol that is chosen ahead', () => {
  it('is agreed to at once, and what the far end says of it goes no further', () => {
    const bytes = fc.uint8Array({ maxLength: 64 })
    fc.assert(
      fc.property(bytes, anyCuts, (payload, cuts) => {
        const { stream, arrives, said, delivered, ends } = fakeStream()
        selectAhead(stream, '/noise')
        expect(said()).toEqual(ANSWER)
        arrives(pieces(Buffer.concat([ANSWER, payload]), cuts))
        expect(delivered()).toEqual(Buffer.from(payload))
        expect(ends).toEqual([])
      }),
    )
  })

  it('ends the stream when the far end says anything else, however it comes', () => {
    const other = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => Buffer.from(bytes))
    const wrong = fc
      .oneof(fc.constant(NOT_SPOKEN), other)
      .filter((bytes) => !bytes.subarray(0, ANSWER.length).equals(ANSWER.subarray(0, bytes.length)))
    fc.assert(
      fc.property(wrong, anyCuts, (bytes, cuts) => {
        const { stream, arrives, delivered, ends } = fakeStream()
        selectAhead(stream, '/noise')
        arrives(pieces(bytes, cuts))
        expect(ends.map(isUnspoken)).toEqual([true])
        expect(delivered()).toHaveLength(0)
      }),
    )
  })
})

describe('the encryption of a connection', () => {
  const sides = [
    { name: 'chosen ahead by whoever dials', direction: 'outbound', options: {}, ahead: true },
    { name: 'left to the other side by whoever answers', direction: 'inbound', options: {}, ahead: false },
    {
      name: 'left to the other side by one of two that dial',
      direction: 'outbound',
      options: { initiator: false },
      ahead: false,
    },
  ] as const
  for (const { name, direction, options, ahead } of sides) {
    it(`is ${name}`, async () => {
      const { stream, said } = fakeStream(direction)
      expect(await connectingAhead('/noise')().protect(stream, options as AbortOptions)).toBe(stream)
      expect(said()).toEqual(ahead ? ANSWER : Buffer.alloc(0))
    })
  }
})
