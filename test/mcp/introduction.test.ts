import { describe, expect, it } from 'vitest'
import { type InstanceId } from '../../src/core/ids.ts'
import { Backoff } from '../../src/core/time.ts'
import { createResumableCaller } from '../../src/mcp/calling/resumable-caller.ts'
import { createCallLedger } from '../../src/mcp/serving/call-ledger.ts'
import { type ServedClient } from '../../src/mcp/serving/upstream-link.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { settle } from './port-pair.ts'
import { type Served, serve, toolOf } from './serve.ts'

const GREETING = { protocolVersion: '2025-11-25', capabilities: { sampling: {} } }

function world() {
  const clock = new FakeClock()
  const ledger = createCallLedger(clock)
  const links: Served[] = []
  const clients: ServedClient[] = []
  const progress: number[] = []
  const asked: string[] = []
  const tool = toolOf('work', (_, { progress: tell }) => {
    tell({ progress: links.length })
    return new Promise(() => {})
  })
  const caller = createResumableCaller({
    connect: async () => {
      const served = serve({
        tools: [tool],
        ledger,
        clock,
        upstream: {
          open: (client) => {
            clients.push(client)
            return { capabilities: {}, request: async () => ({ resultText: '{}' }), close: () => {} }
          },
        },
      })
      links.push(served)
      return served.pair.caller
    },
    instance: 'ab'.repeat(16) as InstanceId,
    backoff: new Backoff({ baseMs: 1, capMs: 1, stableMs: 5_000 }, () => 1),
    handlers: {
      onRequest: async (method) => {
        asked.push(method)
        return { resultText: '{"answered":true}' }
      },
    },
    clock,
    log: silentLog,
  })
  const reconnect = async (): Promise<void> => {
    links.at(-1)?.pair.cut()
    await settle()
    clock.advance(1)
    await settle()
  }
  return { caller, links, clients, progress, asked, reconnect }
}

describe('a caller that says who it is', () => {
  it('says so on its link and first on every later one, and may be asked there', async () => {
    const { caller, links, clients, asked, reconnect } = world()
    caller.start()
    await settle()
    expect(clients[0]?.capabilities).toBeUndefined()
    caller.introduce(GREETING)
    void caller.call('tools/call', { name: 'work' }).catch(() => {})
    await settle()
    expect(clients[0]?.capabilities).toEqual({ sampling: {} })
    await reconnect()
    expect(clients[1]?.capabilities).toEqual({ sampling: {} })
    const methods = links[1]?.pair.caller.texts.map((text) => (JSON.parse(text) as { method: string }).method)
    expect(methods).toEqual(['initialize', 'notifications/initialized', 'tools/call'])
    const answer = clients[1]?.ask('sampling/createMessage', '{}', new AbortController().signal)
    expect(await answer).toEqual({ resultText: '{"answered":true}' })
    expect(asked).toEqual(['sampling/createMessage'])
  })

  it('still numbers its calls from 1', async () => {
    const { caller, links } = world()
    caller.introduce(GREETING)
    await caller.call('tools/list')
    expect(links[0]?.pair.caller.sent.map(({ call }) => call?.sequence)).toEqual([undefined, undefined, 1])
  })

  it('hears how far a call is on whichever link it waits', async () => {
    const { caller, links, reconnect } = world()
    const heard: number[] = []
    void caller
      .call('tools/call', { name: 'work' }, { onProgress: ({ progress }) => heard.push(progress) })
      .catch(() => {})
    await settle()
    expect(heard).toEqual([1])
    await reconnect()
    const [sent] = links[1]?.pair.caller.texts ?? []
    expect(JSON.parse(sent ?? '')).toMatchObject({ id: 1, params: { _meta: { progressToken: 1 } } })
  })

  it('tells the peer something only while there is a link', async () => {
    const { caller, links } = world()
    caller.notify('notifications/x', {})
    caller.start()
    await settle()
    caller.notify('notifications/y', {})
    await settle()
    expect(links[0]?.pair.caller.texts).toEqual(['{"jsonrpc":"2.0","method":"notifications/y","params":{}}'])
  })
})
