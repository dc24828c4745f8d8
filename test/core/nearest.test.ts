import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/core/nearest.ts'

const COMMANDS = ['channel', 'serve', 'tools', 'call', 'demo']

const words: readonly { word: string; found: string | undefined }[] = [
  { word: 'serve', found: 'serve' },
  { word: 'sevre', found: 'serve' },
  { word: 'chanel', found: 'channel' },
  { word: 'cal', found: 'call' },
  { word: 'tool', found: 'tools' },
  { word: 'relay', found: undefined },
  { word: '', found: undefined },
  { word: '🦀🦀', found: undefined },
]

describe('nearest', () => {
  for (const { word, found } of words) {
    it(`is ${found ?? 'nothing'} for ${word === '' ? 'an empty word' : word}`, () =>
      expect(nearest(word, COMMANDS)).toBe(found))
  }

  it('finds every candidate with one character changed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...COMMANDS), fc.nat(3), (command, at) => {
        expect(nearest(`${command.slice(0, at)}_${command.slice(at + 1)}`, COMMANDS)).toBe(command)
      }),
    )
  })

  it('never throws and answers only with candidates', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (word) => {
        expect([undefined, ...COMMANDS]).toContain(nearest(word, COMMANDS))
      }),
    )
  })
})
