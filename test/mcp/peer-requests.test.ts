import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'
import { createMcpClient } from '../../src/mcp/calling/client.ts'
import { type PeerHandlers } from '../../src/mcp/calling/peer-requests.ts'
import { type Relayed } from '../../src/mcp/wire/relayed.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { portPair, settle } from './port-pair.ts'
import { deferred } from './serve.ts'

function calling(handlers: PeerHandlers = {}, onNoise?: (text: string) => void) {
  const pair = portPair()
  const client = createMcpClient(pair.caller, { log: silentLog, clock: new FakeClock(), handlers, onNoise })
  return {
    pair,
    client,
    hear: async (...texts: readonly string[]) => {
      const before = pair.caller.sent.length
      for (const text of texts) pair.caller.deliver(encodeUtf8(text))
      await settle()
      return pair.caller.texts.slice(before)
    },
  }
}

const REQUEST = '{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"n":9007199254740993}}'

describe('what the peer of a caller asks', () => {
  it('is answered, to the digit both ways, under its id', async () => {
    const asked: string[] = []
    const { hear } = calling({
      onRequest: async (method, params) => {
        asked.push(`${method} ${params}`)
        return { resultText: '{"big":9007199254740993}' }
      },
    })
    expect(await hear(REQUEST)).toEqual(['{"jsonrpc":"2.0","id":"q","result":{"big":9007199254740993}}'])
    expect(asked).toEqual(['sampling/createMessage {"n":9007199254740993}'])
  })

  for (const { name, onRequest, part } of [
    { name: 'for a method that there is not', onRequest: () => undefined, part: '-32601' },
    { name: 'as it was', onRequest: async () => ({ error: { code: -1, message: 'no', data: 7 } }), part: '"data":7' },
    { name: 'with the code', onRequest: () => Promise.reject(new CtError('ERR_TIMEOUT', 'late')), part: 'ERR_TIMEOUT' },
    {
      name: 'without what is not meant for it',
      onRequest: () => Promise.reject(new Error('secret')),
      part: 'ERR_INTERNAL',
    },
  ]) {
    it(`is refused ${name}`, async () => {
      const [answer = ''] = await calling({ onRequest }).hear(REQUEST)
      expect(answer).toContain(part)
      expect(answer).not.toContain('secret')
    })
  }

  it('is not answered when the peer withdraws it', async () => {
    const answer = deferred<Relayed>()
    const signals: AbortSignal[] = []
    const { hear } = calling({
      onRequest: (_, __, signal) => {
        signals.push(signal)
        return answer.promise
      },
    })
    await hear(REQUEST, '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}')
    expect(signals[0]?.aborted).toBe(true)
    answer.resolve({ resultText: '{}' })
    expect(await hear()).toEqual([])
  })

  it('is bounded', async () => {
    let running = 0
    const { hear } = calling({
      onRequest: () => {
        running += 1
        return new Promise(() => {})
      },
    })
    const requests = Array.from({ length: 70 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"roots/list"}`)
    const refused = await hear(...requests)
    expect(running).toBe(64)
    expect(refused.filter((text) => text.includes('ERR_PEER_BUSY'))).toHaveLength(6)
  })

  it('ends with the link', async () => {
    const signals: AbortSignal[] = []
    const { pair, hear } = calling({
      onRequest: (_, __, signal) => {
        signals.push(signal)
        return new Promise(() => {})
      },
    })
    await hear(REQUEST)
    pair.cut()
    await settle()
    expect(signals[0]?.aborted).toBe(true)
  })

  it('comes beside what it tells, to the digit', async () => {
    const told: string[] = []
    const { hear } = calling({ onNotification: (method, params) => told.push(`${method} ${params}`) })
    await hear(
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"n":9007199254740993}}',
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    )
    expect(told).toEqual(['notifications/message {"n":9007199254740993}', 'notifications/tools/list_changed {}'])
  })
})

describe('a caller of a program that prints', () => {
  it('passes over what is no message, and takes answers in batches', async () => {
    const noise: string[] = []
    const { client, hear } = calling({}, (text) => noise.push(text))
    const [one, other] = [client.request('a'), client.request('b')]
    await hear(
      'Welcome!',
      '{"level":30}',
      '[{"jsonrpc":"2.0","id":2,"result":{"b":1}},5,{"jsonrpc":"2.0","id":1,"result":{"a":1}}]',
    )
    expect(await one).toMatchObject({ result: { a: 1 } })
    expect(await other).toMatchObject({ result: { b: 1 } })
    expect(noise).toEqual(['Welcome!', '{"level":30}', ''])
  })

  it('fails the request whose answer cannot be read, and no other', async () => {
    const { client, hear } = calling({}, () => {})
    const [one, other] = [client.request('a'), client.request('b')]
    const failed = expect(one).rejects.toMatchObject({ code: 'ERR_PROTOCOL' })
    await hear(`{"jsonrpc":"2.0","id":1,"result":${'['.repeat(300)}${']'.repeat(300)}}`)
    await failed
    await hear('{"jsonrpc":"2.0","id":2,"result":{}}')
    expect(await other).toMatchObject({ result: {} })
  })
})
