import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect } from 'vitest'
import { type JsonObject } from '../../src/core/json.ts'
import { MODERN, messagesOf, post } from './gateway.ts'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

const SERVER = fileURLToPath(new URL('../fixtures/servers/conformance.ts', import.meta.url))

async function peerOf(stage: Stage): Promise<string> {
  const env = { CT_AGENT_MCP_SERVER_CMD: `${process.execPath} ${SERVER}` }
  return stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'peer', env) }).line()
}

async function gateway(stage: Stage): Promise<URL> {
  const env = stateOf(stage, 'gateway', { CT_TICKET: await peerOf(stage) })
  return new URL(await stage.start(['gateway', '--addr', '127.0.0.1:0'], { env }).line())
}

/** A host of the newest revision that answers with its own name, and keeps what it was asked. */
function hostOf(name: string) {
  const asked: string[] = []
  const capabilities = { sampling: {}, elicitation: { form: {} } }
  const client = new Client({ name, version: '0' }, { capabilities, versionNegotiation: { mode: { pin: MODERN } } })
  client.setRequestHandler('sampling/createMessage', ({ params }) => {
    asked.push(JSON.stringify(params.messages))
    return { role: 'assistant', model: 'none', content: { type: 'text', text: name } }
  })
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { username: name, email: 'a@example.org' } }
  })
  const call = async (tool: string, args: Record<string, string>) => {
    const { content } = await client.callTool({ name: tool, arguments: args })
    return (content as readonly { readonly text: string }[])[0]?.text
  }
  return { client, asked, call }
}

describe.concurrent('a host of the newest revision', SLOW, () => {
  it('answers over stdio what a server behind a peer asks during a call', async ({ stage }) => {
    const env = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: stage.folder,
      ...stateOf(stage, 'host', { CT_TICKET: await peerOf(stage) }),
    }
    const { client, asked, call } = hostOf('ann')
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp'], env }))
    expect(await call('test_sampling', { prompt: 'say it' })).toBe('LLM response: ann')
    expect(await call('test_elicitation', { message: 'who?' })).toContain('ann')
    expect(asked[0]).toContain('say it')
    expect(asked[1]).toBe('who?')
    await client.close()
  })
  it('answers over HTTP what is asked in its own call, and never in that of another', async ({ stage }) => {
    const url = await gateway(stage)
    const hosts = await Promise.all(
      ['ann', 'bob', 'eve'].map(async (name) => {
        const host = hostOf(name)
        await host.client.connect(new StreamableHTTPClientTransport(url))
        return host
      }),
    )
    for (const round of ['first', 'second']) {
      const calls = hosts.map(({ call }, index) => call('test_sampling', { prompt: `${round} of ${index}` }))
      expect(await Promise.all(calls)).toEqual(['LLM response: ann', 'LLM response: bob', 'LLM response: eve'])
    }
    expect(hosts.map(({ asked }) => asked.length)).toEqual([2, 2, 2])
    expect(hosts[1]?.asked[1]).toContain('second of 1')
    await Promise.all(hosts.map(({ client }) => client.close()))
  })

  it('gets an error, and no second call, for answers to what was never asked', async ({ stage }) => {
    const url = await gateway(stage)
    const meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    }
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'test_elicitation' }
    const send = async (more: JsonObject) => {
      const params = { name: 'test_elicitation', arguments: { message: 'who?' }, _meta: meta, ...more }
      const answer = await post(url.href, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
      return (await messagesOf(answer))[0]
    }
    const refused = { result: { isError: true, structuredContent: { code: 'ERR_CALL_INVALID' } } }
    expect(await send({ requestState: 'made up', inputResponses: {} })).toMatchObject(refused)
    const asked = (await send({})) as { result: { inputRequests: JsonObject; requestState: string } }
    expect(asked.result).toMatchObject({ resultType: 'input_required' })
    const { inputRequests, requestState } = asked.result
    const answer = { action: 'accept', content: { username: 'ann', email: 'a@example.org' } }
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((name) => [name, answer]))
    const done = { resultType: 'complete', content: [{ type: 'text', text: expect.stringContaining('ann') as string }] }
    expect(await send({ requestState, inputResponses })).toMatchObject({ result: done })
    expect(await send({ requestState, inputResponses })).toMatchObject(refused)
  })
})
