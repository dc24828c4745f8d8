import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { headWithId, readHead } from '../../src/mcp/wire/head.ts'

describe('readHead', () => {
  const rows: readonly { text: string; id?: string; isResponse?: boolean }[] = [
    { text: '{"id":1,"jsonrpc":"2.0","method":"x"', id: '1' },
    { text: ' {\n "jsonrpc" : "2.0",\t"id" : -5 , "method"', id: '-5' },
    { text: '{"id":"a\\"b","m', id: '"a\\"b"' },
    { text: '{"id":"é\u{1f600}","m', id: '"é\u{1f600}"' },
    { text: '{"id":9007199254740993,', id: '9007199254740993' },
    { text: '{"params":{"id":3,"deep":[{"id":4},"}"]},"id":5,', id: '5' },
    { text: '{"jsonrpc":"2.0","id":7,"result":{"a', id: '7', isResponse: true },
    { text: '{"result":"xxxxx', isResponse: true },
    { text: '{"id":12' },
    { text: '{"id":"ab' },
    { text: '{"id":1.5,"a":1' },
    { text: '{"id":null,"a":1' },
    { text: '{"id":{},"a":1' },
    { text: '{"id":[1],"a":1' },
    { text: '{"params":{"id":3,' },
    { text: '{"params":"id\\":3,' },
    { text: '[{"id":1,"a":1}' },
    { text: '"id":1,' },
    { text: '' },
  ]
  for (const { text, id, isResponse = false } of rows) {
    it(`reads ${id ?? 'no id'} from ${JSON.stringify(text)}`, () => {
      expect(readHead(encodeUtf8(text))).toEqual(id === undefined ? { isResponse } : { id, isResponse })
    })
  }

  it('finds in any part of a request its id or nothing', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.nat(),
        fc.boolean(),
        (id, params, cut, first) => {
          const message = first ? { id, params } : { params, id }
          const bytes = encodeUtf8(JSON.stringify(message))
          const found = readHead(bytes.subarray(0, cut % (bytes.length + 1))).id
          expect(found === undefined || found === String(id)).toBe(true)
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

describe('headWithId', () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text)

  for (const { head, tail, id } of [
    { head: '{"id":1,"result":', tail: '"id":2}', id: '1' },
    { head: '{"result":{"content":', tail: '"}]},"jsonrpc":"2.0","id":7}', id: '7' },
    { head: '{"result":{"content":', tail: '"}]} , "id" : -12 } ', id: '-12' },
    { head: '{"result":{"content":', tail: '{"id":7}}', id: undefined },
    { head: '{"result":{"content":', tail: '\\"id\\":7}"}', id: undefined },
    { head: '{"result":{"content":', tail: '"id":"a"}', id: undefined },
  ]) {
    it(`finds ${id ?? 'no id'} between ${head} and ${tail}`, () => {
      expect(readHead(headWithId(bytes(head), bytes(tail))).id).toBe(id)
    })
  }
})
