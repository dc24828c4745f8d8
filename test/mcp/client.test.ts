import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { CtError, ERROR_CODES } from '../../src/core/errors.ts'
import { createMcpClient, type McpClient } from '../../src/mcp/calling/client.ts'
import { resultOf } from '../../src/mcp/wire/answer.ts'
import { FakeClock } from './fake-clock.ts'
import { type PortPair, portPair, settle } from './port-pair.ts'
import { type LogLine, recordingLog } from './serve.ts'

interface Setup {
  readonly client: McpClient
  readonly pair: PortPair
  readonly clock: FakeClock
  readonly lines: readonly LogLine[]
  /** Lets the peer send a text. */
  readonly reply: (text: string) => Promise<void>
}

function setUp(limits: { toCaller?: number; toServer?: number } = {}): Setup {
  const pair = portPair(limits)
  const clock = new FakeClock()
  const { log, lines } = recordingLog()
  const client = createMcpClient(pair.caller, { log, clock })
  const reply = async (text: string): Promise<void> => {
    pair.caller.deliver(encodeUtf8(text))
    await settle()
  }
  return { client, pair, clock, lines, reply }
}

/** What became of a promise by now. */
function watch(promise: Promise<unknown>): { state: string } {
  const watched = { state: 'pending' }
  promise.then(
    () => {
      watched.state = 'resolved'
    },
    (error: CtError) => {
      watched.state = error.code
    },
  )
  return watched
}

async function errorOf(promise: Promise<unknown>): Promise<CtError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof CtError)) throw new Error(`expected a CtError, found ${String(error)}`)
  return error
}

describe('createMcpClient', () => {
  it('sends requests in the form of the original, with ids from 1', async () => {
    const { client, pair } = setUp()
    watch(client.request('tools/list'))
    watch(client.request('tools/call', { arguments: { input: 'x' }, name: 'service/a' }))
    await settle()
    expect(pair.caller.texts).toEqual([
      '{"id":1,"jsonrpc":"2.0","method":"tools/list","params":null}',
      '{"id":2,"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"input":"x"},"name":"service/a"}}',
    ])
  })

  it('yields the response as it was sent and its result, in any order', async () => {
    const { client, reply } = setUp()
    const first = client.request('a')
    const second = client.request('b')
    await reply('{ "result": [2], "id": 2, "jsonrpc": "2.0" }')
    await reply('{"jsonrpc":"2.0","id":1,"result":null}')
    expect(await second).toEqual({ text: '{ "result": [2], "id": 2, "jsonrpc": "2.0" }', result: [2] })
    expect(resultOf(await first)).toBeNull()
    expect(client.inFlight).toBe(0)
  })

  const errors: readonly { name: string; error: object; code: string }[] = [
    { name: 'a tool failure', error: { code: -32000, message: 'm' }, code: 'ERR_TOOL_FAILED' },
    { name: 'an unknown tool', error: { code: -32602, message: 'unknown tool `x`' }, code: 'ERR_TOOL_UNKNOWN' },
    {
      name: 'an unknown tool of an official SDK',
      error: { code: -32602, message: 'Unknown tool: x' },
      code: 'ERR_TOOL_UNKNOWN',
    },
    { name: 'a malformed call', error: { code: -32602, message: 'tools/call requires…' }, code: 'ERR_CALL_INVALID' },
    { name: 'an unknown method', error: { code: -32601, message: 'm' }, code: 'ERR_CALL_INVALID' },
    { name: 'an invalid request', error: { code: -32600, message: 'm' }, code: 'ERR_PROTOCOL' },
    { name: 'a parse error', error: { code: -32700, message: 'm' }, code: 'ERR_PROTOCOL' },
    { name: 'an internal error', error: { code: -32603, message: 'm' }, code: 'ERR_TOOL_FAILED' },
    { name: 'an unsupported version', error: { code: -32022, message: 'm' }, code: 'ERR_VERSION_UNSUPPORTED' },
    { name: 'a number of its own', error: { code: 5.5, message: '' }, code: 'ERR_TOOL_FAILED' },
    {
      name: 'a code of ours',
      error: { code: -1, message: 'm', data: { code: 'ERR_PEER_BUSY' } },
      code: 'ERR_PEER_BUSY',
    },
    {
      name: 'a code that is none',
      error: { code: -32000, message: 'm', data: { code: 'toString' } },
      code: 'ERR_TOOL_FAILED',
    },
    {
      name: 'a code about its own machine',
      error: { code: -32000, message: 'm', data: { code: 'ERR_CONFIG_INVALID' } },
      code: 'ERR_TOOL_FAILED',
    },
    {
      name: 'data that is no object',
      error: { code: -32000, message: 'm', data: 'ERR_PEER_BUSY' },
      code: 'ERR_TOOL_FAILED',
    },
  ]
  for (const { name, error, code } of errors) {
    it(`reads ${name} as ${code}`, async () => {
      const { client, reply } = setUp()
      const asked = client.request('a')
      await reply(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
      const answer = await asked
      expect(answer).toMatchObject({ error: { code } })
      expect(() => resultOf(answer)).toThrow(CtError)
    })
  }

  it("does not believe a peer's word on whether to call again", async () => {
    const { client, reply } = setUp()
    const asked = client.request('a')
    await reply(
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"code":"ERR_PROTOCOL","retryable":true}}}',
    )
    expect(await asked).toMatchObject({ error: { facts: ERROR_CODES.ERR_PROTOCOL } })
  })

  it('quotes no character of a message it cannot read that could steer a terminal', async () => {
    const { client, reply } = setUp()
    const asked = errorOf(client.request('a'))
    await reply('\u001b]0;\u009b\u202ehi')
    const { code, message } = await asked
    expect(code).toBe('ERR_PROTOCOL')
    expect(message).not.toMatch(/\p{C}/u)
  })

  it('shows no message that could steer a terminal or flood it', async () => {
    const { client, reply } = setUp()
    const asked = client.request('a')
    const message = `\u001b[31mred\r\n\u202egnp.exe\u0000${'x'.repeat(100_000)}`
    await reply(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } }))
    const answer = await asked
    const shown = 'error' in answer ? answer.error.message : ''
    expect(shown.slice(0, 20)).toBe('[31mred gnp.exe xxxx')
    expect(shown.length).toBeLessThan(2_100)
  })

  it('rejects everything with the reason of the link when it ends', async () => {
    const { client, pair } = setUp()
    const both = [client.request('a'), client.request('b')]
    pair.cut()
    for (const asked of both) expect((await errorOf(asked)).code).toBe('ERR_LINK_LOST')
    expect((await errorOf(client.request('c'))).code).toBe('ERR_LINK_LOST')
    expect((await client.closed).final).toBe(false)
  })

  it('rejects everything when it is closed', async () => {
    const { client } = setUp()
    const asked = client.request('a')
    client.close()
    expect((await errorOf(asked)).code).toBe('ERR_LINK_CLOSED')
  })

  it('gives up after the time limit, tells the peer, and ignores the late answer', async () => {
    const { client, pair, clock, reply, lines } = setUp()
    const asked = client.request('slow', undefined, { timeoutMs: 1_000 })
    const other = watch(client.request('other'))
    const watched = watch(asked)
    await settle()
    clock.advance(999)
    await settle()
    expect(watched.state).toBe('pending')
    clock.advance(1)
    expect((await errorOf(asked)).code).toBe('ERR_TIMEOUT')
    expect(pair.caller.texts.at(-1)).toBe(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"ERR_TIMEOUT","requestId":1}}',
    )
    await reply('{"jsonrpc":"2.0","id":1,"result":"late"}')
    await reply(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"unknown method `notifications/cancelled`"}}',
    )
    expect(other.state).toBe('pending')
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([])
    expect(clock.timers).toBe(0)
  })

  for (const kind of ['signal', 'shared'] as const) {
    it(`gives up when the ${kind} signal aborts`, async () => {
      const { client, pair } = setUp()
      const stop = new AbortController()
      const asked = client.request('slow', undefined, { [kind]: stop.signal })
      stop.abort()
      expect((await errorOf(asked)).code).toBe('ERR_CALL_CANCELLED')
      expect((await errorOf(client.request('b', undefined, { [kind]: stop.signal }))).code).toBe('ERR_CALL_CANCELLED')
      expect(pair.caller.sent).toHaveLength(2)
    })
  }

  it('leaves no timer behind after an answer', async () => {
    const { client, clock, reply } = setUp()
    const asked = client.request('a', undefined, { timeoutMs: 1_000 })
    await reply('{"jsonrpc":"2.0","id":1,"result":1}')
    await asked
    expect(clock.timers).toBe(0)
  })

  const unmatched: readonly { name: string; text: string; code: string }[] = [
    {
      name: 'an error under null',
      text: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}',
      code: 'ERR_PROTOCOL',
    },
    {
      name: 'an error without an id',
      text: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"}}',
      code: 'ERR_PROTOCOL',
    },
    { name: 'its id as a string', text: '{"jsonrpc":"2.0","id":"1","result":1}', code: 'ERR_PROTOCOL' },
    { name: 'an id never sent', text: '{"jsonrpc":"2.0","id":99,"result":1}', code: 'ERR_PROTOCOL' },
    { name: 'a result under null', text: '{"jsonrpc":"2.0","id":null,"result":1}', code: 'ERR_PROTOCOL' },
    { name: 'no JSON', text: 'hello', code: 'ERR_PROTOCOL' },
    { name: 'a batch', text: '[{"jsonrpc":"2.0","id":1,"result":1}]', code: 'ERR_PROTOCOL' },
    { name: 'a response without an outcome', text: '{"jsonrpc":"2.0","id":1}', code: 'ERR_PROTOCOL' },
    { name: 'a response of the wrong version', text: '{"jsonrpc":"1.0","id":1,"result":1}', code: 'ERR_PROTOCOL' },
  ]
  for (const { name, text, code } of unmatched) {
    it(`never hangs when the peer answers with ${name}`, async () => {
      const { client, reply } = setUp()
      const asked = errorOf(client.request('a'))
      await reply(text)
      expect((await asked).code).toBe(code)
    })
  }

  it('fails all requests in flight when an error under null may be about any of them', async () => {
    const { client, reply } = setUp()
    const both = [errorOf(client.request('a')), errorOf(client.request('b'))]
    await reply('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}')
    for (const failed of both) expect((await failed).code).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })

  it('fails only the request whose answer is too large', async () => {
    const { client, reply } = setUp({ toCaller: 300 })
    const large = errorOf(client.request('a'))
    const other = watch(client.request('b'))
    await reply(`{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(300)}"}`)
    expect((await large).code).toBe('ERR_MESSAGE_TOO_LARGE')
    expect(other.state).toBe('pending')
  })

  it('fails a request that is larger than the peer accepts', async () => {
    const { client } = setUp({ toServer: 100 })
    expect((await errorOf(client.request('a', { text: 'x'.repeat(100) }))).code).toBe('ERR_MESSAGE_TOO_LARGE')
    expect(client.inFlight).toBe(0)
  })

  it('does not wait for a link that takes nothing in', async () => {
    const { client, pair, clock } = setUp()
    pair.caller.send = () => new Promise(() => {})
    const asked = client.request('a', undefined, { timeoutMs: 1_000 })
    await settle()
    clock.advance(1_000)
    expect((await errorOf(asked)).code).toBe('ERR_TIMEOUT')
  })

  it('answers the requests of a peer', async () => {
    const { pair, reply } = setUp()
    await reply('{"jsonrpc":"2.0","id":"p","method":"ping"}')
    await reply('{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{}}')
    await reply('{"jsonrpc":"2.0","method":"notifications/message"}')
    expect(pair.caller.texts).toEqual([
      '{"jsonrpc":"2.0","id":"p","result":{}}',
      '{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"this side serves no methods"}}',
    ])
  })

  it('uses no id that is in flight', async () => {
    const { client, pair } = setUp()
    watch(client.exchange({ id: 2, text: '{"id":2}' }))
    watch(client.request('a'))
    await settle()
    expect(pair.caller.texts.at(-1)).toContain('"id":3,')
    await expect(client.exchange({ id: 2, text: '' })).rejects.toThrow(RangeError)
  })
})
