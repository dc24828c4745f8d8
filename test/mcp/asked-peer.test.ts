import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { MAX_ASKED } from '../../src/mcp/serving/asked-peer.ts'
import { behind, initialize } from './behind.ts'
import { settle } from './port-pair.ts'

describe('what the serving side asks the peer', () => {
  const never = new AbortController().signal

  it('knows what the peer declared', async () => {
    const { client, exchange } = behind()
    expect(client.capabilities).toBeUndefined()
    await exchange(initialize({ sampling: { tools: {} } }))
    expect(client.capabilities).toEqual({ sampling: { tools: {} } })
  })

  it('is answered, to the digit', async () => {
    const { client, pair, exchange } = behind()
    const answered = client.ask('sampling/createMessage', '{"n":9007199254740993}', never)
    await settle()
    expect(pair.server.texts).toEqual([
      '{"jsonrpc":"2.0","id":"ct-1","method":"sampling/createMessage","params":{"n":9007199254740993}}',
    ])
    expect(await exchange('{"jsonrpc":"2.0","id":"ct-1","result":{"big":9007199254740993}}')).toEqual([])
    expect(await answered).toEqual({ resultText: '{"big":9007199254740993}' })
  })

  it('is refused, with data', async () => {
    const { client, exchange } = behind()
    const answered = client.ask('roots/list', '{}', never)
    await exchange('{"jsonrpc":"2.0","id":"ct-1","error":{"code":-1,"message":"no","data":[1]}}')
    expect(await answered).toEqual({ error: { code: -1, message: 'no', data: [1] } })
  })

  it('is not answered by an answer to something else', async () => {
    const { client, exchange } = behind()
    let isSettled = false
    void client.ask('roots/list', '{}', never).finally(() => (isSettled = true))
    await exchange('{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","id":"ct-2","result":{}}')
    expect(isSettled).toBe(false)
  })

  it('ends with the signal, and the peer is told', async () => {
    const { client, pair } = behind()
    const stop = new AbortController()
    const answered = client.ask('roots/list', '{}', stop.signal)
    stop.abort(new CtError('ERR_TIMEOUT', 'late'))
    await expect(answered).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(pair.server.texts.at(-1)).toContain(
      '"notifications/cancelled","params":{"reason":"ERR_TIMEOUT","requestId":"ct-1"}',
    )
  })

  it('ends with the link', async () => {
    const { client, pair } = behind()
    const answered = client.ask('roots/list', '{}', never)
    pair.cut()
    await expect(answered).rejects.toMatchObject({ code: 'ERR_LINK_LOST' })
    await expect(client.ask('roots/list', '{}', never)).rejects.toMatchObject({ code: 'ERR_LINK_LOST' })
  })

  it('is bounded', async () => {
    const { client, exchange } = behind()
    for (let asked = 0; asked < MAX_ASKED; asked += 1) void client.ask('roots/list', '{}', never).catch(() => {})
    await expect(client.ask('roots/list', '{}', never)).rejects.toMatchObject({ code: 'ERR_PEER_BUSY' })
    await exchange('{"jsonrpc":"2.0","id":"ct-1","result":{}}')
    void client.ask('roots/list', '{}', never)
  })
})
