import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  type CreateMessageResult,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect } from 'vitest'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const SERVER = fileURLToPath(new URL('../fixtures/servers/conformance.ts', import.meta.url))

async function gateway(stage: Stage): Promise<URL> {
  const env = { CT_AGENT_MCP_SERVER_CMD: `${process.execPath} ${SERVER}` }
  const peer = stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'peer', env) })
  const running = stage.start(['gateway', '--addr', '127.0.0.1:0'], {
    env: stateOf(stage, 'gateway', { CT_TICKET: await peer.line() }),
  })
  return new URL(await running.line())
}

/** A host that answers for its model with its own name, and keeps what it was asked. */
async function host(url: URL, name: string) {
  const asked: string[] = []
  const client = new Client({ name, version: '0' }, { capabilities: { sampling: {}, elicitation: {} } })
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }): CreateMessageResult => {
    asked.push(JSON.stringify(params.messages))
    return { role: 'assistant', model: 'none', content: { type: 'text', text: name } }
  })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { username: name, email: 'a@example.org' } }
  })
  await client.connect(new StreamableHTTPClientTransport(url) as never)
  const call = async (tool: string, args: Record<string, string>) => {
    const { content } = await client.callTool({ name: tool, arguments: args })
    return (content as readonly { readonly text: string }[])[0]?.text
  }
  return { client, asked, call }
}

describe.concurrent('a server behind a peer that asks its client', SLOW, () => {
  it('asks the host of the gateway that called it, and never another', async ({ stage }) => {
    const url = await gateway(stage)
    const hosts = await Promise.all(['ann', 'bob', 'eve'].map((name) => host(url, name)))
    const answers = await Promise.all(hosts.map(({ call }, index) => call('test_sampling', { prompt: `for ${index}` })))
    expect(answers).toEqual(['LLM response: ann', 'LLM response: bob', 'LLM response: eve'])
    expect(hosts.map(({ asked }) => asked.length)).toEqual([1, 1, 1])
    expect(hosts[1]?.asked[0]).toContain('for 1')
    expect(await hosts[2]?.call('test_elicitation', { message: 'who?' })).toContain('eve')
    expect(hosts.map(({ asked }) => asked.length)).toEqual([1, 1, 2])
    await Promise.all(hosts.map(({ client }) => client.close()))
  })

  it('asks more hosts, one after the other and again, than may be connected at once', async ({ stage }) => {
    const url = await gateway(stage)
    const hosts = []
    for (let index = 0; index < 9; index += 1) hosts.push(await host(url, `host-${index}`))
    for (const round of ['first', 'second']) {
      for (const [index, { call }] of hosts.entries()) {
        expect(await call('test_sampling', { prompt: round })).toBe(`LLM response: host-${index}`)
      }
    }
    expect(hosts.every(({ asked }) => asked.length === 2)).toBe(true)
    await Promise.all(hosts.map(({ client }) => client.close()))
  })

  it('asks no host that did not say that it may be asked', async ({ stage }) => {
    const client = new Client({ name: 'mute', version: '0' })
    await client.connect(new StreamableHTTPClientTransport(await gateway(stage)) as never)
    const result = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'x' } }).catch(String)
    expect(JSON.stringify(result)).not.toContain('LLM response')
    await client.close()
  })
})
