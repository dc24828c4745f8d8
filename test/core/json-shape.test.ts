import { describe, expect, it } from 'vitest'
import { type ErrorCode } from '../../src/core/errors.ts'
import { parseHash, parseSignature } from '../../src/core/ids.ts'
import {
  hexAs,
  holderId,
  listOf,
  oneOf,
  optional,
  own,
  parseAs,
  type Read,
  shape,
  text,
  wholeNumber,
} from '../../src/core/json-shape.ts'
import { U64_MAX } from '../../src/core/u64.ts'

const INVALID: ErrorCode = 'ERR_ARTEFACT_INVALID'
const ID = 'ab'.repeat(32)
const kind = oneOf({ CloudApiQuota: 0, LocalHardware: 1 })
const offer = shape({
  units: wholeNumber,
  models: optional(listOf(text), []),
  inner: optional(shape({ name: text }), undefined),
})

interface Row {
  readonly read: Read<unknown>
  readonly json: string
}

const accepted: readonly (Row & { readonly name: string; readonly value: unknown })[] = [
  { name: 'an integer of 0', read: wholeNumber, json: '0', value: 0n },
  { name: 'an integer of 2^53 + 1', read: wholeNumber, json: '9007199254740993', value: 2n ** 53n + 1n },
  { name: 'an integer of 2^64 − 1', read: wholeNumber, json: '18446744073709551615', value: U64_MAX },
  { name: 'a text', read: text, json: '"é\u{1f600}\\u0000"', value: 'é\u{1f600}\u0000' },
  { name: 'an empty text', read: text, json: '""', value: '' },
  { name: 'the longest text', read: text, json: `"${'x'.repeat(65_536)}"`, value: 'x'.repeat(65_536) },
  { name: 'an empty list', read: listOf(text), json: '[]', value: [] },
  {
    name: 'the longest list',
    read: listOf(wholeNumber),
    json: JSON.stringify(Array(4_096).fill(1)),
    value: Array(4_096).fill(1n),
  },
  { name: 'hex in either case', read: holderId, json: `"${'aB'.repeat(32)}"`, value: ID },
  { name: 'hex of another length', read: hexAs(parseSignature), json: `"${'ab'.repeat(64)}"`, value: 'ab'.repeat(64) },
  { name: 'one of some words', read: kind, json: '"LocalHardware"', value: 1 },
  { name: 'an object', read: offer, json: '{"units":1}', value: { units: 1n, models: [], inner: undefined } },
  {
    name: 'an object with members nobody asked for',
    read: offer,
    json: '{"x":null,"units":1,"models":["m"],"__proto__":{"units":"2"},"inner":{"name":"n","y":[]}}',
    value: { units: 1n, models: ['m'], inner: { name: 'n' } },
  },
]

const refused: readonly (Row & { readonly message: string })[] = [
  { read: wholeNumber, json: '-1', message: 'it: expected a whole number from 0 to 18446744073709551615, found -1' },
  {
    read: wholeNumber,
    json: '18446744073709551616',
    message: 'it: expected a whole number from 0 to 18446744073709551615, found 18446744073709551616',
  },
  ...['1.0', '1e3', '0e0'].map((json) => ({
    read: wholeNumber,
    json,
    message:
      'it: expected a whole number from 0 to 18446744073709551615, found a number with a fraction or an exponent',
  })),
  { read: wholeNumber, json: '-0', message: 'it: expected a whole number from 0 to 18446744073709551615, found -0' },
  { read: wholeNumber, json: '1.5', message: 'it: expected a whole number from 0 to 18446744073709551615, found 1.5' },
  { read: wholeNumber, json: '"1"', message: 'it: expected a whole number from 0 to 18446744073709551615, found "1"' },
  {
    read: wholeNumber,
    json: 'null',
    message: 'it: expected a whole number from 0 to 18446744073709551615, found null',
  },
  { read: text, json: '1', message: 'it: expected a text, found 1' },
  { read: text, json: '["a"]', message: 'it: expected a text, found a list' },
  { read: text, json: '{"a":1}', message: 'it: expected a text, found an object' },
  { read: text, json: '"\\ud800"', message: 'it: expected valid Unicode, found half a surrogate pair' },
  {
    read: text,
    json: `"${'x'.repeat(65_537)}"`,
    message: 'it: expected at most 65536 characters, found 65537',
  },
  { read: listOf(text), json: '"a"', message: 'it: expected a list, found "a"' },
  { read: listOf(text), json: '{"0":"a","length":1}', message: 'it: expected a list, found an object' },
  { read: listOf(text), json: '["a",1]', message: 'it[1]: expected a text, found 1' },
  {
    read: listOf(text),
    json: JSON.stringify(Array(4_097).fill('a')),
    message: 'it: expected at most 4096 items, found 4097',
  },
  { read: holderId, json: '7', message: 'it: expected a text of hex digits, found 7' },
  { read: holderId, json: `" ${ID}"`, message: 'it: expected hex digits, found blanks around them' },
  { read: holderId, json: `"${ID}\\n"`, message: 'it: expected hex digits, found blanks around them' },
  { read: holderId, json: `"${ID}ab"`, message: 'it: expected 64 hex digits, found 66' },
  {
    read: holderId,
    json: `"${ID.slice(1)}"`,
    message: 'it: expected 64 hex digits, found an odd number of hex digits (63)',
  },
  { read: holderId, json: '""', message: 'it: expected 64 hex digits, found 0' },
  {
    read: hexAs(parseHash),
    json: `"${'é'.repeat(32)}"`,
    message: 'it: expected 64 hex digits, found a character that is not a hex digit at position 1',
  },
  {
    read: hexAs(parseHash),
    json: `"${'ａ'.repeat(64)}"`,
    message: 'it: expected 64 hex digits, found a character that is not a hex digit at position 1',
  },
  { read: kind, json: '"localHardware"', message: 'it: expected CloudApiQuota|LocalHardware, found "localHardware"' },
  { read: kind, json: '"toString"', message: 'it: expected CloudApiQuota|LocalHardware, found "toString"' },
  { read: kind, json: '"__proto__"', message: 'it: expected CloudApiQuota|LocalHardware, found "__proto__"' },
  { read: kind, json: '1', message: 'it: expected CloudApiQuota|LocalHardware, found 1' },
  { read: offer, json: '[]', message: 'it: expected an object, found a list' },
  { read: offer, json: '18446744073709551615', message: 'it: expected an object, found 18446744073709551615' },
  {
    read: offer,
    json: '{}',
    message: 'it.units: expected a whole number from 0 to 18446744073709551615, found nothing',
  },
  {
    read: offer,
    json: '{"__proto__":{"units":1}}',
    message: 'it.units: expected a whole number from 0 to 18446744073709551615, found nothing',
  },
  { read: offer, json: '{"units":1,"models":null}', message: 'it.models: expected a list, found null' },
  { read: offer, json: '{"units":1,"models":["a",{}]}', message: 'it.models[1]: expected a text, found an object' },
  { read: offer, json: '{"units":1,"inner":{}}', message: 'it.inner.name: expected a text, found nothing' },
  { read: shape({ toString: text }), json: '{}', message: 'it.toString: expected a text, found nothing' },
]

describe('readers', () => {
  for (const { name, read, json, value } of accepted) {
    it(`take ${name}`, () => expect(parseAs(read, json, 'it')).toStrictEqual(value))
  }

  for (const { read, json, message } of refused) {
    it(`refuse ${json.slice(0, 70)}: ${message.slice(0, 90)}`, () => {
      expect(() => parseAs(read, json, 'it')).toThrow(expect.objectContaining({ code: INVALID, message }))
    })
  }

  it('refuse a text that is no JSON, and a key that stands twice', () => {
    for (const json of ['', '{"units":1', '{"units":1,"units":1}', '\ufeff{"units":1}']) {
      expect(() => parseAs(offer, json, 'it')).toThrow(expect.objectContaining({ code: INVALID }))
    }
  })

  it('repeat what they found in few characters that can steer no terminal', () => {
    const json = JSON.stringify(`\u001b[31m\u202e${'x'.repeat(60_000)}`)
    expect(() => parseAs(wholeNumber, json, 'it')).toThrow(/^it: .{1,150}$/)
    expect(() => parseAs(wholeNumber, json, 'it')).not.toThrow(/\p{C}/u)
  })
})

describe('own', () => {
  it('sees members of the object alone', () => {
    expect(own({ a: 1n }, 'a')).toBe(1n)
    for (const key of ['toString', '__proto__', 'constructor', 'b']) expect(own({ a: 1n }, key)).toBeUndefined()
  })
})
