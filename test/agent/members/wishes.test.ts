import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../../src/agent/members/duration.ts'
import { MAX_USES } from '../../../src/agent/members/roster.ts'
import { readChange, readWish, unservedTools } from '../../../src/agent/members/wishes.ts'

const SERVED = ['ping', 'agent/card', 'service/echo', 'summarise']

function flags(given: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(given))
}

describe('parseDuration', () => {
  const good: readonly (readonly [text: string, seconds: bigint])[] = [
    ['1s', 1n],
    ['30m', 1_800n],
    ['24h', 86_400n],
    ['7d', 604_800n],
    [' 2h ', 7_200n],
  ]
  for (const [text, seconds] of good) {
    it(`reads ${JSON.stringify(text)}`, () => expect(parseDuration(text, 604_800)).toEqual({ value: seconds }))
  }
  for (const text of ['', '24', 'h', '0h', '-1h', '1.5h', '1h30m', '24H', '8d', '1w', '1e3s', '9999999999s', '٣h']) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseDuration(text, 604_800)).toHaveProperty('problem'))
  }
})

describe('readWish', () => {
  it('wishes one use, a day, all rights and all tools unless told otherwise', () => {
    expect(readWish(flags({}), SERVED)).toEqual({
      uses: 1,
      seconds: 86_400n,
      rights: 'rw',
      tools: undefined,
      name: undefined,
    })
  })

  it('reads what it is told, and services by their slugs', () => {
    const given = { uses: '5', expires: '30m', rights: 'read', tools: 'echo, summarise,echo,later', name: 'Alice' }
    expect(readWish(flags(given), SERVED)).toEqual({
      uses: 5,
      seconds: 1_800n,
      rights: 'r',
      tools: ['service/echo', 'summarise', 'later'],
      name: 'alice',
    })
  })

  const mistakes: readonly (readonly [flag: string, value: string])[] = [
    ['uses', '0'],
    ['uses', String(MAX_USES + 1)],
    ['uses', 'many'],
    ['expires', '366d'],
    ['expires', 'tomorrow'],
    ['rights', 'x'],
    ['tools', ','],
    ['tools', 'a b'],
    ['tools', `a,${'b'.repeat(201)}`],
    ['tools', Array.from({ length: 65 }, (_, index) => `t${index}`).join(',')],
    ['name', 'two words'],
    ['name', 'deadbeef'],
    ['name', ''],
  ]
  for (const [flag, value] of mistakes) {
    it(`refuses --${flag} ${JSON.stringify(value.slice(0, 20))}`, () => {
      const message: unknown = expect.stringMatching(new RegExp(`^--${flag}: expected`))
      expect(() => readWish(flags({ [flag]: value }), SERVED)).toThrow(
        expect.objectContaining({ code: 'ERR_USAGE', message }),
      )
    })
  }
})

describe('readChange', () => {
  it('changes nothing that is not named', () => expect(readChange(flags({}), SERVED)).toEqual({}))

  it('tells all tools from none named', () => {
    const change = readChange(flags({ tools: '*' }), SERVED)
    expect(Object.hasOwn(change, 'tools')).toBe(true)
    expect(change.tools).toBeUndefined()
  })
})

it('unservedTools are those that nobody serves', () => {
  expect(unservedTools(['service/echo', 'later'], SERVED)).toEqual(['later'])
  expect(unservedTools(undefined, SERVED)).toEqual([])
})
