import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { isJsonObject, type JsonValue } from '../../src/core/json.ts'
import { callResultText } from '../../src/mcp/serving/faces.ts'
import { pingTool, type Tool } from '../../src/mcp/tool.ts'
import { LEGACY_VERSIONS, negotiateVersion } from '../../src/mcp/wire/versions.ts'
import { serve, toolOf } from './serve.ts'

const INFO = { name: 'ct-agent', version: '1.2.3' }
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const SERVER_META = { 'io.modelcontextprotocol/serverInfo': INFO }
const NO_LIMIT = Number.POSITIVE_INFINITY

const failTool = toolOf('fail', () => {
  throw new CtError('ERR_TOOL_FAILED', 'no paper')
})
const tools: readonly Tool[] = [pingTool, failTool, toolOf('list', () => [1, 2])]

type Speak = (method: string, params?: object) => Promise<Record<string, unknown>>

/** A peer that speaks one version. */
async function speaker(version: string): Promise<Speak> {
  const served = serve({ tools })
  const send = async (method: string, params: object): Promise<Record<string, unknown>> =>
    JSON.parse(await served.ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })))
  if (version === '2026-07-28') return (method, params = {}) => send(method, { ...params, _meta: MODERN_META })
  const hello = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '0' } }
  expect(await send('initialize', hello)).toMatchObject({ result: { protocolVersion: version } })
  return (method, params = {}) => send(method, params)
}

describe('negotiateVersion', () => {
  const rows: readonly [requested: unknown, answered: string][] = [
    ...LEGACY_VERSIONS.map((version): [unknown, string] => [version, version]),
    [undefined, '2024-11-05'],
    [null, '2024-11-05'],
    [7, '2024-11-05'],
    ['2024-10-07', '2024-11-05'],
    ['1.0.0', '2025-11-25'],
    ['', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
  ]
  for (const [requested, answered] of rows) {
    it(`answers ${JSON.stringify(requested)} with ${answered}`, () =>
      expect(negotiateVersion(requested)).toBe(answered))
  }
})

for (const version of [...LEGACY_VERSIONS, '2026-07-28']) {
  describe(`serveMcp, to a client that speaks ${version}`, () => {
    const modern = version === '2026-07-28'

    it('lists tools that standard clients accept (W6)', async () => {
      const speak = await speaker(version)
      const { result } = await speak('tools/list')
      expect(isJsonObject(result)).toBe(true)
      const { tools: list, ...rest } = result as { tools: Record<string, unknown>[] }
      expect(list.map(({ name }) => name)).toEqual(['fail', 'list', 'ping'])
      for (const tool of list) {
        expect(tool['inputSchema']).toMatchObject({ type: 'object', properties: expect.any(Object) })
        expect(Object.values(tool)).not.toContain(null)
        expect(Object.keys(tool)).toEqual(Object.keys(tool).toSorted())
      }
      expect(rest).toEqual(
        modern ? { _meta: SERVER_META, cacheScope: 'private', resultType: 'complete', ttlMs: 0 } : {},
      )
    })

    it('answers a call with content, structured content and the value itself (W6)', async () => {
      const speak = await speaker(version)
      expect((await speak('tools/call', { name: 'ping' }))['result']).toEqual({
        ...(modern ? { _meta: SERVER_META, resultType: 'complete' } : {}),
        content: [{ type: 'text', text: '{"reply":"pong"}' }],
        isError: false,
        reply: 'pong',
        structuredContent: { reply: 'pong' },
      })
    })

    it('wraps a value that is no object', async () => {
      const speak = await speaker(version)
      expect((await speak('tools/call', { name: 'list' }))['result']).toMatchObject({
        content: [{ type: 'text', text: '[1,2]' }],
        structuredContent: { value: [1, 2] },
      })
    })

    it('shows a tool failure as a result that is an error', async () => {
      const speak = await speaker(version)
      expect((await speak('tools/call', { name: 'fail' }))['result']).toMatchObject({
        content: [{ type: 'text', text: 'no paper' }],
        isError: true,
        structuredContent: { code: 'ERR_TOOL_FAILED', message: 'no paper' },
      })
    })

    it('refuses unknown tools and malformed calls with -32602', async () => {
      const speak = await speaker(version)
      const calls = [{ name: 'nope' }, {}, { name: 'ping', arguments: 'text' }, { name: 'ping', arguments: [] }]
      for (const params of calls) expect(await speak('tools/call', params)).toMatchObject({ error: { code: -32602 } })
    })

    it(modern ? 'has no method ping' : 'has the method ping', async () => {
      const speak = await speaker(version)
      expect(await speak('ping')).toMatchObject(modern ? { error: { code: -32601 } } : { result: {} })
    })
  })
}

describe('serveMcp, to a modern client', () => {
  it('tells what it is when asked to', async () => {
    const speak = await speaker('2026-07-28')
    expect((await speak('server/discover'))['result']).toEqual({
      _meta: SERVER_META,
      cacheScope: 'private',
      capabilities: { tools: {} },
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      ttlMs: 0,
    })
  })

  const metas: readonly { name: string; meta: object; code: number; data?: object }[] = [
    {
      name: 'an unknown version',
      meta: { ...MODERN_META, 'io.modelcontextprotocol/protocolVersion': '2030-01-01' },
      code: -32022,
      data: { supported: ['2026-07-28'], requested: '2030-01-01' },
    },
    { name: 'a version that is no string', meta: { 'io.modelcontextprotocol/protocolVersion': 1 }, code: -32602 },
    { name: 'no capabilities', meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }, code: -32602 },
  ]
  for (const { name, meta, code, data } of metas) {
    it(`refuses ${name}`, async () => {
      const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }
      const { error } = JSON.parse(await serve().ask(JSON.stringify(request)))
      expect(error).toMatchObject(data === undefined ? { code } : { code, data })
    })
  }

  it('speaks modern to one request and bare to the next', async () => {
    const served = serve()
    const ask = async (params: object): Promise<unknown> =>
      JSON.parse(await served.ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))).result
    expect(await ask({ name: 'ping', _meta: MODERN_META })).toHaveProperty('resultType')
    expect(await ask({ name: 'ping', _meta: { progressToken: 1 } })).toEqual({ reply: 'pong' })
  })
})

describe('initialize', () => {
  for (const params of ['', ',"params":null', ',"params":{}', ',"params":[]', ',"params":{"protocolVersion":5}']) {
    it(`is lenient with${params === '' ? 'out params' : ` ${params.slice(1)}`}`, async () => {
      expect(await serve().ask(`{"jsonrpc":"2.0","id":0,"method":"initialize"${params}}`)).toBe(
        '{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}},"protocolVersion":"2024-11-05","serverInfo":{"name":"ct-agent","version":"1.2.3"}}}',
      )
    })
  }
})

describe('callResultText', () => {
  const full = (value: JsonValue, limit = NO_LIMIT): Record<string, JsonValue> =>
    JSON.parse(callResultText(value, 'full', INFO, limit))

  it('does not let a value set members that have a meaning of their own', () => {
    const value = { isError: true, _meta: 'x', task: 1, resultType: 'y', inputRequests: 1, requestState: 1, plain: 1 }
    const result = full(value)
    expect(Object.keys(result)).toEqual(['content', 'isError', 'plain', 'structuredContent'])
    expect(result['isError']).toBe(false)
    expect(result['structuredContent']).toEqual(value)
  })

  it('copies a member called __proto__ without setting a prototype', () => {
    const text = callResultText(JSON.parse('{"__proto__":{"polluted":1}}'), 'full', INFO, NO_LIMIT)
    expect(text).toContain('"__proto__":{"polluted":1},')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('passes a result of another MCP server through', () => {
    const value = { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }], isError: true }
    expect(full(value)).toEqual(value)
    expect(JSON.parse(callResultText(value, 'modern', INFO, NO_LIMIT))).toEqual({
      ...value,
      _meta: SERVER_META,
      resultType: 'complete',
    })
  })

  for (const [name, value] of [
    ['content of an unknown type', { content: [{ type: 'hologram' }] }],
    ['content that is a string', { content: 'text' }],
    ['isError that is no boolean', { content: [], isError: 'no' }],
    ['structuredContent that is an array', { content: [], structuredContent: [] }],
    ['_meta that is no object', { content: [], _meta: 'x' }],
  ] as const) {
    it(`wraps a value with ${name}`, () => {
      expect(full(value)).toMatchObject({ content: [{ type: 'text' }], isError: false, structuredContent: value })
    })
  }

  it('shows a string as it is', () => {
    expect(full('a "quoted" word')).toMatchObject({
      content: [{ text: 'a "quoted" word', type: 'text' }],
      structuredContent: { value: 'a "quoted" word' },
    })
  })

  it('gives up the flattened copy first, then the end of the text, never the structured content', () => {
    const value = { output: 'é"\u{1f600}'.repeat(200) }
    const whole = Buffer.byteLength(callResultText(value, 'full', INFO, NO_LIMIT))
    const unflattened = full(value, whole - 1)
    expect(unflattened).not.toHaveProperty('output')
    expect(unflattened['content']).toEqual(full(value)['content'])
    const size = Buffer.byteLength(JSON.stringify(unflattened))
    for (let limit = size - 300; limit < size; limit += 7) {
      const text = callResultText(value, 'full', INFO, limit)
      const { content, structuredContent } = JSON.parse(text)
      expect(structuredContent).toEqual(value)
      expect(content[0].text).toMatch(/ characters; structuredContent has the whole result\]$/)
      expect(content[0].text.isWellFormed()).toBe(true)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit)
      expect(Buffer.byteLength(text)).toBeGreaterThan(limit - 12)
    }
  })

  it('keeps the shape that clients demand for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: JsonValue = JSON.parse(JSON.stringify(value))
        const { content, isError, structuredContent } = full(plain)
        expect(isError === undefined || typeof isError === 'boolean').toBe(true)
        expect(content).toEqual([{ type: 'text', text: expect.any(String) }])
        expect(structuredContent).toEqual(isJsonObject(plain) ? plain : { value: plain })
      }),
    )
  })
})
