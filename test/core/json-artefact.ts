/**
 * What holds of the JSON form of every artefact, as tests.
 *
 * @module
 */
import { expect, it } from 'vitest'
import { type ExactObject, MAX_ARTEFACT_CHARS, writeExactJson } from '../../src/core/exact-json.ts'
import {
  type JsonMembers,
  membersOf,
  NO_TEXTS,
  NO_WHOLE_NUMBERS,
  noHex,
  textOf,
  WHOLE_NUMBERS,
  withMember,
  without,
} from './json-members.ts'

export interface JsonArtefact<Value> {
  readonly sample: Value
  readonly parse: (json: string) => Value
  readonly write: (value: Value) => ExactObject
  /** Members that are hex, with their number of digits. */
  readonly hex: Readonly<Record<string, number>>
  readonly numbers: readonly string[]
  readonly texts: readonly string[]
  /** Members that are lists of texts. */
  readonly lists: readonly string[]
  /** Members that may be absent. */
  readonly optional: readonly string[]
}

const refused = { code: 'ERR_ARTEFACT_INVALID' }

/** Adds the tests to the suite that is being described. */
export function itIsReadStrictly<Value>(artefact: JsonArtefact<Value>): void {
  const members = membersOf(artefact.write(artefact.sample))
  itReadsOneText(artefact, textOf(members))
  itReadsMembers(artefact, members)
  itReadsHex(artefact, members)
  itReadsNumbers(artefact, members)
  itReadsTexts(artefact, members)
}

function itReadsOneText<Value>({ sample, parse, write }: JsonArtefact<Value>, whole: string): void {
  it('reads what it writes, whatever the blanks', () => {
    expect(parse(writeExactJson(write(sample)))).toEqual(sample)
    expect(parse(`\n${whole.replaceAll(/([{}:,])/g, ' $1\t\r\n')} `)).toEqual(sample)
  })

  it('refuses every text that is cut off', () => {
    for (let length = 0; length < whole.length; length += 1) {
      expect(() => parse(whole.slice(0, length)), `${length} characters`).toThrow(expect.objectContaining(refused))
    }
  })

  const others = [
    ' \n',
    'null',
    '17',
    'true',
    '"x"',
    '[]',
    '{}',
    `[${whole}]`,
    `${whole}${whole}`,
    `${whole},`,
    `\ufeff${whole}`,
  ]
  for (const text of others) {
    it(`refuses ${JSON.stringify(text).slice(0, 12)}`, () => {
      expect(() => parse(text)).toThrow(expect.objectContaining(refused))
    })
  }

  it('refuses a text beyond the bound, and one that nests too deep', () => {
    expect(() => parse(whole.padEnd(MAX_ARTEFACT_CHARS + 1))).toThrow(expect.objectContaining(refused))
    expect(parse(whole.padEnd(MAX_ARTEFACT_CHARS))).toEqual(sample)
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(() => parse(withMember(whole, '"more"', deep))).toThrow(expect.objectContaining(refused))
  })
}

function itReadsMembers<Value>({ sample, parse, optional }: JsonArtefact<Value>, members: JsonMembers): void {
  const whole = textOf(members)

  it('reads the members in any order, and ignores others', () => {
    expect(parse(textOf(Object.fromEntries(Object.entries(members).toReversed())))).toEqual(sample)
    expect(parse(withMember(whole, '"more"', '{"a":[1.5,null,{"b":"c"}]}'))).toEqual(sample)
    expect(parse(withMember(whole, '"__proto__"', '{"kind":1}'))).toEqual(sample)
  })

  for (const name of Object.keys(members)) {
    it(`refuses ${name} twice, however it is spelled`, () => {
      const value = members[name] ?? ''
      const escaped = `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`
      for (const key of [JSON.stringify(name), escaped]) {
        expect(() => parse(withMember(whole, key, value))).toThrow(expect.objectContaining(refused))
      }
    })

    if (!optional.includes(name)) {
      it(`refuses to do without ${name}, also when a prototype has it`, () => {
        const less = textOf(without(members, name))
        expect(() => parse(less)).toThrow(expect.objectContaining(refused))
        const inherited = `{${JSON.stringify(name)}:${members[name]}}`
        expect(() => parse(withMember(less, '"__proto__"', inherited))).toThrow(expect.objectContaining(refused))
      })
    }
  }

  it('refuses a member twice even where it ignores it', () => {
    expect(() => parse(withMember(whole, '"more"', '{"a":1,"a":1}'))).toThrow(expect.objectContaining(refused))
  })
}

function itReadsHex<Value>({ sample, parse, hex }: JsonArtefact<Value>, members: JsonMembers): void {
  for (const [name, digits] of Object.entries(hex)) {
    it(`reads ${name} in either case`, () => {
      expect(members[name]).toHaveLength(digits + 2)
      expect(parse(textOf({ ...members, [name]: (members[name] ?? '').toUpperCase() }))).toEqual(sample)
    })

    it(`refuses ${name} when it is not ${digits} hex digits`, () => {
      for (const value of [...noHex(digits), ...NO_TEXTS]) {
        expect(() => parse(textOf({ ...members, [name]: value })), value).toThrow(expect.objectContaining(refused))
      }
    })
  }
}

function itReadsNumbers<Value>({ parse, write, numbers }: JsonArtefact<Value>, members: JsonMembers): void {
  for (const name of numbers) {
    it(`reads and writes ${name} to the last digit`, () => {
      for (const value of WHOLE_NUMBERS) {
        const text = textOf({ ...members, [name]: value })
        expect(writeExactJson(write(parse(text)))).toBe(text)
      }
    })

    it(`refuses ${name} when it is no whole number of 64 bits`, () => {
      for (const value of NO_WHOLE_NUMBERS) {
        expect(() => parse(textOf({ ...members, [name]: value })), value).toThrow(expect.objectContaining(refused))
      }
    })
  }
}

/** The bounds of every text and list of an artefact. */
const MAX_TEXT_CHARS = 65_536
const MAX_LIST_ITEMS = 4_096

function itReadsTexts<Value>({ parse, write, texts, lists }: JsonArtefact<Value>, members: JsonMembers): void {
  const again = (name: string, value: string): string => {
    return membersOf(write(parse(textOf({ ...members, [name]: value }))))[name] ?? ''
  }

  for (const name of texts) {
    it(`reads and writes any valid ${name}`, () => {
      for (const value of ['', ' µ€😀 ', '"\\\n\u0000', 'x'.repeat(MAX_TEXT_CHARS)]) {
        expect(again(name, JSON.stringify(value))).toBe(JSON.stringify(value))
      }
    })

    it(`refuses ${name} when it is no text, too long, or has half a character`, () => {
      const bad = [
        'null',
        '17',
        '[]',
        '{"a":"b"}',
        JSON.stringify('x'.repeat(MAX_TEXT_CHARS + 1)),
        '"\\ud83d"',
        '"a\\ude00"',
      ]
      for (const value of bad) expect(() => again(name, value)).toThrow(expect.objectContaining(refused))
    })
  }

  for (const name of lists) {
    it(`reads ${name} up to the bound`, () => {
      const list = (length: number): string => JSON.stringify(Array.from({ length }, (_, index) => `m${index}`))
      for (const length of [0, 1, MAX_LIST_ITEMS]) expect(again(name, list(length))).toBe(list(length))
      expect(() => again(name, list(MAX_LIST_ITEMS + 1))).toThrow(expect.objectContaining(refused))
    })

    it(`refuses ${name} when it is no list of texts`, () => {
      for (const value of ['null', '"m"', '{"0":"m"}', '["m",1]', '[null]', '[["m"]]']) {
        expect(() => again(name, value)).toThrow(expect.objectContaining(refused))
      }
    })
  }
}
