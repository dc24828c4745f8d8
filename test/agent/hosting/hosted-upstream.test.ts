import { describe, expect, it } from 'vitest'
import { HostedUpstream } from '../../../src/agent/hosting/hosted-upstream.ts'
import { InputRounds } from '../../../src/agent/hosting/input-rounds.ts'
import { type PeerHost } from '../../../src/agent/hosting/peer-host.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type JsonObject } from '../../../src/core/json.ts'
import { News, type Relayed } from '../../../src/mcp/index.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { settle } from '../../mcp/port-pair.ts'
import { type Served, serve } from '../../mcp/serve.ts'

const EVERYTHING: JsonObject = { resources: {}, prompts: {}, completions: {} }
const AWAY = new CtError('ERR_PEER_UNREACHABLE', 'away')

/** A peer behind which a server stands that answers as the test says. */
class FakePeer {
  readonly label: string
  readonly offers: JsonObject | undefined
  readonly absence: CtError | undefined
  readonly asked: { readonly method: string; readonly params: JsonObject }[] = []
  readonly kept = new Map<string, JsonObject>()
  readonly told: string[] = []
  host: PeerHost | undefined
  readonly #answer: (method: string, params: JsonObject) => unknown

  constructor(
    label: string,
    answer: (method: string, params: JsonObject) => unknown = () => ({}),
    { offers = EVERYTHING, absence }: { offers?: JsonObject | undefined; absence?: CtError } = {},
  ) {
    this.label = label
    this.offers = offers
    this.absence = absence
    this.#answer = answer
  }

  async relay(method: string, params: JsonObject): Promise<Relayed> {
    this.asked.push({ method, params })
    if (this.absence !== undefined) throw this.absence
    const answer = this.#answer(method, params)
    return answer instanceof CtError
      ? { error: { code: -32_601, message: answer.message } }
      : { resultText: typeof answer === 'string' ? answer : JSON.stringify(answer) }
  }

  keep(name: string, _: string, params: JsonObject): void {
    this.kept.set(name, params)
  }

  forget(name: string): void {
    this.kept.delete(name)
  }

  notify(method: string): void {
    this.told.push(method)
  }

  serveTo(host: PeerHost): void {
    this.host = host
  }
}

interface Hosted extends Served {
  readonly result: (method: string, params?: JsonObject) => Promise<unknown>
}

function host(peers: readonly FakePeer[], { isOneHost = true, roots = false } = {}, upstream?: HostedUpstream): Hosted {
  const prepare = (): Promise<void> => Promise.resolve()
  const rounds = new InputRounds({ clock: new FakeClock(), roots })
  const served = serve({
    upstream: upstream ?? new HostedUpstream({ peers, prepare, isOneHost, roots, rounds, news: new News() }),
  })
  let last = 0
  return {
    ...served,
    result: async (method, params = {}) => {
      last += 1
      const id = last
      await served.exchange(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      const text = served.pair.server.texts.find((one) => one.startsWith(`{"jsonrpc":"2.0","id":${id},`)) ?? ''
      const { result, error } = JSON.parse(text) as { result?: unknown; error?: unknown }
      return result ?? { error }
    },
  }
}

function told({ pair }: Hosted): readonly string[] {
  return pair.server.texts.filter((text) => text.startsWith('{"jsonrpc":"2.0","method"'))
}

describe('a host with one peer', () => {
  it('is announced everything, also where there is nothing', async () => {
    const { result } = host([new FakePeer('bob', undefined, { offers: undefined as never })])
    expect(await result('initialize')).toMatchObject({
      capabilities: {
        completions: {},
        logging: {},
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        tools: {},
      },
    })
  })

  it('asks and is answered as if the server were here', async () => {
    const text = '{"resources":[{"uri":"a","size":9007199254740993}],"nextCursor":"n"}'
    const bob = new FakePeer('bob', () => text)
    const served = host([bob])
    expect(await served.ask('{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"c"}}')).toBe(
      `{"jsonrpc":"2.0","id":1,"result":${text}}`,
    )
    for (const method of ['resources/read', 'prompts/get', 'completion/complete', 'resources/subscribe']) {
      await served.result(method, { uri: 'u', name: 'n', _meta: { a: 1 } })
      expect(bob.asked.at(-1)).toEqual({ method, params: { uri: 'u', name: 'n', _meta: { a: 1 } } })
    }
  })

  it('that has none of it gets empty lists, and errors as servers have them', async () => {
    const { result } = host([new FakePeer('bob', undefined, { offers: {} })])
    expect(await result('resources/list')).toEqual({ resources: [] })
    expect(await result('resources/templates/list')).toEqual({ resourceTemplates: [] })
    expect(await result('prompts/list')).toEqual({ prompts: [] })
    expect(await result('completion/complete', {})).toEqual({ completion: { values: [] } })
    expect(await result('logging/setLevel', { level: 'debug' })).toEqual({})
    expect(await result('resources/read', { uri: 'a' })).toMatchObject({ error: { code: -32002, data: { uri: 'a' } } })
    expect(await result('prompts/get', { name: 'a' })).toMatchObject({ error: { code: -32602 } })
  })

  it('that is away says so', async () => {
    const { result } = host([new FakePeer('bob', undefined, { absence: AWAY })])
    for (const method of ['resources/read', 'prompts/get', 'completion/complete']) {
      expect(await result(method, { uri: 'a', name: 'a' })).toMatchObject({
        error: { data: { code: 'ERR_PEER_UNREACHABLE' } },
      })
    }
  })

  it('that has no log accepts a level all the same, and is asked again when it comes back', async () => {
    const bob = new FakePeer('bob', () => AWAY)
    expect(await host([bob]).result('logging/setLevel', { level: 'info' })).toEqual({})
    expect(bob.kept.get('level')).toEqual({ level: 'info' })
  })
})

describe('a host with several peers', () => {
  const listing = (name: string) => (method: string, params: JsonObject) => {
    if (method === 'resources/list') {
      return params['cursor'] === 'next'
        ? { resources: [{ uri: `${name}:2`, name: '2' }] }
        : { resources: [{ uri: `${name}:1`, name: '1' }], nextCursor: 'next' }
    }
    if (method === 'resources/templates/list')
      return { resourceTemplates: [{ uriTemplate: `${name}:{id}`, name: 't' }] }
    if (method === 'prompts/list') return { prompts: [{ name: 'greet-all', title: 'Greet' }, { name: 'bye' }] }
    if (method === 'resources/read') return { contents: [{ uri: params['uri'] ?? '', text: 'x' }] }
    return { messages: [{ role: 'user', content: { type: 'resource', resource: { uri: `${name}:1`, text: 'x' } } }] }
  }
  const pair = () => [new FakePeer('bob', listing('b')), new FakePeer('al.ice', listing('a'))] as const

  it('sees the resources of all, to the last page, under names that say whose they are', async () => {
    const { result } = host([...pair(), new FakePeer('carol', undefined, { absence: AWAY })])
    expect(await result('resources/list')).toEqual({
      resources: [
        { uri: 'ct-peer://bob/b:1', name: '1' },
        { uri: 'ct-peer://bob/b:2', name: '2' },
        { uri: 'ct-peer://al.ice/a:1', name: '1' },
        { uri: 'ct-peer://al.ice/a:2', name: '2' },
      ],
    })
    expect(await result('resources/templates/list')).toEqual({
      resourceTemplates: [
        { uriTemplate: 'ct-peer://bob/b:{id}', name: 't' },
        { uriTemplate: 'ct-peer://al.ice/a:{id}', name: 't' },
      ],
    })
  })

  it('reads the resource of the peer that has it', async () => {
    const [bob, alice] = pair()
    const { result } = host([bob, alice])
    expect(await result('resources/read', { uri: 'ct-peer://al.ice/a:1' })).toEqual({
      contents: [{ uri: 'ct-peer://al.ice/a:1', text: 'x' }],
    })
    expect(alice.asked).toEqual([{ method: 'resources/read', params: { uri: 'a:1' } }])
    for (const uri of ['a:1', 'ct-peer://carol/a:1', 'ct-peer://bob', 'ct-peer://%zz/a']) {
      expect(await result('resources/read', { uri })).toMatchObject({ error: { code: -32002, data: { uri } } })
    }
    expect(bob.asked).toEqual([])
  })

  it('sees prompts under names that hosts accept, and gets them by those', async () => {
    const [bob, alice] = pair()
    const { result } = host([bob, alice])
    const { prompts } = (await result('prompts/list')) as { prompts: JsonObject[] }
    expect(prompts.map(({ name, title }) => [name, title])).toEqual([
      ['bob_bye', 'bye'],
      ['bob_greet_all', 'Greet'],
      ['alYice_bye', 'bye'],
      ['alYice_greet_all', 'Greet'],
    ])
    const got = await result('prompts/get', { name: 'alYice_greet_all', arguments: { a: 'b' } })
    expect(alice.asked.at(-1)).toEqual({ method: 'prompts/get', params: { name: 'greet-all', arguments: { a: 'b' } } })
    expect(got).toMatchObject({ messages: [{ content: { resource: { uri: 'ct-peer://al.ice/a:1' } } }] })
    expect(await result('prompts/get', { name: 'greet-all' })).toMatchObject({ error: { code: -32602 } })
  })

  it('completes what belongs to the peer', async () => {
    const [bob, alice] = pair()
    const { result } = host([bob, alice])
    await result('completion/complete', { ref: { type: 'ref/prompt', name: 'bob_greet_all' } })
    expect(bob.asked.at(-1)?.params).toEqual({ ref: { type: 'ref/prompt', name: 'greet-all' } })
    await result('completion/complete', { ref: { type: 'ref/resource', uri: 'ct-peer://al.ice/a:{id}' } })
    expect(alice.asked.at(-1)?.params).toEqual({ ref: { type: 'ref/resource', uri: 'a:{id}' } })
    expect(await result('completion/complete', {})).toMatchObject({ error: { code: -32602 } })
  })
})

describe('what servers behind peers tell and ask', () => {
  const SAMPLING = { capabilities: { sampling: {}, roots: {} } }

  it('reaches a host that said hello', async () => {
    const bob = new FakePeer('bob')
    const served = host([bob])
    const message = '{"level":"info","data":9007199254740993}'
    bob.host?.onNotification(bob, 'notifications/message', message)
    await served.result('initialize')
    bob.host?.onNotification(bob, 'notifications/message', message)
    bob.host?.onNotification(bob, 'notifications/odd', '{}')
    await settle()
    expect(told(served)).toEqual([`{"jsonrpc":"2.0","method":"notifications/message","params":${message}}`])
  })

  it('of a resource reaches who subscribed to it, under the name that it has there', async () => {
    const [bob, carol] = [new FakePeer('bob'), new FakePeer('carol')]
    const served = host([bob, carol])
    await served.result('initialize')
    await served.result('resources/subscribe', { uri: 'ct-peer://bob/x' })
    expect(bob.kept.get('subscription x')).toEqual({ uri: 'x' })
    for (const peer of [bob, carol]) peer.host?.onNotification(peer, 'notifications/resources/updated', '{"uri":"x"}')
    await settle()
    expect(told(served)).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"ct-peer://bob/x"}}',
    ])
    await served.result('resources/unsubscribe', { uri: 'ct-peer://bob/x' })
    expect(bob.kept.size).toBe(0)
  })

  it('about a change of what a peer offers reaches who has listed something', async () => {
    const bob = new FakePeer('bob')
    const served = host([bob])
    await served.result('initialize')
    bob.host?.onOffersChange(bob)
    await served.result('prompts/list')
    bob.host?.onOffersChange(bob)
    await settle()
    expect(told(served).map((text) => JSON.parse(text).method)).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ])
  })

  it('goes to the one host, as far as it can do it', async () => {
    const bob = new FakePeer('bob')
    const served = host([bob])
    const { signal } = new AbortController()
    expect(bob.host?.onRequest(bob, 'sampling/createMessage', '{}', signal)).toBeUndefined()
    await served.result('initialize', SAMPLING)
    expect(bob.host?.abilities()).toEqual({ sampling: {} })
    expect(bob.host?.onRequest(bob, 'roots/list', '{}', signal)).toBeUndefined()
    expect(bob.host?.onRequest(bob, 'tools/list', '{}', signal)).toBeUndefined()
    const asked = bob.host?.onRequest(bob, 'sampling/createMessage', '{"a":1}', signal)
    await served.exchange('{"jsonrpc":"2.0","id":"ct-1","result":{"b":2}}')
    expect(await asked).toEqual({ resultText: '{"b":2}' })
  })

  it('is where the host works only if the user allows it', async () => {
    const bob = new FakePeer('bob')
    const served = host([bob], { roots: true })
    await served.result('initialize', SAMPLING)
    expect(bob.host?.abilities()).toEqual({ roots: {}, sampling: {} })
    await served.exchange('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
    expect(bob.told).toEqual(['notifications/roots/list_changed'])
  })

  it('is asked of nobody where there may be several hosts', async () => {
    const bob = new FakePeer('bob')
    const served = host([bob], { isOneHost: false, roots: true })
    await served.result('initialize', SAMPLING)
    await served.exchange('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
    expect(bob.host?.abilities()).toEqual({})
    expect(bob.told).toEqual([])
  })
})
