import { existsSync, readFileSync } from 'node:fs'
import { Client as ModernClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect } from 'vitest'
import { type JsonObject } from '../../src/core/json.ts'
import { isRunning, until } from '../mcp/services/processes.ts'
import { type Agent } from './agent.ts'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

const INFO = { name: 'test', version: '0' }
const HANDLER = 'read -r line; [ "$line" = bad ] && exit 3; echo "$line" | tr a-z A-Z'

interface Serving {
  readonly agent: Agent
  readonly ticket: string
}

async function serve(stage: Stage, name: string, ...more: readonly string[]): Promise<Serving> {
  const args = ['serve', '--listen', '127.0.0.1:0', '--handler', HANDLER, '--services', 'echo', ...more]
  const agent = stage.start(args, { env: stateOf(stage, name) })
  return { agent, ticket: await agent.line() }
}

/** The program as a host starts it, spoken to by hand. */
class Host {
  readonly agent: Agent
  #nextId = 1

  constructor(stage: Stage, peers: readonly string[], env: Record<string, string> = {}) {
    this.agent = stage.start(['mcp', ...peers], { env: stateOf(stage, 'host', env) })
    this.say({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: INFO },
    })
    this.say({ method: 'notifications/initialized' })
  }

  say(message: JsonObject): void {
    this.agent.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  get said(): readonly Record<string, unknown>[] {
    return this.agent.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  async ask(method: string, params: JsonObject = {}): Promise<Record<string, unknown>> {
    const id = this.#nextId
    this.#nextId += 1
    this.say({ id, method, params })
    const answer = () => this.said.find((message) => message['id'] === id)
    await until(`an answer to ${method}`, () => answer() !== undefined, 20_000)
    return answer() ?? {}
  }

  async names(): Promise<readonly string[]> {
    const { result } = await this.ask('tools/list')
    return (result as { tools: { name: string }[] }).tools.map(({ name }) => name)
  }
}

interface Started {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
}

describe.concurrent('ct-agent mcp, started by a host', SLOW, () => {
  for (const { name, client, transport } of [
    {
      name: 'SDK v1',
      client: () => new Client(INFO),
      transport: (started: Started) => new StdioClientTransport(started),
    },
    {
      name: 'SDK v2, legacy',
      client: () => new ModernClient(INFO),
      transport: (started: Started) => new ModernTransport(started),
    },
    {
      name: 'SDK v2, choosing itself',
      client: () => new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } }),
      transport: (started: Started) => new ModernTransport(started),
    },
  ]) {
    it(`serves the tools of a peer to ${name} as if they were local`, async ({ stage }) => {
      const { ticket } = await serve(stage, 'server')
      const host = client()
      const errors: Error[] = []
      host.onerror = (error: Error) => errors.push(error)
      const env = {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: stage.folder,
        CT_TICKET: ticket,
        ...stateOf(stage, 'host'),
      }
      stage.onClose(() => host.close())
      await host.connect(
        transport({ command: process.execPath, args: [PROGRAM, 'mcp'], env: env as Record<string, string> }),
      )
      const { tools } = await host.listTools()
      expect(tools).toMatchObject([
        { name: 'ping', _meta: { 'ct-agent/name': 'ping' } },
        { name: 'service_echo', title: 'service/echo', _meta: { 'ct-agent/name': 'service/echo' } },
      ])
      expect(await host.callTool({ name: 'ping' })).toMatchObject({ structuredContent: { reply: 'pong' } })
      for (const called of ['service_echo', 'service/echo']) {
        const answer = await host.callTool({ name: called, arguments: { input: 'hello' } })
        expect(answer).toMatchObject({ content: [{ type: 'text' }], structuredContent: { output: 'HELLO' } })
      }
      expect(await host.callTool({ name: 'service_echo', arguments: { input: 'bad' } })).toMatchObject({
        isError: true,
        structuredContent: { code: 'ERR_TOOL_FAILED' },
      })
      const many = await Promise.all(Array.from({ length: 50 }, () => host.callTool({ name: 'ping' })))
      expect(many.every(({ isError }) => isError !== true)).toBe(true)
      await expect(host.callTool({ name: 'nope' })).rejects.toThrow(/unknown tool `nope`/)
      await host.close()
      expect(errors).toEqual([])
    })
  }

  it('begins the names with those of the peers where there are several', async ({ stage }) => {
    const [one, other] = await Promise.all([serve(stage, 'one'), serve(stage, 'other')])
    const join = await stage.finish(['join', other.ticket, '--name', 'other'], { env: stateOf(stage, 'host') })
    expect(join.status).toBe(0)
    const host = new Host(stage, [one.ticket, 'other'])
    const names = await host.names()
    expect(names.toSorted()).toEqual([
      'other_ping',
      'other_service_echo',
      expect.stringMatching(/^peer(?:X\d|[A-F])[0-9a-f]{5}_ping$/),
      expect.stringMatching(/^peer(?:X\d|[A-F])[0-9a-f]{5}_service_echo$/),
    ])
    const { result } = await host.ask('tools/call', { name: 'other_service_echo', arguments: { input: 'x' } })
    expect(result).toMatchObject({ structuredContent: { output: 'X' } })
  })

  it('answers a host while the peer is not there, says why, and tells it when the peer has come', async ({ stage }) => {
    const { agent, ticket } = await serve(stage, 'server')
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(await agent.says(/at 127\.0\.0\.1:\d+/)) ?? []
    agent.signal('SIGTERM')
    await agent.exit
    const host = new Host(stage, [ticket])
    expect(await host.names()).toEqual([])
    expect(await host.ask('tools/call', { name: 'ping' })).toMatchObject({
      result: { isError: true, structuredContent: { code: 'ERR_PEER_UNREACHABLE' } },
    })
    const args = ['serve', '--listen', `127.0.0.1:${port}`]
    const back = stage.start(args, { env: stateOf(stage, 'server') })
    await back.line()
    const isTold = () => host.said.some(({ method }) => method === 'notifications/tools/list_changed')
    await until('word of the change', isTold, 20_000)
    expect(await host.names()).toEqual(['ping'])
  })

  it('prints nothing but the protocol, and ends soon with its host, and so does what the peer runs for it', async ({
    stage,
  }) => {
    const pids = stage.path('pids')
    const { ticket } = await serve(stage, 'server', '--handler', `echo $$ >> ${pids}; sleep 60`)
    const host = new Host(stage, [ticket], { CT_LOG_LEVEL: 'debug' })
    await host.names()
    host.say({ id: 'x', method: 'tools/call', params: { name: 'service_echo', arguments: { input: 'x' } } })
    await until('the handler', () => existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n'))
    const pid = Number(readFileSync(pids, 'utf8'))
    host.agent.end()
    expect(await host.agent.exit).toEqual({ status: 0, signal: null })
    expect(host.said.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
    await until('the end of the handler', () => !isRunning(pid))
  })

  it('runs as often as hosts start it with one configuration, also after one of them was killed', async ({ stage }) => {
    const { ticket } = await serve(stage, 'server')
    const [one, other] = [new Host(stage, [ticket]), new Host(stage, [ticket])]
    const works = async (host: Host): Promise<void> => {
      const { result } = await host.ask('tools/call', { name: 'service_echo', arguments: { input: 'x' } })
      expect(result).toMatchObject({ structuredContent: { output: 'X' } })
    }
    await Promise.all([works(one), works(other)])
    await one.agent.kill()
    await Promise.all([works(other), works(new Host(stage, [ticket]))])
    expect(other.agent.child.exitCode).toBeNull()
  })

  it('ends without a word when its host reads nothing any more', async ({ stage }) => {
    const { agent, ticket } = await serve(stage, 'server')
    const host = new Host(stage, [ticket])
    await host.names()
    host.agent.child.stdout?.destroy()
    host.say({ id: 'x', method: 'tools/call', params: { name: 'service_echo', arguments: { input: 'x' } } })
    // What shells say of a program that wrote to a pipe without a reader.
    expect(await host.agent.exit).toEqual({ status: 141, signal: null })
    expect(host.agent.stderr).toBe('')
    expect(agent.child.exitCode).toBeNull()
    expect(await new Host(stage, [ticket]).names()).toHaveLength(2)
  })

  it('recovers from lines that are no messages, and refuses stdin as a ticket', async ({ stage }) => {
    const { ticket } = await serve(stage, 'server')
    const host = new Host(stage, [ticket])
    host.agent.write(`Content-Length: 2\r\n\r\n{}\n${'x'.repeat(11_000_000)}\n`)
    expect(await host.names()).toHaveLength(2)
    expect(host.said.filter(({ error }) => error !== undefined)).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
    ])
    const refused = await stage.finish(['mcp', '-'], { env: stateOf(stage, 'host') })
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('ERR_USAGE') })
  })
})
