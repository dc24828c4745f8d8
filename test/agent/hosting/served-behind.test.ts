import { describe, expect, it } from 'vitest'
import { type Caller } from '../../../src/agent/calling/caller.ts'
import { HostedPeer, type OnTrouble } from '../../../src/agent/hosting/hosted-peer.ts'
import { type PeerHost } from '../../../src/agent/hosting/peer-host.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { type JsonObject } from '../../../src/core/json.ts'
import { type PeerHandlers, type Progress, RelayedError } from '../../../src/mcp/index.ts'
import { readEnvelopeText } from '../../../src/mcp/wire/envelope.ts'
import { readRpcError } from '../../../src/mcp/wire/rpc-error.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'

const TOOLS = '{"tools":[{"name":"far","inputSchema":{"type":"object"}}]}'
const MARKED = '{"capabilities":{"resources":{}},"_meta":{"ct-agent/upstream":true}}'

/** A peer that answers each method with a result or an error, as JSON text of the member. */
function scene(answers: Record<string, string> = {}) {
  const asked: { readonly method: string; readonly params: JsonObject; readonly wantsProgress: boolean }[] = []
  const introductions: JsonObject[] = []
  const told: string[] = []
  const heard: string[] = []
  let onTrouble: OnTrouble = () => {}
  let handlers: PeerHandlers = {}
  const lists: PromiseWithResolvers<void>[] = []
  let isSlow = false
  const results: Record<string, string> = { 'server/discover': MARKED, 'tools/list': TOOLS, ...answers }
  const caller: Caller = {
    call: async (method, params, options = {}) => {
      asked.push({ method, params: params as JsonObject, wantsProgress: options.onProgress !== undefined })
      if (method === 'tools/list' && isSlow) {
        const list = Promise.withResolvers<void>()
        lists.push(list)
        await list.promise
      }
      options.onProgress?.({ progress: 1 })
      const member = results[method] ?? '{}'
      const text = `{"jsonrpc":"2.0","id":1,${member.startsWith('!') ? `"error":${member.slice(1)}` : `"result":${member}`}}`
      const envelope = readEnvelopeText(text)
      if (envelope.kind !== 'response' || 'problem' in envelope.outcome) throw new Error('expected a response')
      const { outcome } = envelope
      return 'error' in outcome ? { text, error: readRpcError(outcome.error) } : { text, result: outcome.result }
    },
    introduce: (params) => void introductions.push(params),
    notify: (method) => void told.push(method),
    stopped: new Promise(() => {}),
    isStopped: () => false,
    close: () => {},
    finish: () => Promise.resolve(),
  }
  const peer = new HostedPeer({
    label: 'bob',
    open: (_, trouble, given) => {
      onTrouble = trouble
      handlers = given
      return Promise.resolve(caller)
    },
    onChange: () => {},
    clock: new FakeClock(),
    random: () => 0.5,
    log: silentLog,
  })
  const host: PeerHost = {
    abilities: () => ({ sampling: {} }),
    onOffersChange: () => void heard.push('offers'),
    onNotification: (_, method, params) => void heard.push(`${method} ${params}`),
    onRequest: async () => ({ resultText: '{}' }),
  }
  return {
    peer,
    host,
    asked,
    introductions,
    told,
    heard,
    lists,
    results,
    back: () => onTrouble(undefined),
    away: () => onTrouble(new CtError('ERR_LINK_LOST', 'gone')),
    handlers: () => handlers,
    slow: (value: boolean) => {
      isSlow = value
    },
    methods: () => asked.map(({ method }) => method),
  }
}

function context(progress?: (told: Progress) => void) {
  return {
    peer: '00' as HolderId,
    callId: 'x',
    signal: new AbortController().signal,
    argumentsText: '{}',
    progress: progress ?? (() => {}),
    wantsProgress: progress !== undefined,
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve()
}

describe('a peer behind which a server stands', () => {
  it('is told what the host can do before it is asked for tools', async () => {
    const { peer, host, introductions, methods } = scene()
    peer.serveTo(host)
    await peer.prepare()
    expect(methods()).toEqual(['server/discover', 'tools/list'])
    expect(introductions).toMatchObject([{ protocolVersion: '2025-11-25', capabilities: { sampling: {} } }])
    expect(peer.offers).toEqual({ resources: {} })
  })

  for (const [name, discover] of [
    ['no server stands', '{"capabilities":{"tools":{}}}'],
    ['nothing of the kind is known', '!{"code":-32601,"message":"unknown method"}'],
    ['something odd stands', '[]'],
  ] as const) {
    it(`is told nothing where ${name}`, async () => {
      const { peer, host, introductions } = scene({ 'server/discover': discover })
      peer.serveTo(host)
      await peer.prepare()
      expect(introductions).toEqual([])
      expect(peer.offers).toBeUndefined()
      expect(peer.tools).toMatchObject([{ name: 'far' }])
    })
  }

  it('is asked again for what was subscribed to when it is back, and told who this is only once', async () => {
    const { peer, host, introductions, asked, back, away } = scene()
    peer.serveTo(host)
    await peer.prepare()
    peer.keep('subscription a', 'resources/subscribe', { uri: 'a' })
    peer.keep('subscription b', 'resources/subscribe', { uri: 'b' })
    peer.forget('subscription b')
    away()
    back()
    await settled()
    expect(asked.filter(({ method }) => method === 'resources/subscribe').map(({ params }) => params)).toEqual([
      { uri: 'a' },
    ])
    expect(introductions).toHaveLength(1)
  })

  it('hears what the host changes, and the host what it tells', async () => {
    const { peer, host, told, heard, handlers } = scene()
    peer.serveTo(host)
    peer.notify('notifications/roots/list_changed', {})
    await peer.prepare()
    peer.notify('notifications/roots/list_changed', {})
    handlers().onNotification?.('notifications/message', '{"a":1}')
    expect(told).toEqual(['notifications/roots/list_changed'])
    expect(heard).toEqual(['offers', 'notifications/message {"a":1}'])
    expect(await handlers().onRequest?.('sampling/createMessage', '{}', new AbortController().signal)).toEqual({
      resultText: '{}',
    })
  })

  it('is asked for its tools once at a time, however often it says that they changed', async () => {
    const { peer, host, lists, slow, handlers, results } = scene()
    peer.serveTo(host)
    await peer.prepare()
    slow(true)
    for (let said = 0; said < 100; said += 1) handlers().onNotification?.('notifications/tools/list_changed', '{}')
    await settled()
    expect(lists).toHaveLength(1)
    results['tools/list'] = '{"tools":[]}'
    lists[0]?.resolve()
    await settled()
    expect(lists).toHaveLength(2)
    lists[1]?.resolve()
    await settled()
    expect(lists).toHaveLength(2)
    expect(peer.tools).toEqual([])
  })

  it('tells how far a call is to a host that asks for it', async () => {
    const { peer, host, asked } = scene({ 'tools/call': '{"content":[]}' })
    peer.serveTo(host)
    await peer.prepare()
    const told: Progress[] = []
    await peer.call(
      'far',
      context((progress) => told.push(progress)),
    )
    await peer.call('far', context())
    expect(told).toEqual([{ progress: 1 }])
    expect(asked.filter(({ method }) => method === 'tools/call').map(({ wantsProgress }) => wantsProgress)).toEqual([
      true,
      false,
    ])
  })

  it('has the errors of its server handed on, and its own kept apart', async () => {
    const { peer, host, results } = scene({
      'tools/call': '!{"code":-32042,"message":"go there","data":{"n":9007199254740993}}',
    })
    peer.serveTo(host)
    await peer.prepare()
    const error: unknown = await peer.call('far', context()).catch((thrown: unknown) => thrown)
    if (!(error instanceof RelayedError)) throw new Error('expected an error that is handed on')
    expect(JSON.stringify(error.rpc)).toBe('{"code":-32042,"message":"go there","data":{"n":9007199254740993}}')
    for (const own of [
      '{"code":-32000,"message":"x"}',
      '{"code":-31003,"message":"x","data":{"code":"ERR_CALL_OUTCOME_UNKNOWN"}}',
    ]) {
      results['tools/call'] = `!${own}`
      await expect(peer.call('far', context())).rejects.not.toBeInstanceOf(RelayedError)
    }
  })

  it('is asked whatever else the host asks', async () => {
    const { peer, host } = scene({ 'resources/read': '{"contents":[],"big":9007199254740993}' })
    peer.serveTo(host)
    await peer.prepare()
    expect(await peer.relay('resources/read', { uri: 'a' }, context())).toEqual({
      resultText: '{"contents":[],"big":9007199254740993}',
    })
  })
})
