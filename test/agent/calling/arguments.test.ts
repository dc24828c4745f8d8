import { describe, expect, it } from 'vitest'
import { type GivenArguments, readArguments } from '../../../src/agent/calling/arguments.ts'
import { fakeIo } from '../fake-io.ts'

function read(given: Partial<GivenArguments>, input = ''): Promise<unknown> {
  return readArguments(fakeIo({ input }).io, { text: undefined, file: undefined, named: [], ...given })
}

describe('arguments of a call', () => {
  const good: readonly (readonly [string, Partial<GivenArguments>, unknown])[] = [
    ['none', {}, undefined],
    ['an object', { text: '{"a":1}' }, { a: 1 }],
    ['text as it stands', { named: ['a=3', 'b=', 'c=x=y', 'd={"e":1}'] }, { a: '3', b: '', c: 'x=y', d: '{"e":1}' }],
    [
      'JSON',
      { named: ['a:=3', 'b:=[true,null]', 'c:="x"', 'd:={"e":{}}'] },
      { a: 3, b: [true, null], c: 'x', d: { e: {} } },
    ],
    ['text over lines', { named: ['a=1\n2'] }, { a: '1\n2' }],
    ['text with a colon and an equals sign', { named: ['a=b:=c'] }, { a: 'b:=c' }],
    ['a name with a colon', { named: ['a:b=c'] }, { 'a:b': 'c' }],
    ['both', { text: '{"a":1}', named: ['b=2'] }, { a: 1, b: '2' }],
    ['a name that objects have', { named: ['toString=x'] }, { toString: 'x' }],
  ]
  for (const [what, given, args] of good) {
    it(`are read: ${what}`, async () => {
      expect(await read(given)).toEqual(args)
    })
  }

  it('keep a name that would change the object itself', async () => {
    const args = await read({ named: ['__proto__:={"a":1}'] })
    expect(JSON.stringify(args)).toBe('{"__proto__":{"a":1}}')
  })

  it('keep every digit', async () => {
    expect(JSON.stringify(await read({ named: ['n:=18446744073709551615'] }))).toBe('{"n":18446744073709551615}')
  })

  it('come from stdin, as an object or as one text', async () => {
    expect(await read({ text: '-', named: ['b=2'] }, '{"a":1}')).toEqual({ a: 1, b: '2' })
    expect(await read({ file: '-', named: ['b=2'] }, 'a\n')).toEqual({ input: 'a\n', b: '2' })
  })

  for (const [what, given, message] of [
    ['no name', { named: ['=x'] }, /name=text/],
    ['no value', { named: ['x'] }, /name=text/],
    ['no JSON', { named: ['x:=yes'] }, /the JSON of --arg x/],
    ['one twice', { named: ['a=1', 'a:=1'] }, /'a' twice|a. twice/],
    ['one again that stands in the object', { text: '{"a":1}', named: ['a=1'] }, /twice/],
    ['the input twice', { file: '-', named: ['input=1'] }, /twice/],
    ['no object', { text: '[1]' }, /JSON object/],
    ['an object and a file', { text: '{}', file: '-' }, /--input/],
  ] as const) {
    it(`are refused with ${what}`, async () => {
      await expect(read(given)).rejects.toMatchObject({ code: 'ERR_USAGE', message })
    })
  }
})
