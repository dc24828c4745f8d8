import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isJsonObject } from '../../../src/core/json.ts'
import { until } from '../services/processes.ts'
import { type Link, wrap } from './wrapped.ts'

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** A server of the official SDK. */
function official(enableJsonResponse: boolean) {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen: string[] = []
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    const capabilities = { logging: {}, tools: {}, prompts: {} }
    const server = new Server({ name: 'far', version: '1' }, { capabilities })
    const names = ['add', 'sample', 'slow', 'tell']
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }))
    server.setRequestHandler(GetPromptRequestSchema, () => ({ messages: [] }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, _meta }) => {
      const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })
      const { a, b } = params.arguments ?? {}
      if (params.name === 'add') return said(String(Number(a) + Number(b)))
      if (params.name === 'slow') {
        const progressToken = _meta?.progressToken ?? ''
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
      }
      if (params.name === 'tell') await server.sendLoggingMessage({ level: 'error', data: 'told' })
      if (params.name !== 'sample') return said('')
      const message = { role: 'user' as const, content: { type: 'text' as const, text: 'hello' } }
      return said((await server.createMessage({ messages: [message], maxTokens: 1 })).model)
    })
    await server.connect(transport)
    return transport
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id']
    seen.push(`${request.method} ${String(request.headers['mcp-protocol-version'])} ${request.headers.authorization}`)
    const transport = typeof id === 'string' ? sessions.get(id) : await open()
    if (transport === undefined) response.writeHead(404).end()
    else await transport.handleRequest(request, response)
  }
  return { sessions, seen, url: () => listening((request, response) => void handle(request, response)) }
}

interface Asked {
  readonly id?: number
  readonly method: string
}

/** A server that does to calls of tools what the test says, and to everything else what it should. */
function odd(call: (id: number, response: ServerResponse) => void): Promise<string> {
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'odd', version: '1' },
    },
    'tools/list': { tools: [{ name: 'odd', inputSchema: { type: 'object' } }] },
  }
  return listening((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end()
      return
    }
    void text(request).then((body) => {
      const { id, method } = JSON.parse(body) as Asked
      if (id === undefined) response.writeHead(202).end()
      else if (method === 'tools/call') call(id, response)
      else {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }))
      }
    })
  })
}

async function linkTo(url: string, token?: string): Promise<Link> {
  return (await wrap({ where: { url, token } })).link()
}

describe('an MCP server at an address', () => {
  for (const isJson of [true, false]) {
    it(`is wrapped like one that is started: answers are ${isJson ? 'JSON' : 'events'}`, async () => {
      const { url, seen } = official(isJson)
      const link = await linkTo(await url(), 'token')
      await link.initialize()
      expect(await link.names()).toEqual(['add', 'ping', 'sample', 'slow', 'tell'])
      expect(JSON.parse(await link.call('add', { a: 1, b: 2 })).result).toEqual({
        content: [{ type: 'text', text: '3' }],
      })
      expect(JSON.parse(await link.ask('prompts/get', { name: 'greet' })).result).toEqual({ messages: [] })
      expect(seen[0]).toBe('POST undefined Bearer token')
      expect(seen.slice(1).every((one) => one.endsWith('2025-11-25 Bearer token'))).toBe(true)
    })
  }

  it('has its progress, its questions and its news handed on', async () => {
    const { url, seen } = official(false)
    const link = await linkTo(await url())
    await link.initialize({ sampling: {} })
    await link.names()
    await link.call('slow', {}, { _meta: { progressToken: 9 } })
    expect(link.told).toContain(
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1}}',
    )
    const called = link.call('sample')
    const question = (): string | undefined => link.told.find((one) => one.includes('sampling/createMessage'))
    await until('the question', () => question() !== undefined)
    const { id } = JSON.parse(question() ?? '') as { id: string }
    const content = { type: 'text', text: 'x' }
    link.say(JSON.stringify({ jsonrpc: '2.0', id, result: { model: 'mine', role: 'assistant', content } }))
    expect(await called).toContain('mine')
    await until('somebody to listen', () => seen.filter((one) => one.startsWith('GET')).length > 1)
    await link.call('tell')
    await until('the log', () => link.told.some((one) => one.includes('told')))
  })

  it('that forgot the session gets a new one', async () => {
    const { url, sessions } = official(true)
    const link = await linkTo(await url())
    await link.call('add', { a: 1, b: 2 })
    sessions.clear()
    expect(await link.call('add', { a: 1, b: 2 })).toContain('answered with HTTP status 404')
    expect(await link.call('add', { a: 1, b: 2 })).toContain('"3"')
  })

  it('is told goodbye', async () => {
    const { url, sessions } = official(true)
    const { upstream } = await wrap({ where: { url: await url(), token: undefined } })
    expect(sessions.size).toBe(1)
    await upstream.close()
    await until('the end of the session', () => sessions.size === 0)
  })

  for (const { name, call, part } of [
    {
      name: 'a status alone',
      call: (_: number, response: ServerResponse) => response.writeHead(500).end('broken'),
      part: 'answered with HTTP status 500',
    },
    {
      name: 'an error with a status',
      call: (id: number, response: ServerResponse) =>
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(`{"jsonrpc":"2.0","id":${id},"error":{"code":-5,"message":"own words"}}`),
      part: '"code":-5,"message":"own words"',
    },
    {
      name: 'a stream that breaks off',
      call: (_: number, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n')
        setImmediate(() => response.destroy())
      },
      part: 'ERR_CALL_OUTCOME_UNKNOWN',
    },
    {
      name: 'nothing',
      call: (_: number, response: ServerResponse) => response.writeHead(200).end(),
      part: 'ERR_CALL_OUTCOME_UNKNOWN',
    },
    {
      name: 'events in odd pieces',
      call: (id: number, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
        const event = `: hello\r\nevent: message\rid: 1\ndata:{"jsonrpc":"2.0",\r\ndata: "id":${id},"result":{"ü":1}}\r\n\r\n`
        for (const byte of Buffer.from(event)) response.write(Buffer.of(byte))
        response.end()
      },
      part: '"result":{"ü":1}',
    },
  ]) {
    it(`may answer with ${name}`, async () => {
      const link = await linkTo(await odd(call))
      expect(await link.call('odd')).toContain(part)
      expect(await link.names()).toEqual(['odd', 'ping'])
    })
  }

  it('that is not there ends the start, and names no secret', async () => {
    const url = await listening((_, response) => void response.writeHead(401).end())
    const failure: unknown = await linkTo(url, 'secret-token').catch((error: unknown) => error)
    expect(failure).toMatchObject({
      code: 'ERR_SERVER_UNAVAILABLE',
      message: expect.stringContaining('HTTP status 401'),
    })
    expect(isJsonObject(failure) && JSON.stringify(failure)).not.toContain('secret-token')
    await expect(linkTo('http://127.0.0.1:1/mcp')).rejects.toMatchObject({
      code: 'ERR_SERVER_UNAVAILABLE',
      message: 'the MCP server cannot be reached: ECONNREFUSED',
    })
  })
})
