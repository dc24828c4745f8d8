import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMemberName, nameFrom, nameOfKey, uniqueName } from '../../../src/agent/members/member-name.ts'
import { MAX_NAME_CHARS } from '../../../src/agent/plain-name.ts'
import { someone } from './rosters.ts'

const wishes: readonly (readonly [wish: string, name: string | undefined])[] = [
  ['alice', 'alice'],
  ['  Alice Bréton ', 'alice-breton'],
  ['build.server_2', 'build.server_2'],
  ['--force', 'force'],
  ['a/../b', 'a-..-b'],
  ['ﬁne', 'fine'],
  ['x'.repeat(99), 'x'.repeat(MAX_NAME_CHARS)],
  ['', undefined],
  ['–—…', undefined],
  ['\u001b[2J', '2j'],
  ['3b6a27bc', undefined],
  [`${'f'.repeat(64)}`, undefined],
]

describe('nameFrom', () => {
  for (const [wish, name] of wishes) {
    it(`makes ${String(name)} of ${JSON.stringify(wish)}`, () => expect(nameFrom(wish)).toBe(name))
  }

  it('makes a good name of anything, or none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (wish) => {
        const name = nameFrom(wish)
        expect(name === undefined || (isMemberName(name) && nameFrom(name) === name)).toBe(true)
      }),
    )
  })
})

describe('uniqueName', () => {
  it('is always another one, and always good', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab1.-_'), minLength: 1, maxLength: 40 }), (wish) => {
        const taken = new Set<string>()
        for (let count = 0; count < 12; count += 1) {
          const name = uniqueName(nameFrom(wish) ?? 'somebody', (candidate) => taken.has(candidate))
          expect(isMemberName(name)).toBe(true)
          taken.add(name)
        }
        expect(taken.size).toBe(12)
      }),
    )
  })

  it('leaves a name that nobody has', () => expect(uniqueName('alice', () => false)).toBe('alice'))
})

it('nameOfKey is a good name', () => expect(isMemberName(nameOfKey(someone()))).toBe(true))
