import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { MAX_NESTING, nestsTooDeep } from '../../src/core/json.ts'
import {
  errorText,
  MAX_BATCH_MEMBERS,
  readEnvelope,
  readEnvelopeText,
  requestText,
  resultText,
} from '../../src/mcp/wire/envelope.ts'

function request(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"m"}`
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

describe('readEnvelope', () => {
  const ids = [
    '0',
    '-1',
    '1',
    '""',
    '"req-abc"',
    '"1"',
    '"é\u{1f600}"',
    '1774232524389',
    '9007199254740991',
    '9007199254740993',
    '-9007199254740993',
    '123456789012345678901234567890',
  ]
  for (const id of ids) {
    it(`keeps the id ${id} to the digit`, () => {
      expect(readEnvelopeText(request(id))).toMatchObject({ kind: 'request', id, method: 'm' })
    })
  }

  it('keeps a large id apart from other members called id', () => {
    const text = `{"params":{"id":9007199254740995,"deep":[{"id":1}]},"id":9007199254740993,"jsonrpc":"2.0","method":"m"}`
    expect(readEnvelopeText(text)).toMatchObject({ kind: 'request', id: '9007199254740993' })
  })

  it('keeps large ids in a batch', () => {
    const envelope = readEnvelopeText(
      `[${request('1')},${request('9007199254740993')},${request('18446744073709551615')}]`,
    )
    expect(envelope).toMatchObject({
      members: [{ id: '1' }, { id: '9007199254740993' }, { id: '18446744073709551615' }],
    })
  })

  const badIds = ['null', '1.5', '1e400', '9007199254740993.5', 'true', 'false', '{}', '[]', '[1]', '{"a":1}']
  for (const id of badIds) {
    it(`refuses the id ${id} and answers under null`, () => {
      expect(readEnvelopeText(request(id))).toMatchObject({ kind: 'invalid', id: 'null', error: { code: -32600 } })
    })
  }

  const invalid: readonly { name: string; text: string; code: number; id?: string }[] = [
    { name: 'text that is no JSON', text: '{ this is not json', code: -32700 },
    { name: 'an empty message', text: '', code: -32700 },
    { name: 'a byte order mark', text: `\ufeff${request('1')}`, code: -32700 },
    { name: 'a Content-Length header', text: `Content-Length: 40\r\n\r\n${request('1')}`, code: -32700 },
    { name: 'two messages in one', text: `${request('1')}\n${request('2')}`, code: -32700 },
    { name: 'null', text: 'null', code: -32600 },
    { name: 'a number', text: '0', code: -32600 },
    { name: 'false', text: 'false', code: -32600 },
    { name: 'an empty string', text: '""', code: -32600 },
    { name: 'an empty object', text: '{}', code: -32600 },
    { name: 'an empty batch', text: '[]', code: -32600 },
    { name: 'a missing jsonrpc', text: '{"id":7,"method":"m"}', code: -32600, id: '7' },
    { name: 'jsonrpc 1.0', text: '{"jsonrpc":"1.0","id":7,"method":"m"}', code: -32600, id: '7' },
    { name: 'jsonrpc as a number', text: '{"jsonrpc":2.0,"id":7,"method":"m"}', code: -32600, id: '7' },
    { name: 'a number as method, with an id', text: '{"jsonrpc":"2.0","id":7,"method":1}', code: -32600, id: '7' },
    { name: 'a number as method, without an id', text: '{"jsonrpc":"2.0","method":1}', code: -32600 },
    { name: 'null as method', text: '{"jsonrpc":"2.0","id":7,"method":null}', code: -32600, id: '7' },
    { name: 'no method', text: '{"jsonrpc":"2.0","id":7}', code: -32600, id: '7' },
    { name: 'a string as params', text: '{"jsonrpc":"2.0","id":7,"method":"m","params":"x"}', code: -32600, id: '7' },
    { name: 'a number as params', text: '{"jsonrpc":"2.0","id":7,"method":"m","params":0}', code: -32600, id: '7' },
    {
      name: 'a boolean as params',
      text: '{"jsonrpc":"2.0","id":7,"method":"m","params":false}',
      code: -32600,
      id: '7',
    },
    { name: 'a string as params of a notification', text: '{"jsonrpc":"2.0","method":"m","params":"x"}', code: -32600 },
    {
      name: 'a batch with too many members',
      text: `[${Array.from({ length: MAX_BATCH_MEMBERS + 1 }, () => request('1')).join(',')}]`,
      code: -32600,
    },
    {
      name: 'too deep nesting',
      text: `{"jsonrpc":"2.0","id":7,"method":"m","params":${nested(MAX_NESTING)}}`,
      code: -32600,
    },
    { name: 'nesting that overflows a stack', text: nested(200_000), code: -32600 },
    { name: 'nesting that never closes', text: '[{"a":'.repeat(100_000), code: -32600 },
  ]
  for (const { name, text, code, id = 'null' } of invalid) {
    it(`refuses ${name}`, () => {
      expect(readEnvelopeText(text)).toMatchObject({ kind: 'invalid', id, error: { code } })
    })
  }

  it('refuses bytes that are not UTF-8', () => {
    const bytes = encodeUtf8(`{"jsonrpc":"2.0","id":1,"method":"é"}`)
    const cut = bytes.with(bytes.indexOf(0xc3) + 1, 0x41)
    expect(readEnvelope(cut)).toMatchObject({ kind: 'invalid', id: 'null', error: { code: -32700 } })
  })

  it('accepts nesting up to the bound', () => {
    const text = `{"jsonrpc":"2.0","id":7,"method":"m","params":${nested(MAX_NESTING - 1)}}`
    expect(readEnvelopeText(text)).toMatchObject({ kind: 'request', id: '7' })
  })

  const params: readonly [name: string, text: string, value: unknown][] = [
    ['absent', '', undefined],
    ['null, as the original sends it', ',"params":null', undefined],
    ['an object', ',"params":{"a":1}', { a: 1 }],
    ['an array', ',"params":[1,2]', [1, 2]],
  ]
  for (const [name, text, value] of params) {
    it(`accepts params that are ${name}`, () => {
      expect(readEnvelopeText(`{"jsonrpc":"2.0","id":1,"method":"m"${text}}`)).toHaveProperty('params', value)
    })
  }

  it('accepts unknown members of the envelope', () => {
    expect(readEnvelopeText('{"jsonrpc":"2.0","id":1,"method":"m","extra":[1],"trace":"x"}')).toMatchObject({ id: '1' })
  })

  it('takes a message without an id for a notification', () => {
    const text = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    expect(readEnvelopeText(text)).toMatchObject({ kind: 'notification', method: 'notifications/initialized' })
  })

  it('is not led astray by members called __proto__', () => {
    const text = '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"polluted"},"constructor":{"prototype":{"x":1}}}'
    expect(readEnvelopeText(text)).toMatchObject({ kind: 'invalid', id: '1' })
    expect(({} as Record<string, unknown>)['method']).toBeUndefined()
  })

  it('reads the members of a batch one by one', () => {
    const envelope = readEnvelopeText(
      `[1,null,${request('1')},{"jsonrpc":"2.0","method":"n"},[],{"jsonrpc":"2.0","id":9}]`,
    )
    expect(envelope).toMatchObject({
      kind: 'batch',
      members: [
        { kind: 'invalid', id: 'null' },
        { kind: 'invalid', id: 'null' },
        { kind: 'request', id: '1' },
        { kind: 'notification' },
        { kind: 'invalid', id: 'null' },
        { kind: 'invalid', id: '9' },
      ],
    })
  })

  const responses: readonly { name: string; text: string; id: string; outcome: object }[] = [
    { name: 'a result', text: '{"jsonrpc":"2.0","id":1,"result":{}}', id: '1', outcome: { result: {} } },
    {
      name: 'a null result',
      text: '{"jsonrpc":"2.0","id":1,"result":null}',
      id: '1',
      outcome: { result: null },
    },
    {
      name: 'an error',
      text: '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":null}}',
      id: '1',
      outcome: { error: { code: -1, message: 'm', data: null } },
    },
    {
      name: 'an error without an id',
      text: '{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}',
      id: 'null',
      outcome: { error: { code: -1, message: 'm' } },
    },
    {
      name: 'a result and an error',
      text: '{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":-1,"message":"m"}}',
      id: '1',
      outcome: { problem: expect.any(String) },
    },
    {
      name: 'an error of the wrong shape',
      text: '{"jsonrpc":"2.0","id":1,"error":"no"}',
      id: '1',
      outcome: { problem: expect.any(String) },
    },
    {
      name: 'a result without jsonrpc',
      text: '{"id":1,"result":1}',
      id: '1',
      outcome: { problem: expect.any(String) },
    },
  ]
  for (const { name, text, id, outcome } of responses) {
    it(`reads ${name}`, () => expect(readEnvelopeText(text)).toEqual({ kind: 'response', id, outcome }))
  }

  it('never throws and always yields one kind, whatever the bytes', () => {
    const kinds = new Set(['request', 'notification', 'response', 'batch', 'invalid'])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(kinds).toContain(readEnvelope(bytes).kind)
      }),
      { numRuns: 500 },
    )
  })

  it('never throws on a valid request with one byte changed, and keeps its id if it stays a request', () => {
    const bytes = encodeUtf8('{"id":12,"jsonrpc":"2.0","method":"tools/call","params":{"name":"é"}}')
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const envelope = readEnvelope(bytes.with(at, byte))
        // Ten bytes in, the id is behind us.
        if (envelope.kind === 'request' && at > 10) expect(envelope.id).toBe('12')
      }),
      { numRuns: 2_000 },
    )
  })

  it('reads back any request it writes', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.string({ unit: 'binary' }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (id, method, params) => {
          const wellFormed = method.toWellFormed()
          const read = readEnvelope(encodeUtf8(requestText(id, wellFormed, JSON.parse(JSON.stringify(params)))))
          expect(read).toMatchObject({
            kind: 'request',
            id: String(id),
            method: wellFormed,
            params: JSON.parse(JSON.stringify(params)),
          })
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('requestText', () => {
  it('writes keys in the order of the original, absent params as null', () => {
    expect(requestText(1, 'tools/list', undefined)).toBe('{"id":1,"jsonrpc":"2.0","method":"tools/list","params":null}')
  })
})

describe('resultText and errorText', () => {
  it('write jsonrpc, id, then the outcome, without spaces', () => {
    expect(resultText('"a"', '{"reply":"pong"}')).toBe('{"jsonrpc":"2.0","id":"a","result":{"reply":"pong"}}')
    expect(errorText('0', { code: -1, message: 'no', data: null })).toBe(
      '{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no","data":null}}',
    )
  })
})

describe('nestsTooDeep', () => {
  it('agrees with a count on any text of brackets, quotes and backslashes', () => {
    const unit = fc.constantFrom('[', '{', ']', '}', '"', '\\', 'x')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (tail) => {
        const text = '['.repeat(MAX_NESTING - 3) + ' '.repeat(MAX_NESTING + 10) + tail
        expect(nestsTooDeep(text)).toBe(countDepth(text) > MAX_NESTING)
      }),
    )
  })
})

function countDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  let escaped = false
  for (const character of text) {
    if (inString) {
      if (escaped) escaped = false
      else if (character === '\\') escaped = true
      else if (character === '"') inString = false
    } else if (character === '"') {
      inString = true
    } else if (character === '[' || character === '{') {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (character === ']' || character === '}') {
      depth -= 1
    }
  }
  return deepest
}
