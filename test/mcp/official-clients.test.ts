import { Client as ModernClient } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { describe, expect, it } from 'vitest'
import { decodeUtf8 } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'
import { pingTool, type Tool } from '../../src/mcp/tool.ts'
import { type TestPort } from './port-pair.ts'
import { serve, toolOf } from './serve.ts'

/** A link as the transport that both official SDKs expect. */
class PortTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  // biome-ignore lint/suspicious/noExplicitAny: the two SDKs have two types for one message
  onmessage?: (message: any) => void
  readonly #port: TestPort

  constructor(port: TestPort) {
    this.#port = port
  }

  async start(): Promise<void> {
    this.#port.receive((message) => {
      if (message.kind === 'text') this.onmessage?.(JSON.parse(decodeUtf8(message.bytes) ?? ''))
    })
  }

  async send(message: object): Promise<void> {
    await this.#port.send({ text: JSON.stringify(message) })
  }

  async close(): Promise<void> {
    this.onclose?.()
  }
}

const tools: readonly Tool[] = [
  pingTool,
  toolOf('service/text_generation', () => ({ output: 'hello' }), {
    inputSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  }),
  toolOf('fail', () => {
    throw new CtError('ERR_TOOL_FAILED', 'no paper')
  }),
  toolOf(
    'fail-typed',
    () => {
      throw new CtError('ERR_TOOL_FAILED', 'no ink')
    },
    { outputSchema: { type: 'object', properties: { output: { type: 'string' } }, required: ['output'] } },
  ),
]

const INFO = { name: 'test', version: '0' }

const clients: readonly { name: string; create: () => Client | ModernClient }[] = [
  { name: 'SDK v1', create: () => new Client(INFO) },
  { name: 'SDK v2, legacy', create: () => new ModernClient(INFO) },
  { name: 'SDK v2, choosing itself', create: () => new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } }) },
  {
    name: 'SDK v2, modern only',
    create: () => new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
  },
]

describe('serveMcp, to the official clients', () => {
  for (const { name, create } of clients) {
    it(`lists and calls tools for ${name} (W6)`, async () => {
      const errors: Error[] = []
      const client = create()
      client.onerror = (error) => errors.push(error)
      await client.connect(new PortTransport(serve({ tools }).pair.caller))
      const { tools: listed } = await client.listTools()
      expect(listed.map((tool) => tool.name)).toEqual(['fail', 'fail-typed', 'ping', 'service/text_generation'])
      const pong = await client.callTool({ name: 'ping' })
      expect(pong).toMatchObject({
        content: [{ type: 'text', text: '{"reply":"pong"}' }],
        structuredContent: { reply: 'pong' },
      })
      expect(await client.callTool({ name: 'service/text_generation', arguments: { input: 'x' } })).toMatchObject({
        structuredContent: { output: 'hello' },
      })
      expect(await client.callTool({ name: 'fail' })).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: 'no paper' }],
      })
      expect(await client.callTool({ name: 'fail-typed' })).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: 'no ink' }],
        _meta: { 'ct-agent/error': { code: 'ERR_TOOL_FAILED', message: 'no ink' } },
      })
      await expect(client.callTool({ name: 'nope' })).rejects.toThrow(/unknown tool `nope`/)
      expect(errors).toEqual([])
    })
  }
})
