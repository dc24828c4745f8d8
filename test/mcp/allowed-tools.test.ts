import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { type JsonValue } from '../../src/core/json.ts'
import { pingTool } from '../../src/mcp/tool.ts'
import { settle } from './port-pair.ts'
import { deferred, type ServeSetup, serve, toolOf } from './serve.ts'

const NAMES = ['agent/card', 'auction/offer', 'service/a', 'service/b'] as const

/** Serves some tools to a peer with these limits; `ran` tells which were executed. */
function served(limits: Pick<ServeSetup, 'rights' | 'allowedTools' | 'freeMethods'>) {
  const ran: string[] = []
  const tools = NAMES.map((name) =>
    toolOf(name, () => {
      ran.push(name)
      return {}
    }),
  )
  const methods = new Map([
    ['own/free', () => ({})],
    ['own/other', () => ({})],
  ])
  return { ...serve({ tools: [pingTool, ...tools], methods, ...limits }), ran }
}

function request(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function codeIn(answer: string): unknown {
  const { error } = JSON.parse(answer) as { error?: { data?: { code?: unknown } } }
  return error?.data?.code
}

function namesIn(list: string): readonly string[] {
  const { result } = JSON.parse(list) as { result: { tools: readonly { name: string }[] } }
  return result.tools.map(({ name }) => name)
}

describe('the tools that a peer may call', () => {
  const allowedTools = new Set(['service/a'])

  it('are all that it sees, beside what says who the agent is', async () => {
    const { ask } = served({ allowedTools })
    expect(namesIn(await ask(request('tools/list')))).toEqual(['agent/card', 'ping', 'service/a'])
  })

  const calls: readonly { readonly name: unknown; readonly code: string | undefined }[] = [
    { name: 'service/a', code: undefined },
    { name: 'ping', code: undefined },
    { name: 'agent/card', code: undefined },
    { name: 'service/b', code: 'ERR_TOOL_NOT_ALLOWED' },
    { name: 'auction/offer', code: 'ERR_TOOL_NOT_ALLOWED' },
    { name: 'no/such/tool', code: 'ERR_TOOL_NOT_ALLOWED' },
    { name: '__proto__', code: 'ERR_TOOL_NOT_ALLOWED' },
  ]
  for (const { name, code } of calls) {
    it(`${code === undefined ? 'include' : 'do not include'} ${String(name)}, by name or by position`, async () => {
      const { ask, ran } = served({ allowedTools })
      for (const params of [{ name }, [name]]) expect(codeIn(await ask(request('tools/call', params)))).toBe(code)
      expect(ran.filter((tool) => tool === name)).toHaveLength(code === undefined && name !== 'ping' ? 2 : 0)
    })
  }

  it('are fewer still where rights are missing', async () => {
    const { ask } = served({ allowedTools, rights: 'r' })
    expect(namesIn(await ask(request('tools/list')))).toEqual(['agent/card', 'ping'])
    expect(codeIn(await ask(request('tools/call', { name: 'service/a' })))).toBe('ERR_RIGHTS_MISSING')
    expect(codeIn(await ask(request('tools/call', { name: 'service/b' })))).toBe('ERR_TOOL_NOT_ALLOWED')
  })

  it('can become others while the link is up, for what is asked from then on', async () => {
    const running = deferred<JsonValue>()
    const tools = NAMES.map((name) => toolOf(name, () => (name === 'service/a' ? running.promise : {})))
    const { link, exchange, ask } = serve({ tools, allowedTools })
    expect(await exchange(request('tools/call', { name: 'service/a' }).replace('1,', '2,'))).toEqual([])
    link.limitTo({ rights: 'rw', allowedTools: new Set(['service/b']) })
    expect(namesIn(await ask(request('tools/list')))).toEqual(['agent/card', 'service/b'])
    expect(codeIn(await ask(request('tools/call', { name: 'service/a' })))).toBe('ERR_TOOL_NOT_ALLOWED')
    running.resolve({})
    await settle()
    link.limitTo({ rights: undefined, allowedTools: undefined })
    expect(namesIn(await ask(request('tools/list')))).toEqual([...NAMES])
  })
})

describe('a free method', () => {
  for (const rights of ['r', 'w'] as const) {
    it(`needs no right, where others do, with the right ${rights}`, async () => {
      const { ask } = served({ rights, freeMethods: new Set(['own/free']) })
      expect(codeIn(await ask(request('own/free')))).toBeUndefined()
      expect(codeIn(await ask(request('own/other')))).toBe(rights === 'r' ? 'ERR_RIGHTS_MISSING' : undefined)
    })
  }
})

describe('a link that is closed with a reason', () => {
  it('answers what runs with it, stops that, and answers nothing afterwards', async () => {
    const aborted: unknown[] = []
    const hanging = toolOf('hang', (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.push(signal.reason))
      return new Promise(() => {})
    })
    const { link, exchange, tell, pair } = serve({ tools: [hanging] })
    const call = (id: number): string =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'hang' } })
    expect(await exchange(call(1))).toEqual([])
    tell(call(2), { instance: 'ab'.repeat(16) as never, sequence: 1, acknowledgedBelow: 1, resent: false })
    await settle()
    const reason = new CtError('ERR_MEMBER_REMOVED', 'the operator removed it')
    link.close(reason)
    await settle()
    const answers = pair.server.texts.map((text) => JSON.parse(text) as { id: number; error: { data: object } })
    expect(answers.map(({ id, error }) => [id, error.data])).toEqual([
      [1, { code: 'ERR_MEMBER_REMOVED', retryable: false }],
      [2, { code: 'ERR_MEMBER_REMOVED', retryable: false }],
    ])
    expect(aborted).toHaveLength(2)
    expect(await exchange(call(3))).toEqual([])
  })
})
