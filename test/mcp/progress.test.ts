import { describe, expect, it } from 'vitest'
import { type InstanceId } from '../../src/core/ids.ts'
import { type CallTag } from '../../src/core/link.ts'
import { createMcpClient } from '../../src/mcp/calling/client.ts'
import { type CallContext } from '../../src/mcp/tool.ts'
import { type Progress } from '../../src/mcp/wire/progress.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { portPair, settle } from './port-pair.ts'
import { deferred, serve, toolOf } from './serve.ts'

/** A tool that the test moves on by hand. */
function working() {
  const contexts: CallContext[] = []
  const ends: ReturnType<typeof deferred<string>>[] = []
  const tool = toolOf('work', (_, context) => {
    const end = deferred<string>()
    contexts.push(context)
    ends.push(end)
    return end.promise
  })
  return {
    tool,
    tell: (progress: Progress, call = 0) => contexts[call]?.progress(progress),
    end: (call = 0) => ends[call]?.resolve('done'),
  }
}

function call(meta: string, id = 1): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"work","_meta":${meta}}}`
}

function progress(token: string, rest: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},${rest}}}`
}

describe('progress of a call, at the serving side,', () => {
  for (const { name, meta, token } of [
    { name: 'a number', meta: '{"progressToken":7}', token: '7' },
    { name: 'zero', meta: '{"progressToken":0}', token: '0' },
    { name: 'a text', meta: '{"progressToken":"a\\u0062"}', token: '"ab"' },
    { name: 'an integer beyond 2^53', meta: '{"progressToken":9007199254740993}', token: '9007199254740993' },
  ]) {
    it(`comes under the token that was sent: ${name}`, async () => {
      const { tool, tell } = working()
      const { exchange, pair } = serve({ tools: [tool] })
      await exchange(call(meta))
      tell({ progress: 1, total: 2, message: 'half' })
      await settle()
      expect(pair.server.texts).toEqual([progress(token, '"progress":1,"total":2,"message":"half"')])
    })
  }

  for (const meta of ['{}', '{"progressToken":null}', '{"progressToken":1.5}', '{"progressToken":{}}', '5', 'null']) {
    it(`is not sent to who did not ask for it: ${meta}`, async () => {
      const { tool, tell } = working()
      const { exchange, pair } = serve({ tools: [tool] })
      await exchange(call(meta))
      tell({ progress: 1 })
      await settle()
      expect(pair.server.texts).toEqual([])
    })
  }

  it('only grows', async () => {
    const { tool, tell } = working()
    const { exchange, pair } = serve({ tools: [tool] })
    await exchange(call('{"progressToken":7}'))
    for (const done of [1, 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1.5]) tell({ progress: done })
    await settle()
    expect(pair.server.texts).toEqual([progress('7', '"progress":1'), progress('7', '"progress":1.5')])
  })

  it('ends with the answer', async () => {
    const { tool, tell, end } = working()
    const { exchange, pair } = serve({ tools: [tool] })
    await exchange(call('{"progressToken":7}'))
    end()
    await settle()
    tell({ progress: 1 })
    await settle()
    expect(pair.server.texts).toEqual(['{"jsonrpc":"2.0","id":1,"result":"done"}'])
  })

  it('ends with a cancelled call', async () => {
    const { tool, tell } = working()
    const { exchange, pair } = serve({ tools: [tool] })
    await exchange(
      call('{"progressToken":7}'),
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    )
    tell({ progress: 1 })
    await settle()
    expect(pair.server.texts).toEqual([])
  })

  it('goes to the link on which the caller now is', async () => {
    const { tool, tell } = working()
    const first = serve({ tools: [tool] })
    const tag: CallTag = { instance: 'ab'.repeat(16) as InstanceId, sequence: 1, acknowledgedBelow: 1, resent: false }
    first.tell(call('{"progressToken":7}'), tag)
    first.pair.cut()
    await settle()
    tell({ progress: 1 })
    const second = serve({ tools: [tool], ledger: first.ledger })
    second.tell(call('{"progressToken":7}'), { ...tag, resent: true })
    tell({ progress: 2 })
    await settle()
    expect(first.pair.server.texts).toEqual([])
    expect(second.pair.server.texts).toEqual([progress('7', '"progress":2')])
  })

  it('is dropped while the peer does not read, and the answer is not', async () => {
    const { tool, tell, end } = working()
    const { exchange, pair } = serve({ tools: [tool], limits: { maxInFlight: 2 } })
    const held = deferred<void>()
    pair.server.send = async (message) => {
      pair.server.sent.push(message)
      await held.promise
    }
    await exchange(call('{"progressToken":7}'))
    for (let done = 1; done <= 100; done += 1) tell({ progress: done })
    end()
    await settle()
    expect(pair.server.sent).toHaveLength(5)
    expect(pair.server.texts.at(-1)).toBe('{"jsonrpc":"2.0","id":1,"result":"done"}')
    held.resolve()
  })
})

describe('progress of a call, at the calling side,', () => {
  function calling() {
    const pair = portPair()
    const client = createMcpClient(pair.caller, { log: silentLog, clock: new FakeClock() })
    const heard: { readonly call: string; readonly progress: Progress }[] = []
    const ask = (name: string, params = {}) =>
      client.request(
        'tools/call',
        { name, ...params },
        { onProgress: (told) => heard.push({ call: name, progress: told }) },
      )
    const say = (text: string): void => pair.caller.deliver(Buffer.from(text))
    return { pair, client, heard, ask, say }
  }

  it('is asked for with the id of the request, beside what else is in `_meta`', async () => {
    const { pair, ask } = calling()
    void ask('a', { _meta: { progressToken: 'x', kept: true } })
    await settle()
    expect(JSON.parse(pair.caller.texts[0] ?? '')).toMatchObject({
      id: 1,
      params: { name: 'a', _meta: { progressToken: 1, kept: true } },
    })
  })

  it('comes to the call that it is of, until that has ended', async () => {
    const { heard, ask, say } = calling()
    const first = ask('a')
    void ask('b')
    await settle()
    say(progress('2', '"progress":0.5,"total":3,"message":"x"'))
    say(progress('1', '"progress":1'))
    say('{"jsonrpc":"2.0","id":1,"result":{}}')
    await first
    say(progress('1', '"progress":2'))
    say(progress('"2"', '"progress":2'))
    say(progress('2', '"progress":"2"'))
    expect(heard).toEqual([
      { call: 'b', progress: { progress: 0.5, total: 3, message: 'x' } },
      { call: 'a', progress: { progress: 1 } },
    ])
  })
})
