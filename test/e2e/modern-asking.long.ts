import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect } from 'vitest'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

const SERVER = fileURLToPath(new URL('../fixtures/servers/conformance.ts', import.meta.url))

async function peerOf(stage: Stage): Promise<string> {
  const env = { CT_AGENT_MCP_SERVER_CMD: `${process.execPath} ${SERVER}` }
  return stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'peer', env) }).line()
}

/** A host of the newest revision that answers with its own name, and keeps what it was asked. */
function hostOf(name: string) {
  const asked: string[] = []
  const capabilities = { sampling: {}, elicitation: { form: {} } }
  const client = new Client(
    { name, version: '0' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
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
})
