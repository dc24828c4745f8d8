import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { MAX_BATCH_MEMBERS } from '../../src/mcp/wire/envelope.ts'
import { serve, toolOf } from './serve.ts'

const PONG = '{"jsonrpc":"2.0","id":1,"result":{"reply":"pong"}}'

function call(id: string, name: string, args = ''): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(name)}${args}}}`
}

function pingAs(id: string): string {
  return call(id, 'ping')
}

describe('serveMcp, messages', () => {
  const exact: readonly { name: string; message: string; answers: readonly string[] }[] = [
    { name: 'params by name', message: pingAs('1'), answers: [PONG] },
    {
      name: 'params by position',
      message: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["ping",{}]}',
      answers: [PONG],
    },
    { name: 'arguments of any kind', message: call('1', 'ping', ',"arguments":"text"'), answers: [PONG] },
    {
      name: 'keys in the order of the original',
      message: '{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"name":"ping"}}',
      answers: [PONG],
    },
    {
      name: 'a batch with one request: an array of one',
      message: `[${pingAs('1')}]`,
      answers: [`[${PONG}]`],
    },
    {
      name: 'a mixed batch',
      message: `[1,${pingAs('1')},{"jsonrpc":"2.0","method":"x"}]`,
      answers: [expect.stringMatching(/^\[\{"jsonrpc":"2.0","id":null,"error":\{"code":-32600,.*\},\{.*"pong"\}\}\]$/)],
    },
    {
      name: 'a batch of notifications: nothing',
      message: '[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","method":"y"}]',
      answers: [],
    },
    { name: 'a notification: nothing', message: '{"jsonrpc":"2.0","method":"notifications/initialized"}', answers: [] },
    { name: 'an unknown notification: nothing', message: '{"jsonrpc":"2.0","method":"tools/call"}', answers: [] },
    { name: 'a response: nothing', message: '{"jsonrpc":"2.0","id":1,"result":{}}', answers: [] },
    {
      name: 'a batch of responses: nothing',
      message: '[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}]',
      answers: [],
    },
    {
      name: 'the method ping',
      message: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      answers: ['{"jsonrpc":"2.0","id":1,"result":{}}'],
    },
  ]
  for (const { name, message, answers } of exact) {
    it(`answers ${name}`, async () => expect(await serve().exchange(message)).toEqual(answers))
  }

  const refused: readonly { name: string; message: string; id: unknown; code: number }[] = [
    { name: 'an id of null, never with silence', message: pingAs('null'), id: null, code: -32600 },
    { name: 'an object as id', message: pingAs('{}'), id: null, code: -32600 },
    { name: 'a boolean as id', message: pingAs('true'), id: null, code: -32600 },
    { name: 'null', message: 'null', id: null, code: -32600 },
    { name: 'an empty batch, with one error', message: '[]', id: null, code: -32600 },
    { name: 'a number as method', message: '{"jsonrpc":"2.0","id":7,"method":1}', id: 7, code: -32600 },
    {
      name: 'a string as params',
      message: '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":"x"}',
      id: 7,
      code: -32600,
    },
    { name: 'an unknown method', message: '{"jsonrpc":"2.0","id":7,"method":"rpc.discover"}', id: 7, code: -32601 },
    { name: 'the method __proto__', message: '{"jsonrpc":"2.0","id":7,"method":"__proto__"}', id: 7, code: -32601 },
    { name: 'the method constructor', message: '{"jsonrpc":"2.0","id":7,"method":"constructor"}', id: 7, code: -32601 },
    { name: 'the tool __proto__', message: call('7', '__proto__'), id: 7, code: -32602 },
    {
      name: 'tools/call without params',
      message: '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}',
      id: 7,
      code: -32602,
    },
    {
      name: 'tools/call with a number as name',
      message: '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}',
      id: 7,
      code: -32602,
    },
    {
      name: 'server/discover outside the modern dialect',
      message: '{"jsonrpc":"2.0","id":7,"method":"server/discover"}',
      id: 7,
      code: -32602,
    },
  ]
  for (const { name, message, id, code } of refused) {
    it(`refuses ${name}`, async () => {
      expect(JSON.parse(await serve().ask(message))).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
    })
  }

  for (const id of ['0', '-1', '""', '"req-abc"', '1774232524389', '9007199254740993']) {
    it(`answers under the id ${id}`, async () => {
      expect(await serve().ask(pingAs(id))).toBe(`{"jsonrpc":"2.0","id":${id},"result":{"reply":"pong"}}`)
    })
  }

  it('answers members of a batch one by one, with an error for [1] in an array', async () => {
    const answer = JSON.parse(await serve().ask('[1,2,3]'))
    expect(answer).toHaveLength(3)
    for (const member of answer) expect(member).toMatchObject({ id: null, error: { code: -32600 } })
  })

  it('refuses initialize within a batch', async () => {
    const answer = JSON.parse(await serve().ask('[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]'))
    expect(answer).toMatchObject([{ id: 1, error: { code: -32600 } }])
  })

  it('refuses a batch above the bound with one error', async () => {
    const batch = `[${Array.from({ length: MAX_BATCH_MEMBERS + 1 }, (_, id) => pingAs(String(id))).join(',')}]`
    expect(JSON.parse(await serve().ask(batch))).toMatchObject({ id: null, error: { code: -32600 } })
  })

  it('recovers at the next message after bytes that are no message', async () => {
    const served = serve()
    const framed = `Content-Length: 40\r\n\r\n${pingAs('1')}`
    expect(JSON.parse(await served.ask(framed))).toMatchObject({ error: { code: -32700 } })
    expect(JSON.parse(await served.ask(new Uint8Array([0xff, 0xfe])))).toMatchObject({ error: { code: -32700 } })
    expect(await served.ask(pingAs('1'))).toBe(PONG)
  })

  it('answers what overflows a recursive reader, and lives on', async () => {
    const served = serve({ toServer: 10_000_000 })
    const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'['.repeat(500_000)}${']'.repeat(500_000)}}`
    expect(JSON.parse(await served.ask(deep))).toMatchObject({ error: { code: -32600 } })
    expect(await served.ask(pingAs('1'))).toBe(PONG)
  })

  it('answers every request of any traffic exactly once under its id, and nothing else under an id', async () => {
    const member = fc.oneof(
      fc.record({
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double()),
        method: fc.constant('ping'),
      }),
      fc.record({ id: fc.integer(), method: fc.constant('tools/call'), params: fc.constant({ name: 'ping' }) }),
      fc.record({ method: fc.string() }),
      fc.record({ id: fc.integer(), result: fc.jsonValue() }),
      fc.jsonValue(),
    )
    const message = fc.oneof(member, fc.array(member, { maxLength: 4 }))
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 8 }), async (messages) => {
        for (const value of messages) {
          const sent = JSON.stringify(stamp(value))
          const members: readonly unknown[] = [JSON.parse(sent)].flat()
          const answers = (await serve().exchange(sent)).flatMap((text) => JSON.parse(text))
          const ids = members.filter(isRequest).map(({ id }) => id)
          const answered = answers.map(({ id }: { id: unknown }) => id).filter((id: unknown) => id !== null)
          expect([...answered].sort()).toEqual([...ids].sort())
        }
      }),
      {
        numRuns: 60,
        examples: [
          [[{ id: -(2 ** 53), method: 'ping' }]],
          [[{ id: 1e20, method: 'ping' }]],
          [[{ id: 1e21, method: 'ping' }]],
        ],
      },
    )
  })

  it('does not care how bytes fall: emoji and CJK in names and arguments come back whole', async () => {
    const echo = toolOf('回声\u{1f600}', (args) => JSON.parse(JSON.stringify(args)))
    const text = '你好 \u{1f469}\u200d\u{1f680} é'
    const served = serve({ tools: [echo] })
    const answer = await served.ask(encodeUtf8(call('1', echo.name, `,"arguments":{"text":"${text}"}`)))
    expect(answer).toBe(`{"jsonrpc":"2.0","id":1,"result":{"text":"${text}"}}`)
  })
})

function stamp(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stamp)
  return typeof value === 'object' && value !== null ? { jsonrpc: '2.0', ...value } : value
}

function isRequest(value: unknown): value is { readonly id: string | number } {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('method' in value)) return false
  // Any number written as an integer is an id, also one that a double cannot tell from its neighbours.
  return typeof value.id === 'string' || (typeof value.id === 'number' && /^-?\d+$/.test(JSON.stringify(value.id)))
}
