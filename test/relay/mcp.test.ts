import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OPERATIONS } from '../../src/relay/operations.ts'
import { type Person, startRelay } from './harness.ts'

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const INFO = { name: 'test', version: '1' }

function bearer({ key }: Person) {
  return { requestInit: { headers: { authorization: `Bearer ${key}` } } }
}

describe('M-02 /mcp', () => {
  it('M-05 M-10 answers the official client of the older revisions, with an API key', async () => {
    const { url, person } = await startRelay()
    const bob = await person('bob')
    await bob.agent('venue-bot')
    const client = new Client(INFO)
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), bearer(bob)) as never)
    onTestFinished(() => client.close())
    expect(client.getInstructions()).toContain('account/agent')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(
      OPERATIONS.filter(({ tool }) => tool !== undefined).map(({ name }) => name),
    )
    const { structuredContent, isError } = await client.callTool({ name: 'list_my_agents', arguments: {} })
    expect(isError).toBe(false)
    expect(structuredContent).toMatchObject({ items: [{ slug: 'venue-bot', account_slug: 'bob' }] })
  })

  it('answers the official client of the newest revision', async () => {
    const { url, person } = await startRelay()
    const bob = await person('bob')
    const client = new ModernClient(INFO)
    await client.connect(new ModernTransport(new URL(`${url}/mcp`), bearer(bob)))
    onTestFinished(() => client.close())
    const made = await client.callTool({
      name: 'create_agent',
      arguments: { account_id: bob.accountId, slug: 'helper', display_name: 'Helper' },
    })
    expect(made.structuredContent).toMatchObject({ slug: 'helper', mode: 'pull' })
    const text = made.content[0]?.type === 'text' ? made.content[0].text : ''
    expect(JSON.parse(text)).toEqual(made.structuredContent)
  })

  it('M-51 M-61 is all that an agent needs, from its making to its answers, and has no tools for what there is not', async () => {
    const { url, person } = await startRelay()
    const [bob, eve] = [await person('bob'), await person('eve')]
    const hosts = []
    for (const who of [bob, eve]) {
      const client = new ModernClient(INFO)
      await client.connect(new ModernTransport(new URL(`${url}/mcp`), bearer(who)))
      onTestFinished(() => client.close())
      hosts.push(async (name: string, args: Record<string, unknown> = {}) => {
        const { structuredContent, isError, content } = await client.callTool({ name, arguments: args })
        if (isError === true) throw new Error(JSON.stringify(content))
        // biome-ignore lint/suspicious/noExplicitAny: what a tool answers is what the test examines
        return structuredContent as any
      })
    }
    const [asBob, asEve] = hosts
    if (asBob === undefined || asEve === undefined) throw new Error('expected two hosts')
    const [account] = (await asBob('list_my_accounts')).items
    await asBob('create_agent', { account_id: account.id, slug: 'hall', display_name: 'Hall', visibility: 'network' })
    const { id } = await asBob('publish_capability', { agent_id: 'bob/hall', name: 'is_free' })
    await asEve('create_agent', { account_id: eve.accountId, slug: 'planner', display_name: 'Planner' })
    const proposed = await asEve('propose_friendship', { proposer_agent_id: 'planner', target_agent_id: 'bob/hall' })
    await asBob('accept_friendship', { friendship_id: proposed.friendship_id })
    const [friendship] = (await asBob('list_friendships', { status: 'accepted' })).items
    await asBob('create_grant', {
      granter_agent_id: 'hall',
      grantee_agent_id: friendship.proposer_agent_id,
      capability_id: id,
    })
    expect((await asBob('pull_notices', { agent_id: 'hall' })).items).toMatchObject([{ kind: 'friendship_proposed' }])
    const done = asEve('invoke', { agent: 'bob/hall', capability: 'is_free', input: {}, wait_seconds: 20 })
    const [work] = (await asBob('pull_inbox', { agent_id: 'hall', wait_seconds: 20 })).items
    await asBob('respond', { invocation_id: work.invocation_id, status: 'succeeded', output: { free: true } })
    expect(await done).toMatchObject({ status: 'succeeded', output: { free: true } })
    await expect(asEve('start_call')).rejects.toThrow('unknown tool')
  })

  it.each(REVISIONS)('echoes the revision %s', async (version) => {
    const { person } = await startRelay()
    const bob = await person('bob')
    const { body } = await post(bob, {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: version, capabilities: {}, clientInfo: INFO },
    })
    expect(body.result.protocolVersion).toBe(version)
    expect(body.result.capabilities).toEqual({ tools: {} })
  })

  it('M-57 answers a refusal with a tool error that has its code, never with an error of JSON-RPC', async () => {
    const { person } = await startRelay()
    const bob = await person('bob')
    const call = (name: string, args: unknown) =>
      post(bob, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
    const unknown = await call('get_agent', { agent_id: 'eve/nobody' })
    expect(unknown.body.result).toMatchObject({ isError: true, structuredContent: { code: 'not_found' } })
    const wrong = await call('create_agent', { account_id: 'x' })
    expect(wrong.body.result.structuredContent).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('account_id: expected a UUID'),
    })
    const none = await call('no_such_tool', {})
    expect(none.body.error).toMatchObject({ code: -32602 })
  })

  it.each([
    ['nothing', undefined, 'scope="relay.full"'],
    ['a key that was never given out', `ck_${'0'.repeat(64)}`, 'error="invalid_token"'],
  ])('M-09 tells who comes with %s where to sign in', async (_, key, said) => {
    const { url } = await startRelay()
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: '{}',
    })
    expect(response.status).toBe(401)
    const challenge = response.headers.get('www-authenticate')
    expect(challenge).toContain(`resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`)
    expect(challenge).toContain(said)
  })

  it.each([
    ['no JSON', '{', 400, -32700],
    ['a list of nothing', '[]', 400, -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', 400, -32600],
    ['a method that there is not', '{"jsonrpc":"2.0","id":1,"method":"tools/eat"}', 200, -32601],
    ['parameters by position', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}', 200, -32602],
  ])('answers %s with an error of JSON-RPC', async (_, text, status, code) => {
    const { person } = await startRelay()
    const answer = await postText(await person('bob'), text)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })

  it('takes notifications without an answer, answers a batch as one and refuses GET', async () => {
    const { url, person } = await startRelay()
    const bob = await person('bob')
    expect((await postText(bob, '{"jsonrpc":"2.0","method":"notifications/initialized"}')).status).toBe(202)
    const batch = await postText(
      bob,
      '[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":1,"method":"x"}]',
    )
    expect(batch.body).toMatchObject([
      { id: 'a', result: {} },
      { id: 1, error: { code: -32601 } },
    ])
    const got = await fetch(`${url}/mcp`, bearer(bob).requestInit)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

function post(person: Person, message: unknown) {
  return postText(person, JSON.stringify(message))
}

async function postText({ url, key }: Person, body: string) {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
    },
    body,
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
