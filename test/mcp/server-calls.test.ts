import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { pingTool } from '../../src/mcp/tool.ts'
import { settle } from './port-pair.ts'
import { deferred, recordingLog, serve, toolOf } from './serve.ts'

const PONG = '{"jsonrpc":"2.0","id":1,"result":{"reply":"pong"}}'

function call(id: string, name: string, args = ''): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(name)}${args}}}`
}

function pingAs(id: string): string {
  return call(id, 'ping')
}

describe('serveMcp, calling tools', () => {
  it('answers for a tool whose result is too deep to write', async () => {
    let deep: readonly unknown[] = []
    for (let level = 0; level < 50_000; level += 1) deep = [deep]
    const served = serve({ tools: [toolOf('deep', () => deep as readonly string[])] })
    expect(JSON.parse(await served.ask(call('1', 'deep')))).toMatchObject({ id: 1, error: { code: -32603 } })
  })

  it('answers for tools whose result is no JSON', async () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    const results: readonly unknown[] = [undefined, 10n, loop, Symbol('s'), () => 1]
    const tools = results.map((value, index) => toolOf(`t${index}`, () => value as string))
    const served = serve({ tools })
    for (const { name } of tools) {
      expect(JSON.parse(await served.ask(call('1', name)))).toMatchObject({ jsonrpc: '2.0', id: 1 })
    }
  })

  it('refuses a second request with an id in flight and answers the first (no first-match routing)', async () => {
    const first = deferred<string>()
    const served = serve({ tools: [toolOf('slow', () => first.promise), pingTool] })
    const answers = await served.exchange(call('1', 'slow'), pingAs('1'), pingAs('"1"'))
    expect(answers.map((text) => JSON.parse(text))).toMatchObject([
      { id: 1, error: { code: -32600, message: expect.stringContaining('in flight') } },
      { id: '1', result: { reply: 'pong' } },
    ])
    first.resolve('done')
    await settle()
    expect(served.pair.server.texts.at(-1)).toBe('{"jsonrpc":"2.0","id":1,"result":"done"}')
  })

  it('takes an id again once it was answered', async () => {
    const served = serve()
    for (let round = 0; round < 3; round += 1) expect(await served.ask(pingAs('1'))).toBe(PONG)
  })

  it('keeps links apart that use the same ids', async () => {
    const gate = deferred<string>()
    const callers: string[] = []
    const tools = [
      toolOf('who', async (_, { peer }) => {
        callers.push(peer)
        return gate.promise.then((text) => text + peer.slice(0, 2))
      }),
    ]
    const one = serve({ tools })
    const two = serve({ tools, ledger: one.ledger })
    await one.exchange(call('1', 'who'))
    await two.exchange(call('1', 'who'))
    one.pair.cut()
    gate.resolve('hello ')
    await settle()
    expect(one.pair.server.texts).toEqual([])
    expect(two.pair.server.texts).toEqual(['{"jsonrpc":"2.0","id":1,"result":"hello bb"}'])
  })

  it('answers in the order of completion', async () => {
    const gate = deferred<string>()
    const served = serve({ tools: [toolOf('slow', () => gate.promise), pingTool] })
    expect(await served.exchange(call('2', 'slow'), pingAs('1'))).toEqual([PONG])
    gate.resolve('late')
    await settle()
    expect(served.pair.server.texts).toHaveLength(2)
  })

  it('keeps answering others while a handler takes its time (W24)', async () => {
    const gate = deferred<string>()
    const served = serve({ tools: [toolOf('slow', () => gate.promise), pingTool] })
    await served.exchange(call('9', 'slow'))
    for (let round = 0; round < 100; round += 1) expect(await served.ask(pingAs('1'))).toBe(PONG)
    gate.resolve('in the end')
    await settle()
    expect(served.pair.server.texts.at(-1)).toBe('{"jsonrpc":"2.0","id":9,"result":"in the end"}')
  })

  it('hands a tool failure to the peer as it is', async () => {
    const fail = toolOf('fail', () => Promise.reject(new CtError('ERR_TOOL_FAILED', 'no paper')))
    expect(await serve({ tools: [fail] }).ask(call('1', 'fail'))).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no paper"}}',
    )
  })

  it('adds the code where the original has no such error', async () => {
    const busy = toolOf('busy', () => Promise.reject(new CtError('ERR_PEER_BUSY', 'all workers are busy')))
    expect(JSON.parse(await serve({ tools: [busy] }).ask(call('1', 'busy'))).error).toEqual({
      code: -32000,
      message: 'all workers are busy',
      data: { code: 'ERR_PEER_BUSY', retryable: true },
    })
  })

  for (const [name, thrown] of [
    ['an Error', new Error('password=hunter2')],
    ['a string', 'password=hunter2'],
    ['undefined', undefined],
  ] as const) {
    for (const late of [false, true]) {
      it(`keeps ${name} thrown ${late ? 'late' : 'at once'} in the log and gives a reference (W43)`, async () => {
        const { log, lines } = recordingLog()
        const crash = toolOf('crash', () => {
          if (late) return Promise.reject(thrown as Error)
          throw thrown as Error
        })
        const answer = await serve({ tools: [crash], log }).ask(call('1', 'crash'))
        expect(answer).not.toContain('hunter2')
        const { code, message, data } = JSON.parse(answer).error
        expect(code).toBe(-32603)
        expect(data).toMatchObject({ code: 'ERR_INTERNAL', retryable: false })
        expect(message).toContain(data.reference)
        expect(lines).toMatchObject([
          { level: 'error', event: 'mcp.tool_crashed', facts: { reference: data.reference } },
        ])
        if (thrown !== undefined) expect(lines[0]?.facts['reason']).toContain('hunter2')
      })
    }
  }

  it('gives a tool the caller, a name of the call, and a live signal', async () => {
    const seen: unknown[] = []
    const look = toolOf('look', (args, { peer, callId, signal }) => {
      seen.push({ args, peer, callId, aborted: signal.aborted })
      return null
    })
    const served = serve({ tools: [look] })
    await served.exchange(
      call('1', 'look'),
      call('2', 'look', ',"arguments":null'),
      call('3', 'look', ',"arguments":{"a":1}'),
    )
    const peer = 'bb'.repeat(32)
    expect(seen).toEqual([
      { args: {}, peer, callId: 'random-id-1', aborted: false },
      { args: {}, peer, callId: 'random-id-2', aborted: false },
      { args: { a: 1 }, peer, callId: 'random-id-3', aborted: false },
    ])
  })
})
