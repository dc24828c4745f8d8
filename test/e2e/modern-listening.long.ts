import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect } from 'vitest'
import { MODERN, messagesOf, post, startGateway } from './gateway.ts'
import { it, PROGRAM, SLOW, stateOf } from './stage.ts'

const INFO = { name: 'test', version: '0' }
const PIN = { versionNegotiation: { mode: { pin: MODERN } } }

describe.concurrent('a host of the newest revision', SLOW, () => {
  for (const way of ['gateway', 'adapter'] as const) {
    it(`hears through the ${way} when a peer has come, for as long as it listens`, async ({ stage }) => {
      const { peer, url } = await startGateway(stage)
      const ticket = peer.lines[0] ?? ''
      const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(await peer.says(/at 127\.0\.0\.1:\d+/)) ?? []
      peer.signal('SIGTERM')
      await peer.exit
      const client = new Client(INFO, PIN)
      const env = { PATH: '/usr/local/bin:/usr/bin:/bin', ...stateOf(stage, 'host', { CT_TICKET: ticket }) }
      const adapter = { command: process.execPath, args: [PROGRAM, 'mcp'], env: env as Record<string, string> }
      await client.connect(
        way === 'gateway' ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport(adapter),
      )
      expect((await client.listTools()).tools).toEqual([])
      const changed = Promise.withResolvers<void>()
      client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
      const { honoredFilter, close, closed } = await client.listen({
        toolsListChanged: true,
        promptsListChanged: true,
        resourceSubscriptions: ['file:///a'],
      })
      expect(honoredFilter).toEqual({ toolsListChanged: true, promptsListChanged: true })
      await stage.start(['serve', '--listen', `127.0.0.1:${port}`], { env: stateOf(stage, 'peer') }).line()
      await changed.promise
      expect((await client.listTools()).tools).toMatchObject([{ name: 'ping' }])
      await close()
      expect(await closed).toBe('local')
      expect((await client.callTool({ name: 'ping', arguments: {} })).isError).not.toBe(true)
      await client.close()
    })
  }

  it('is told when it does not say what it wants to hear', async ({ stage }) => {
    const { url } = await startGateway(stage)
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': INFO,
    }
    const request = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta, notifications: 7 } }
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'subscriptions/listen' }
    const [answer] = await messagesOf(await post(url, request, headers))
    expect(answer).toMatchObject({ id: 1, error: { code: -32602 } })
  })
})
