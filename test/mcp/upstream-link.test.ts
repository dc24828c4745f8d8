import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { type Tool } from '../../src/mcp/tool.ts'
import { behind, initialize, MODERN, request } from './behind.ts'
import { settle } from './port-pair.ts'
import { serve, toolOf } from './serve.ts'

const METHODS = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
]

describe('what stands behind an agent', () => {
  for (const method of METHODS) {
    it(`answers ${method}, to the digit both ways`, async () => {
      const resultText = '{"b":9007199254740993,"a":1.0,"nextCursor":"x"}'
      const { ask, asked } = behind({ answers: { [method]: { resultText } } })
      const params = '{"uri":"a","n":12345678901234567890}'
      expect(await ask(request(method, params))).toBe(`{"jsonrpc":"2.0","id":1,"result":${resultText}}`)
      expect(asked).toEqual([{ method, params }])
    })

    it(`is not asked ${method} where there is none`, async () => {
      const { ask } = serve()
      expect(await ask(request(method))).toContain('-32601')
    })
  }

  it('answers with errors of its own', async () => {
    const error = { code: -32002, message: 'Resource not found', data: { uri: 'a' } }
    const { ask } = behind({ answers: { 'resources/read': { error } } })
    expect(JSON.parse(await ask(request('resources/read')))).toEqual({ jsonrpc: '2.0', id: 1, error })
  })

  it('fails with a code when it is not there', async () => {
    const failure = new CtError('ERR_SERVER_UNAVAILABLE', 'gone')
    const { ask } = behind({ answers: { 'prompts/list': failure } })
    expect(JSON.parse(await ask(request('prompts/list')))).toMatchObject({
      error: { message: 'gone', data: { code: 'ERR_SERVER_UNAVAILABLE', retryable: true } },
    })
  })

  it('is announced in `initialize`', async () => {
    const { ask } = behind()
    expect(JSON.parse(await ask(initialize()))).toMatchObject({
      result: {
        capabilities: { logging: {}, prompts: { listChanged: true }, resources: { subscribe: true }, tools: {} },
        instructions: 'Be kind.',
      },
    })
  })

  it('is announced in `server/discover`, as far as the newest revision has it', async () => {
    const { ask } = behind()
    const { result } = JSON.parse(await ask(request('server/discover', `{${MODERN}}`)))
    expect(result.capabilities).toEqual({ prompts: {}, resources: {}, tools: {} })
    expect(result.instructions).toBe('Be kind.')
  })

  it('gets what the newest revision asks of results put beside', async () => {
    const { ask } = behind({ answers: { 'resources/list': { resultText: '{"resources":[],"ttlMs":5}' } } })
    const text = await ask(request('resources/list', `{${MODERN}}`))
    expect(text).toContain('"result":{"resultType":"complete","cacheScope":"private","resources":[],"ttlMs":5}')
    expect(await ask(request('prompts/get', `{${MODERN}}`))).toContain('"result":{"resultType":"complete"}')
  })

  for (const method of ['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']) {
    it(`is not asked ${method} in the newest revision, which has it not`, async () => {
      const { ask, asked } = behind()
      expect(await ask(request(method, `{${MODERN}}`))).toContain('-32601')
      expect(asked).toEqual([])
    })
  }

  it('hears of notifications that are not about requests', async () => {
    const { exchange, told } = behind()
    await exchange(
      '{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"n":9007199254740993}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}',
    )
    expect(told).toEqual(['notifications/roots/list_changed {"n":9007199254740993}'])
  })

  it('is left when the link ends', async () => {
    const { pair, closed } = behind()
    pair.cut()
    await settle()
    expect(closed()).toBe(1)
  })
})

describe('tools that stand behind an agent', () => {
  const listed = { name: 'far', inputSchema: { type: 'object' }, icons: [{ src: 'data:,' }] }
  const far = (relay: NonNullable<Tool['relay']>): Tool => toolOf('far', () => 'never', { listed, relay })

  it('are listed beside its own, which win', async () => {
    const own = toolOf('own', () => 1)
    const { ask } = behind({
      tools: [far(async () => ({ resultText: '{}' })), toolOf('own', () => 2, { listed: { name: 'own', far: true } })],
      setup: { tools: [own] },
    })
    await ask(initialize())
    const { result } = JSON.parse(await ask(request('tools/list')))
    expect(result.tools).toEqual([listed, { description: 'tool own', inputSchema: own.inputSchema, name: 'own' }])
    expect(await ask(request('tools/call', '{"name":"own"}'))).toContain('"structuredContent":{"value":1}')
  })

  it('answer as they do, in every face', async () => {
    const resultText = '{"content":[{"type":"x","big":9007199254740993}],"isError":true}'
    const { ask } = behind({ tools: [far(async () => ({ resultText }))] })
    const call = request('tools/call', '{"name":"far"}')
    expect(await ask(call)).toBe(`{"jsonrpc":"2.0","id":1,"result":${resultText}}`)
    expect(await ask(request('tools/call', `{"name":"far",${MODERN}}`))).toContain(
      `"result":{"resultType":"complete",${resultText.slice(1)}`,
    )
    await ask(initialize())
    expect(await ask(call)).toBe(`{"jsonrpc":"2.0","id":1,"result":${resultText}}`)
  })

  it('fail with their own errors, with data', async () => {
    const error = { code: -32042, message: 'go there', data: { elicitations: [1] } }
    const { ask } = behind({ tools: [far(async () => ({ error }))] })
    await ask(initialize())
    expect(JSON.parse(await ask(request('tools/call', '{"name":"far"}')))).toEqual({ jsonrpc: '2.0', id: 1, error })
  })

  it('fail as tools do when the server is gone', async () => {
    const gone = new CtError('ERR_CALL_OUTCOME_UNKNOWN', 'may have run')
    const { ask } = behind({ tools: [far(() => Promise.reject(gone))] })
    const call = request('tools/call', '{"name":"far"}')
    expect(await ask(call)).toContain('"code":"ERR_CALL_OUTCOME_UNKNOWN"')
    await ask(initialize())
    expect(JSON.parse(await ask(call))).toMatchObject({
      result: { isError: true, structuredContent: { code: 'ERR_CALL_OUTCOME_UNKNOWN' } },
    })
  })
})

describe('rights of a member', () => {
  for (const { rights, open } of [
    { rights: 'r', open: ['resources/list', 'resources/templates/list', 'prompts/list'] },
    { rights: 'rw', open: METHODS },
  ] as const) {
    it(`with ${rights} let it ask ${open.length} methods`, async () => {
      const { ask, asked } = behind({ setup: { rights } })
      for (const method of METHODS) {
        const answer = await ask(request(method))
        if (!(open as readonly string[]).includes(method)) expect(answer).toContain('ERR_RIGHTS_MISSING')
      }
      expect(asked.map(({ method }) => method)).toEqual(open)
    })
  }

  it('that may call certain tools let it ask for nothing else', async () => {
    const { ask, asked } = behind({ setup: { allowedTools: new Set(['far']) } })
    for (const method of METHODS) expect(await ask(request(method))).toContain('ERR_TOOL_NOT_ALLOWED')
    expect(asked).toEqual([])
    expect(JSON.parse(await ask(initialize())).result.capabilities).toEqual({ tools: {} })
  })

  it('hide tools behind the agent that it may not call, also those that come later', async () => {
    const tools: Tool[] = []
    const list = (): readonly Tool[] => [...tools]
    const served = serve({
      allowedTools: new Set(['b']),
      upstream: {
        open: () => ({
          capabilities: {},
          tools: {
            get list() {
              return list()
            },
            find: (name) => tools.find((tool) => tool.name === name),
          },
          request: async () => ({ resultText: '{}' }),
          close: () => {},
        }),
      },
    })
    tools.push(
      toolOf('a', () => 1),
      toolOf('b', () => 2),
    )
    const { result } = JSON.parse(await served.ask(request('tools/list')))
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(['b', 'ping'])
    expect(await served.ask(request('tools/call', '{"name":"a"}'))).toContain('ERR_TOOL_NOT_ALLOWED')
  })
})
