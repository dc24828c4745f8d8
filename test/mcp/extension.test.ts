import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { toJsonValue } from '../../src/core/exact-json.ts'
import { generateInstanceId } from '../../src/core/keys.ts'
import { type ExtensionMethod } from '../../src/mcp/serving/extension.ts'
import { settle } from './port-pair.ts'
import { deferred, recordingLog, serve } from './serve.ts'

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'

function ask(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function only(method: ExtensionMethod): ReadonlyMap<string, ExtensionMethod> {
  return new Map([['own/method', method]])
}

describe('methods beside those of MCP', () => {
  for (const [face, params] of [
    ['bare', {}],
    ['full', {}],
    ['modern', { _meta: MODERN_META }],
  ] as const) {
    it(`answer with their bare value, at once or late, in the ${face} face`, async () => {
      const value = toJsonValue({ units: 18_446_744_073_709_551_615n })
      for (const method of [() => value, () => Promise.resolve(value)]) {
        const served = serve({ methods: only(method) })
        if (face === 'full') await served.ask(INITIALIZE)
        expect(await served.ask(ask('own/method', params))).toBe(
          '{"jsonrpc":"2.0","id":1,"result":{"units":18446744073709551615}}',
        )
      }
    })
  }

  it('are given the parameters, the caller and a live signal', async () => {
    const seen: unknown[] = []
    const served = serve({
      methods: only((params, { peer, callId, signal, paramsText }) => {
        seen.push({ params, peer, callId, aborted: signal.aborted, paramsText })
        return true
      }),
    })
    await served.ask(ask('own/method', { a: 1 }))
    await served.ask('{"jsonrpc":"2.0","id":2,"method":"own/method"}')
    const who = { peer: 'bb'.repeat(32), aborted: false }
    expect(seen).toEqual([
      { params: { a: 1 }, ...who, callId: 'random-id-1', paramsText: '{"a":1}' },
      { params: undefined, ...who, callId: 'random-id-2', paramsText: '{}' },
    ])
  })

  const failures: readonly { name: string; error: CtError; answer: object }[] = [
    {
      name: 'a failure with a reason',
      error: new CtError('ERR_TOOL_FAILED', 'sold out', { detail: { reason: 'over-capacity' } }),
      answer: {
        code: -32000,
        message: 'sold out',
        data: { code: 'ERR_TOOL_FAILED', retryable: false, reason: 'over-capacity' },
      },
    },
    {
      name: 'a failure whose reason is no text',
      error: new CtError('ERR_PEER_BUSY', 'busy', { detail: { reason: 7, secret: 'x' } }),
      answer: { code: -32000, message: 'busy', data: { code: 'ERR_PEER_BUSY', retryable: true } },
    },
  ]
  for (const { name, error, answer } of failures) {
    for (const late of [false, true]) {
      it(`report ${name}, thrown ${late ? 'late' : 'at once'}, with its code`, async () => {
        const method: ExtensionMethod = () => {
          if (late) return Promise.reject(error)
          throw error
        }
        expect(JSON.parse(await serve({ methods: only(method) }).ask(ask('own/method'))).error).toEqual(answer)
      })
    }
  }

  const crashes: readonly { name: string; method: ExtensionMethod }[] = [
    {
      name: 'throw what was not meant for the peer',
      method: () => {
        throw new Error('password=hunter2')
      },
    },
    { name: 'reject with it', method: () => Promise.reject(new Error('password=hunter2')) },
  ]
  for (const { name, method } of crashes) {
    it(`keep it in the log when they ${name}`, async () => {
      const { log, lines } = recordingLog()
      const answer = await serve({ methods: only(method), log }).ask(ask('own/method', { name: 'ping' }))
      expect(answer).not.toContain('hunter2')
      const { code, data } = JSON.parse(answer).error
      expect({ code, data }).toMatchObject({ code: -32603, data: { code: 'ERR_INTERNAL', reference: 'random-i' } })
      expect(lines).toMatchObject([
        { event: 'mcp.tool_crashed', facts: { method: 'own/method', reference: 'random-i' } },
      ])
      expect(lines[0]?.facts['reason']).toContain('hunter2')
    })
  }

  it('answer with an error for a value that is no JSON, or too deep', async () => {
    let deep: readonly unknown[] = []
    for (let level = 0; level < 300; level += 1) deep = [deep]
    const values: readonly unknown[] = [10n, deep]
    for (const value of values) {
      const served = serve({ methods: only(() => value as string) })
      expect(JSON.parse(await served.ask(ask('own/method')))).toMatchObject({ id: 1, error: { code: -32603 } })
    }
  })

  it('keep within the limit of the peer', async () => {
    const served = serve({ methods: only(() => 'x'.repeat(1_000)), toCaller: 500 })
    expect(JSON.parse(await served.ask(ask('own/method')))).toMatchObject({
      error: { data: { code: 'ERR_MESSAGE_TOO_LARGE' } },
    })
  })

  it('leave unknown methods and notifications as they are', async () => {
    let runs = 0
    const served = serve({
      methods: only(() => {
        runs += 1
        return null
      }),
    })
    for (const method of ['own/other', 'own', 'constructor', '__proto__']) {
      expect(JSON.parse(await served.ask(ask(method))).error).toEqual({
        code: -32601,
        message: `unknown method \`${method}\``,
      })
    }
    expect(await served.exchange('{"jsonrpc":"2.0","method":"own/method"}')).toEqual([])
    expect(runs).toBe(0)
  })

  for (const name of ['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call']) {
    it(`cannot take the name ${name}`, () => {
      expect(() => serve({ methods: new Map([[name, () => null]]) })).toThrow(RangeError)
    })
  }

  it('run again when a caller asks again and nothing is known of the first time', async () => {
    let runs = 0
    const served = serve({
      methods: only(() => {
        runs += 1
        return runs
      }),
    })
    served.tell(ask('own/method'), { instance: generateInstanceId(), sequence: 5, acknowledgedBelow: 1, resent: true })
    await settle()
    expect(served.pair.server.texts).toEqual(['{"jsonrpc":"2.0","id":1,"result":1}'])
  })

  it('are stopped when the caller cancels', async () => {
    const gate = deferred<null>()
    let signal: AbortSignal | undefined
    const served = serve({
      methods: only((_, context) => {
        signal = context.signal
        return gate.promise
      }),
    })
    await served.exchange(ask('own/method'))
    await served.exchange('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    expect(signal?.aborted).toBe(true)
    gate.resolve(null)
    await settle()
    expect(served.pair.server.texts).toEqual([])
  })
})
