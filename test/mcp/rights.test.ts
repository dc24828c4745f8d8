import { describe, expect, it } from 'vitest'
import { generateInstanceId } from '../../src/core/keys.ts'
import { type Rights } from '../../src/core/rights.ts'
import { type ExtensionMethods } from '../../src/mcp/serving/extension.ts'
import { pingTool } from '../../src/mcp/tool.ts'
import { settle } from './port-pair.ts'
import { serve, toolOf } from './serve.ts'

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const ALL_RIGHTS: readonly (Rights | undefined)[] = ['r', 'w', 'rw', undefined]

/** Serves tools of all kinds to a peer with these rights; `ran` tells which were executed. */
function served(rights: Rights | undefined) {
  const ran: string[] = []
  const tools = ['agent/card', 'auction/offer', 'auction/bid', 'service/translate'].map((name) =>
    toolOf(name, () => {
      ran.push(name)
      return {}
    }),
  )
  const methods: ExtensionMethods = new Map([
    [
      'ct-agent/receipt',
      () => {
        ran.push('ct-agent/receipt')
        return {}
      },
    ],
  ])
  return { ...serve({ tools: [pingTool, ...tools], methods, rights }), ran }
}

function request(method: string, params: object = {}, id = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

function callOf(name: string): string {
  return request('tools/call', { name })
}

const modern = (method: string): string => request(method, { _meta: MODERN_META })

const rows: readonly { readonly name: string; readonly message: string; readonly needs: 'r' | 'w' }[] = [
  { name: 'initialize', message: request('initialize'), needs: 'r' },
  { name: 'ping', message: request('ping'), needs: 'r' },
  { name: 'server/discover', message: modern('server/discover'), needs: 'r' },
  { name: 'tools/list', message: request('tools/list'), needs: 'r' },
  { name: 'tools/list of the newest revision', message: modern('tools/list'), needs: 'r' },
  { name: 'the tool ping', message: callOf('ping'), needs: 'r' },
  { name: 'the tool ping by position', message: request('tools/call', ['ping']), needs: 'r' },
  { name: 'agent/card', message: callOf('agent/card'), needs: 'r' },
  { name: 'auction/offer', message: callOf('auction/offer'), needs: 'r' },
  { name: 'auction/bid', message: callOf('auction/bid'), needs: 'w' },
  { name: 'a service', message: callOf('service/translate'), needs: 'w' },
  { name: 'a service by position', message: request('tools/call', ['service/translate', {}]), needs: 'w' },
  { name: 'the method of receipts', message: request('ct-agent/receipt'), needs: 'w' },
]

describe('the rights of a member', () => {
  for (const rights of ALL_RIGHTS) {
    for (const { name, message, needs } of rows) {
      const allowed = rights === undefined || rights.includes(needs)
      it(`that are ${rights ?? 'not limited'} ${allowed ? 'allow' : 'do not allow'} ${name}`, async () => {
        const { ask, ran } = served(rights)
        const answer: unknown = JSON.parse(await ask(message))
        if (allowed) {
          expect(answer).toHaveProperty('result')
        } else {
          expect(answer).toEqual({
            jsonrpc: '2.0',
            id: 1,
            error: {
              code: -32_000,
              message: `this needs the right ${needs}, and the grant gives ${rights}`,
              data: { code: 'ERR_RIGHTS_MISSING', retryable: false },
            },
          })
          expect(ran).toEqual([])
        }
      })
    }
  }

  const lists: readonly { readonly rights: Rights | undefined; readonly names: readonly string[] }[] = [
    { rights: 'r', names: ['agent/card', 'auction/offer', 'ping'] },
    { rights: 'rw', names: ['agent/card', 'auction/bid', 'auction/offer', 'ping', 'service/translate'] },
    { rights: undefined, names: ['agent/card', 'auction/bid', 'auction/offer', 'ping', 'service/translate'] },
  ]
  for (const { rights, names } of lists) {
    it(`that are ${rights ?? 'not limited'} show ${names.length} tools, in every face`, async () => {
      const { ask } = served(rights)
      for (const message of [request('tools/list'), modern('tools/list')]) {
        const { result } = JSON.parse(await ask(message)) as { result: { tools: { name: string }[] } }
        expect(result.tools.map(({ name }) => name)).toEqual(names)
      }
    })
  }

  it('hold for the list after a change, and for the calls that the right to write allows all the same', async () => {
    const { ask, ran, link } = served('rw')
    expect(await ask(request('tools/list'))).toContain('service/translate')
    link.limitTo({ rights: 'w' })
    expect(await ask(request('tools/list'))).toContain('ERR_RIGHTS_MISSING')
    expect(await ask(callOf('service/translate'))).toContain('result')
    expect(ran).toEqual(['service/translate'])
  })

  it('say of a hidden tool and of none the same, so that hiding hides', async () => {
    const { ask } = served('r')
    expect(await ask(callOf('service/none'))).toBe(await ask(callOf('service/translate')))
  })

  it('leave to other rules what is no call of anything', async () => {
    for (const rights of ALL_RIGHTS) {
      const { ask } = served(rights)
      expect(await ask(request('no/such'))).toContain('"code":-32601')
      expect(await ask(request('tools/call'))).toContain('"code":-32602')
    }
  })

  it('hold in a batch, for each of its members', async () => {
    const { ask, ran } = served('r')
    const batch = `[${request('tools/call', { name: 'service/translate' }, 1)},${request('tools/call', { name: 'agent/card' }, 2)}]`
    const answers = JSON.parse(await ask(batch)) as { id: number; error?: { code: number } }[]
    expect(answers.find(({ id }) => id === 1)?.error?.code).toBe(-32_000)
    expect(answers.find(({ id }) => id === 2)?.error).toBeUndefined()
    expect(ran).toEqual(['agent/card'])
  })

  it('hold for notifications: nothing is executed', async () => {
    const { exchange, ran } = served('r')
    const silent = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"service/translate"}}'
    expect(await exchange(silent)).toEqual([])
    expect(ran).toEqual([])
  })

  it('hold for a call with a tag, which stays unexecuted when it is sent again', async () => {
    const { pair, tell, ran } = served('r')
    const tag = { instance: generateInstanceId(), sequence: 1, acknowledgedBelow: 1, resent: false }
    tell(callOf('service/translate'), tag)
    tell(callOf('service/translate'), { ...tag, resent: true })
    await settle()
    expect(pair.server.texts).toHaveLength(2)
    expect(pair.server.texts[0]).toContain('ERR_RIGHTS_MISSING')
    expect(ran).toEqual([])
  })

  it('of an initialized member are refused in the same words', async () => {
    const { ask, ran } = served('r')
    await ask(request('initialize'))
    expect(JSON.parse(await ask(callOf('service/translate')))).toMatchObject({
      error: { code: -32_000, data: { code: 'ERR_RIGHTS_MISSING' } },
    })
    expect(ran).toEqual([])
  })
})
