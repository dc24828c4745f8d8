import { describe, expect, it } from 'vitest'
import { pingTool } from '../../src/mcp/tool.ts'
import { settle } from './port-pair.ts'
import { deferred, serve, toolOf } from './serve.ts'

const PONG = '{"jsonrpc":"2.0","id":1,"result":{"reply":"pong"}}'

function call(id: string, name: string, args = ''): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(name)}${args}}}`
}

function pingAs(id: string): string {
  return call(id, 'ping')
}

describe('serveMcp, limits and endings', () => {
  it('refuses more requests in flight than it allows, with a reason', async () => {
    const gate = deferred<string>()
    const served = serve({ tools: [toolOf('slow', () => gate.promise)], limits: { maxInFlight: 3 } })
    const answers = await served.exchange(...['1', '2', '3', '4'].map((id) => call(id, 'slow')))
    expect(answers.map((text) => JSON.parse(text))).toMatchObject([
      { id: 4, error: { data: { code: 'ERR_PEER_BUSY', retryable: true } } },
    ])
    expect(served.link.inFlight).toBe(3)
    gate.resolve('x')
    await settle()
    expect(served.link.inFlight).toBe(0)
    expect(JSON.parse(await served.ask(call('4', 'slow')))).toMatchObject({ id: 4, result: 'x' })
  })

  it('counts cancelled calls until their tool lets go', async () => {
    const served = serve({ tools: [toolOf('deaf', () => new Promise(() => {}))], limits: { maxInFlight: 2 } })
    for (const id of ['1', '2']) {
      await served.exchange(call(id, 'deaf'))
      await served.exchange(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`)
    }
    expect(served.link.inFlight).toBe(0)
    expect(JSON.parse(await served.ask(call('3', 'deaf')))).toMatchObject({
      error: { data: { code: 'ERR_PEER_BUSY' } },
    })
  })

  it('answers a message above its limit under its id, and keeps the session (W7)', async () => {
    const served = serve({ toServer: 400 })
    const large = `{"id":5,"jsonrpc":"2.0","method":"tools/call","params":{"name":"ping","arguments":"${'x'.repeat(400)}"}}`
    expect(JSON.parse(await served.ask(large))).toMatchObject({
      id: 5,
      error: { code: -32600, data: { code: 'ERR_MESSAGE_TOO_LARGE', retryable: false } },
    })
    expect(await served.ask(pingAs('1'))).toBe(PONG)
  })

  it('answers a message above its limit under null when the id comes late', async () => {
    const large = `{"jsonrpc":"2.0","method":"tools/call","params":{"arguments":"${'x'.repeat(500)}"},"id":5}`
    expect(JSON.parse(await serve({ toServer: 400 }).ask(large))).toMatchObject({ id: null, error: { code: -32600 } })
  })

  it('does not answer a response above its limit', async () => {
    const large = `{"jsonrpc":"2.0","id":5,"result":"${'x'.repeat(500)}"}`
    expect(await serve({ toServer: 400 }).exchange(large)).toEqual([])
  })

  it('answers with size and limit instead of a result that the peer would not accept (W7)', async () => {
    const served = serve({ tools: [toolOf('big', () => 'é'.repeat(500)), pingTool], toCaller: 600 })
    const { id, error } = JSON.parse(await served.ask(call('5', 'big')))
    expect(id).toBe(5)
    expect(error.data.code).toBe('ERR_MESSAGE_TOO_LARGE')
    expect(error.message).toMatch(/1036 bytes.*600/)
    expect(await served.ask(pingAs('1'))).toBe(PONG)
  })

  it('answers every member of a batch whose answers are too large together', async () => {
    const served = serve({ tools: [toolOf('half', () => 'x'.repeat(500))], toCaller: 800 })
    const answer = JSON.parse(await served.ask(`[${call('1', 'half')},${call('2', 'half')}]`))
    expect(answer).toMatchObject([
      { id: 1, error: { data: { code: 'ERR_MESSAGE_TOO_LARGE' } } },
      { id: 2, error: { data: { code: 'ERR_MESSAGE_TOO_LARGE' } } },
    ])
  })

  it('carries a result just as large as the peer accepts', async () => {
    const served = serve({ tools: [toolOf('full', () => 'x'.repeat(600 - 36))], toCaller: 600 })
    expect(Buffer.byteLength(await served.ask(call('5', 'full')))).toBe(600)
  })

  for (const id of ['0', '"a"', '7']) {
    it(`aborts the call ${id} when it is cancelled and answers nothing`, async () => {
      let reason: unknown
      const gate = deferred<string>()
      const wait = toolOf('wait', (_, { signal }) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason
        })
        return gate.promise
      })
      const served = serve({ tools: [wait] })
      await served.exchange(call(id, 'wait'))
      const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"why"}}`
      expect(await served.exchange(cancel)).toEqual([])
      expect(reason).toMatchObject({ code: 'ERR_CALL_CANCELLED' })
      gate.resolve('too late')
      await settle()
      expect(served.pair.server.texts).toEqual([])
    })
  }

  it('answers the rest of a batch when one member was cancelled', async () => {
    const gate = deferred<string>()
    const served = serve({ tools: [toolOf('slow', () => gate.promise), pingTool] })
    expect(await served.exchange(`[${call('2', 'slow')},${pingAs('1')}]`)).toEqual([])
    expect(
      await served.exchange('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}'),
    ).toEqual([`[${PONG}]`])
  })

  for (const params of [
    'null',
    '{}',
    '[]',
    '{"requestId":null}',
    '{"requestId":{}}',
    '{"requestId":1.5}',
    '{"requestId":"1"}',
  ]) {
    it(`cancels nothing for params ${params}`, async () => {
      const gate = deferred<string>()
      const served = serve({ tools: [toolOf('slow', () => gate.promise)] })
      await served.exchange(call('1', 'slow'))
      expect(await served.exchange(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)).toEqual(
        [],
      )
      gate.resolve('ok')
      await settle()
      expect(served.pair.server.texts).toEqual(['{"jsonrpc":"2.0","id":1,"result":"ok"}'])
    })
  }

  for (const end of ['cut', 'leave'] as const) {
    it(`aborts untagged calls at once when the link ends (${end})`, async () => {
      let aborted = false
      const wait = toolOf('wait', (_, { signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true
        })
        return new Promise(() => {})
      })
      const served = serve({ tools: [wait] })
      await served.exchange(call('1', 'wait'))
      served.pair[end]()
      await settle()
      expect(aborted).toBe(true)
      expect(served.link.inFlight).toBe(0)
    })
  }

  it('drains: refuses what is new, answers what runs, then resolves', async () => {
    const gate = deferred<string>()
    const served = serve({ tools: [toolOf('slow', () => gate.promise), pingTool] })
    await served.exchange(call('1', 'slow'))
    let drained = false
    const done = served.link.drain().then(() => {
      drained = true
    })
    expect(JSON.parse(await served.ask(pingAs('2')))).toMatchObject({
      id: 2,
      error: { data: { code: 'ERR_PEER_SHUTDOWN', retryable: true } },
    })
    expect(drained).toBe(false)
    gate.resolve('done')
    await done
    expect(served.pair.server.texts.at(-1)).toBe('{"jsonrpc":"2.0","id":1,"result":"done"}')
  })

  it('drains no longer than its signal allows', async () => {
    const served = serve({ tools: [toolOf('slow', () => new Promise(() => {}))] })
    await served.exchange(call('1', 'slow'))
    await served.link.drain(AbortSignal.abort())
    expect(served.link.inFlight).toBe(1)
  })

  it('drains at once when the link is gone', async () => {
    const served = serve({ tools: [toolOf('slow', () => new Promise(() => {}))] })
    await served.exchange(call('1', 'slow'))
    served.pair.cut()
    await settle()
    await served.link.drain()
  })
})
