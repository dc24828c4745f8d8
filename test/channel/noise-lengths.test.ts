import { type MessageStream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { readLengthsCalmly } from '../../src/channel/node/noise-lengths.ts'

function lengthReader(): (came: Uint8ArrayList) => number {
  const decoder = {
    lengthDecoder: (_: Uint8ArrayList): number => {
      throw new RangeError('too short')
    },
  }
  readLengthsCalmly({ decoder } as unknown as MessageStream)
  return decoder.lengthDecoder
}

describe('the length before a message of Noise', () => {
  const cases: readonly { name: string; came: Uint8ArrayList; length: number }[] = [
    { name: 'has two bytes', came: list([1, 2, 3]), length: 258 },
    { name: 'may come in two pieces', came: list([1], [2]), length: 258 },
    { name: 'may be the largest', came: list([255, 255]), length: 65_535 },
    { name: 'that has not come keeps all waiting', came: list(), length: 65_535 },
    { name: 'of which half has come keeps all waiting', came: list([0]), length: 65_535 },
  ]
  for (const { name, came, length } of cases) it(name, () => expect(lengthReader()(came)).toBe(length))

  it('cannot be read of what is no connection of libp2p-noise', () => {
    expect(() => readLengthsCalmly({} as MessageStream)).toThrow(TypeError)
  })
})

function list(...parts: readonly (readonly number[])[]): Uint8ArrayList {
  return new Uint8ArrayList(...parts.map((part) => Uint8Array.from(part)))
}
