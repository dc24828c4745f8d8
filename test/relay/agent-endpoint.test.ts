import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ask, type Person, startRelay } from './harness.ts'
import { OPEN, started, TODAY } from './invoked.ts'

const INFO = { name: 'test', version: '1' }
const AGENT = '/agents/bob/venue-bot/mcp'
const OWN_TOOLS = ['chakramcp_about', 'chakramcp_get_result']

async function connect({ url, key }: Pick<Person, 'url' | 'key'>, path: string): Promise<Client> {
  const client = new Client(INFO)
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL(url + path), { requestInit: { headers } })
  await client.connect(transport as never)
  onTestFinished(() => client.close())
  return client
}

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is what the test examines
const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> =>
  client.callTool({ name, arguments: args })

const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

describe('M-04 M-32 the endpoint of an agent', () => {
  it('M-33 M-34 M-36 has what can be called now as tools, and a grant that comes later', async () => {
    const { bob, eve, server, caller } = await started()
    const publish = (name: string) =>
      bob.post(`/v1/agents/${server}/capabilities`, { name, description: `does ${name}` })
    const later = (await publish('guide.ask')).body
    await publish('guide_ask')
    const client = await connect(eve, AGENT)
    expect(await names(client)).toEqual(['check_availability', ...OWN_TOOLS])
    await bob.post('/v1/grants', { granter_agent_id: server, grantee_agent_id: caller, capability_id: later.id })
    const { tools } = await client.listTools()
    expect(tools[1]).toMatchObject({ name: 'guide_ask', title: 'guide.ask', description: 'does guide.ask' })
    expect(tools).toHaveLength(4)
  })

  it('M-37 answers with the outcome, with a refusal, or with what to fetch later', async () => {
    const { eve, pull, respond, relay, url } = await started()
    const client = await connect(eve, AGENT)
    const done = call(client, 'check_availability', TODAY)
    const [work] = (await pull('&wait_seconds=20')).body
    await respond(work.id)
    expect(await done).toMatchObject({
      isError: false,
      structuredContent: { status: 'succeeded', invocation_id: work.id, output: { free: true } },
    })
    const failing = call(client, 'check_availability', TODAY)
    const [other] = (await pull('&wait_seconds=20')).body
    await respond(other.id, { status: 'failed', error: 'no calendar' })
    expect(await failing).toMatchObject({
      isError: true,
      content: [{ text: 'no calendar' }],
      structuredContent: { status: 'failed', code: 'failed', invocation_id: other.id },
    })
    const refused = await call(client, 'check_availability', { date: 7 })
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { status: 'refused', code: 'invalid_request', message: expect.stringContaining('at /date') },
    })
    expect(relay.settings.publicUrl).toBe(url)
  })

  it('M-30 M-38 says who may be away, and has the result later', async () => {
    const { relay, eve, pull, respond } = await started({}, { agentWaitSecs: 0 })
    const client = await connect(eve, AGENT)
    const begun = await call(client, 'check_availability', TODAY)
    expect(begun).toMatchObject({
      isError: false,
      structuredContent: { status: 'pending', peer: { online: false, last_seen_at: null } },
    })
    expect(begun.content[0].text).toMatch(/\}\nIt is still running.*chakramcp_get_result.*may not pick this up soon/s)
    const invocation_id = begun.structuredContent.invocation_id
    const waiting = call(client, 'chakramcp_get_result', { invocation_id, wait_seconds: 20 })
    const [work] = (await pull('&wait_seconds=20')).body
    await respond(work.id)
    expect((await waiting).structuredContent).toEqual({ status: 'succeeded', invocation_id, output: { free: true } })
    const unknown = await call(client, 'chakramcp_get_result', { invocation_id: 'x' })
    expect(unknown.structuredContent).toMatchObject({ status: 'refused', code: 'invalid_request' })
    expect(relay.settings.agentWaitSecs).toBe(0)
  })

  it('M-38 tells of the agent, and how to call what cannot be called yet', async () => {
    const { bob, eve, server } = await started()
    await bob.post(`/v1/agents/${server}/capabilities`, { name: 'book' })
    const { structuredContent } = await call(await connect(eve, AGENT), 'chakramcp_about')
    expect(structuredContent).toMatchObject({
      agent: { agent_slug: 'venue-bot', how_to_call: { mcp: expect.stringContaining(AGENT) } },
      callable: [{ capability: 'check_availability', tool: 'check_availability', calling_as: 'eve/planner' }],
      not_callable: [{ capability: 'book', reason: 'chk.policy.grant_required' }],
    })
    const refused = await call(await connect(eve, AGENT), 'book')
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'chk.policy.grant_required' } })
  })

  it.each([
    ['a text', { type: 'string', minLength: 1 }, { input: 'hello' }, 'hello'],
    [
      'a list',
      { type: 'array', items: { $ref: '#/$defs/a' }, $defs: { a: { type: 'integer' } } },
      { input: [1, 2] },
      [1, 2],
    ],
    ['anything', true, { input: null }, null],
  ])('M-35 takes %s that is no object as a member of one', async (_, input_schema, args, input) => {
    const { eve, pull } = await started({ input_schema }, { agentWaitSecs: 0 })
    const client = await connect(eve, AGENT)
    const { tools } = await client.listTools()
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['input'] })
    await call(client, 'check_availability', args)
    expect((await pull()).body[0].input).toEqual(input)
  })

  it('M-39 calls as the agent that ?as= names', async () => {
    const { eve, pull } = await started(OPEN, { agentWaitSecs: 0 })
    const other = await eve.agent('other')
    await call(await connect(eve, `${AGENT}?as=other`), 'check_availability', TODAY)
    expect((await pull()).body[0].grantee_agent_id).toBe(other)
    await expect(connect(eve, `${AGENT}?as=bob/venue-bot`)).rejects.toThrow('not_found')
  })

  it('M-40 is hidden from who may not see the agent, and points elsewhere where it has an address of its own', async () => {
    const { bob, eve, person, url, server } = await started()
    const post = (who: Person | undefined) =>
      ask(url + AGENT, { method: 'POST', headers: who === undefined ? {} : { authorization: `Bearer ${who.key}` } })
    const nobody = await post(undefined)
    expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining(`${url}/.well-known/oauth-protected-resource${AGENT}`),
    ])
    await bob.patch(`/v1/agents/${server}`, { visibility: 'private' })
    expect((await post(await person('ann'))).status).toBe(404)
    await bob.patch(`/v1/agents/${server}`, { agent_card_url: 'https://agents.example.org/card' })
    const push = await post(eve)
    expect([push.status, push.body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'chk.mcp.push_agent', card_url: 'https://agents.example.org/card' }),
    ])
  })

  it.each(['a%0d%0aset-cookie:x=y', 'b%22ob', 'BOB', '..%2f..'])(
    'is not at a path such as /agents/%s/hall/mcp',
    async (name) => {
      const { url } = await startRelay()
      for (const path of [
        `/agents/${name}/hall/mcp`,
        `/.well-known/oauth-protected-resource/agents/${name}/hall/mcp`,
      ]) {
        const { status, body } = await ask(url + path, { method: path.startsWith('/agents') ? 'POST' : 'GET' })
        expect([status, body.error.code]).toEqual([404, 'not_found'])
      }
    },
  )

  it('answers the official client of the newest revision', async () => {
    const { eve, url, pull, respond } = await started()
    const client = new ModernClient(INFO)
    const requestInit = { headers: { authorization: `Bearer ${eve.key}` } }
    await client.connect(new ModernTransport(new URL(url + AGENT), { requestInit }))
    onTestFinished(() => client.close())
    const done = client.callTool({ name: 'check_availability', arguments: TODAY })
    const [work] = (await pull('&wait_seconds=20')).body
    await respond(work.id)
    expect((await done).structuredContent).toMatchObject({ status: 'succeeded' })
  })
})

describe('M-03 M-41 the directory', () => {
  it('M-08 M-42 M-43 is read by anybody, over agents that everybody may see', async () => {
    const { bob, url } = await started(OPEN)
    await bob.agent('hidden', { visibility: 'private' })
    const client = await connect({ url, key: '' }, '/mcp/directory')
    expect(await names(client)).toEqual(
      expect.arrayContaining(['search_agents', 'get_agent_profile', 'featured_agents']),
    )
    const found = await call(client, 'search_agents', { q: 'VEN', capability: 'check_availability' })
    expect(found.structuredContent.agents).toEqual([
      expect.objectContaining({ account_slug: 'bob', agent_slug: 'venue-bot', has_public_capabilities: true }),
    ])
    expect((await call(client, 'search_agents', { q: 'enue' })).structuredContent.agents).toEqual([])
    const profile = await call(client, 'get_agent_profile', { agent: 'bob/venue-bot' })
    expect(profile.structuredContent).toMatchObject({
      capabilities: [{ name: 'check_availability', public_invoke: true, quota: 3 }],
      how_to_call: { mcp: `${url}${AGENT}` },
    })
    const hidden = await call(client, 'get_agent_profile', { agent: 'bob/hidden' })
    expect(hidden).toMatchObject({ isError: true, structuredContent: { code: 'not_found' } })
    expect((await call(client, 'featured_agents')).structuredContent.agents).toHaveLength(2)
    await expect(call(client, 'invoke')).rejects.toThrow('unknown tool')
  })

  it('never asks to sign in, whatever is sent', async () => {
    const { url } = await startRelay()
    const client = await connect({ url, key: 'ck_nonsense' }, '/mcp/directory')
    expect(await names(client)).toContain('search_agents')
  })

  it('M-44 takes sixty requests a minute of one address', async () => {
    let now = 0
    const { url } = await startRelay({ now: () => now })
    const post = () =>
      ask(`${url}/mcp/directory`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      })
    for (let times = 0; times < 60; times += 1) expect((await post()).status).toBe(200)
    now += 50_000
    const refused = await post()
    expect([refused.status, refused.headers.get('retry-after'), refused.body.error.code]).toEqual([
      429,
      '10',
      'directory_rate_limited',
    ])
    now += 10_000
    expect((await post()).status).toBe(200)
  })

  it.each([{ agentServersEnabled: false }, { discoveryEnabled: false }])(
    'M-07 is not there with %j',
    async (settings) => {
      const { url } = await startRelay({ settings })
      for (const path of ['/mcp/directory', AGENT]) expect((await ask(url + path, { method: 'POST' })).status).toBe(404)
    },
  )
})
