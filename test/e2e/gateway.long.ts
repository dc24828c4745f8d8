import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { until } from '../mcp/services/processes.ts'
import { beginSession, echo, messagesOf, modernEcho, post, startGateway } from './gateway.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const INFO = { name: 'test', version: '0' }
const TOKEN = 'a-token-of-somebody'

const modernTransport = (url: URL) => new ModernTransport(url)
/** SDK v1; SDK v2 as it comes, choosing the revision itself, and with the newest one alone. */
const CLIENTS = [
  { client: () => new Client(INFO), transport: (url: URL) => new StreamableHTTPClientTransport(url) },
  { client: () => new ModernClient(INFO), transport: modernTransport },
  {
    client: () => new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } }),
    transport: modernTransport,
  },
  {
    client: () => new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    transport: modernTransport,
  },
]

/** A handler that says that it began, and ends when it is told to. */
function gated(stage: Stage) {
  const [began, gate] = [stage.path('began'), stage.path('gate')]
  const handler = `read -r line; echo run >> ${began}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo "$line!"`
  return {
    args: ['--handler', handler],
    began: () => until('the handler', () => existsSync(began)),
    runs: () => readFileSync(began, 'utf8'),
    open: () => writeFileSync(gate, ''),
  }
}

describe.concurrent('ct-agent gateway', SLOW, () => {
  it('serves the tools of a peer to official clients as if they were its own, and ends with them there', async ({
    stage,
  }) => {
    const { agent, url } = await startGateway(stage)
    const hosts = CLIENTS.map(({ client, transport }) => ({ host: client(), transport: transport(new URL(url)) }))
    for (const { host, transport } of hosts) {
      const errors: Error[] = []
      host.onerror = (error: Error) => errors.push(error)
      stage.onClose(() => host.close())
      await host.connect(transport as never)
      const { tools } = await host.listTools()
      expect(tools).toMatchObject([
        { name: 'ping', _meta: { 'ct-agent/name': 'ping' } },
        { name: 'service_echo', title: 'service/echo', _meta: { 'ct-agent/name': 'service/echo' } },
      ])
      const answer = await host.callTool({ name: 'service_echo', arguments: { input: 'hello' } })
      expect(answer).toMatchObject({ content: [{ type: 'text' }], structuredContent: { output: 'HELLO' } })
      expect(await host.callTool({ name: 'service_echo', arguments: { input: 'bad' } })).toMatchObject({
        isError: true,
        structuredContent: { code: 'ERR_TOOL_FAILED' },
      })
      const many = await Promise.all(Array.from({ length: 50 }, () => host.callTool({ name: 'ping' })))
      expect(many.every(({ isError }) => isError !== true)).toBe(true)
      await expect(host.callTool({ name: 'nope' })).rejects.toThrow(/unknown tool `nope`/)
      expect(errors).toEqual([])
    }
    agent.signal('SIGTERM')
    expect(await agent.exit).toEqual({ status: 0, signal: null })
  })

  it('gives each of fifty calls with one id its own answer, in one session, in many, and without', async ({
    stage,
  }) => {
    const { url } = await startGateway(stage)
    const one = await beginSession(url)
    const words = Array.from({ length: 50 }, (_, index) => `word ${index}`)
    const outputs = async (ask: (word: string) => Promise<Response>) => {
      const answers = await Promise.all(words.map(async (word) => messagesOf(await ask(word))))
      return answers.map((messages) => messages.at(-1))
    }
    const expected = words.map((word) => ({ id: 1, result: { structuredContent: { output: word.toUpperCase() } } }))
    expect(await outputs((word) => post(url, echo(word), one))).toMatchObject(expected)
    expect(await outputs(async (word) => post(url, echo(word), await beginSession(url)))).toMatchObject(expected)
    const modern = (word: string) => {
      const { body, headers } = modernEcho(word)
      return post(url, body, headers)
    }
    expect(await outputs(modern)).toMatchObject(expected)
  })

  it('has the answer for a host that comes back after its stream was cut', async ({ stage }) => {
    const gate = gated(stage)
    const { url } = await startGateway(stage, { serve: gate.args })
    const session = await beginSession(url)
    const cut = new AbortController()
    const response = await post(url, echo('kept'), session, cut.signal)
    const { value } = (await response.body?.getReader().read()) ?? {}
    const id = /^id: (\S+)$/m.exec(Buffer.from(value ?? []).toString())?.[1] ?? ''
    await gate.began()
    cut.abort()
    gate.open()
    const headers = { ...session, accept: 'text/event-stream', 'last-event-id': id }
    const again = await fetch(url, { headers })
    expect(await messagesOf(again)).toMatchObject([{ id: 1, result: { structuredContent: { output: 'kept!' } } }])
    expect((await fetch(url, { headers: { ...headers, 'last-event-id': id.replace(/\d+$/, '1') } })).status).toBe(204)
    expect(gate.runs()).toBe('run\n')
  })

  it('is come back to by an official client whose stream was cut', async ({ stage }) => {
    const gate = gated(stage)
    const { url } = await startGateway(stage, { serve: gate.args })
    const streams: AbortController[] = []
    const host = new Client(INFO)
    stage.onClose(() => host.close())
    const cuttable = async (input: string | URL, init: RequestInit = {}) => {
      const cut = new AbortController()
      const signal = AbortSignal.any([cut.signal, ...(init.signal ? [init.signal] : [])])
      const response = await fetch(input, { ...init, signal })
      if (init.method === 'POST' && response.headers.get('content-type') === 'text/event-stream') streams.push(cut)
      return response
    }
    await host.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: cuttable }) as never)
    await host.listTools()
    const before = streams.length
    const answer = host.callTool({ name: 'service_echo', arguments: { input: 'kept' } })
    await gate.began()
    await until('the stream of the call', () => streams.length > before)
    streams.at(-1)?.abort()
    gate.open()
    expect(await answer).toMatchObject({ structuredContent: { output: 'kept!' } })
  })

  it('tells hosts that listen when a peer has come', async ({ stage }) => {
    const { peer, url } = await startGateway(stage)
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(await peer.says(/at 127\.0\.0\.1:\d+/)) ?? []
    peer.signal('SIGTERM')
    await peer.exit
    const session = await beginSession(url)
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    expect(await messagesOf(await post(url, list, session))).toMatchObject([{ result: { tools: [] } }])
    expect(await messagesOf(await post(url, echo('x'), session))).toMatchObject([
      { result: { isError: true, structuredContent: { code: 'ERR_PEER_UNREACHABLE' } } },
    ])
    const stream = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } })
    const args = ['serve', '--listen', `127.0.0.1:${port}`]
    await stage.start(args, { env: stateOf(stage, 'peer') }).line()
    let heard = ''
    for await (const chunk of stream.body ?? []) {
      heard += Buffer.from(chunk).toString()
      if (heard.includes('notifications/tools/list_changed')) break
    }
    expect(await messagesOf(await post(url, list, session))).toMatchObject([{ result: { tools: [{ name: 'ping' }] } }])
  })

  it('answers nobody who was sent here by a page, and refuses what is too large with its id', async ({ stage }) => {
    const { url } = await startGateway(stage, { gateway: ['--origins', 'https://app.example.org'] })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })
    const ask = async (headers: Record<string, string>) => {
      const asked = request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } })
      asked.end(body)
      const [{ statusCode }] = (await once(asked, 'response')) as [{ statusCode: number }]
      return statusCode
    }
    const { port } = new URL(url)
    expect(await ask({ host: `evil.example.com:${port}` })).toBe(403)
    expect(await ask({ origin: 'http://evil.example.com' })).toBe(403)
    expect(await ask({ host: `localhost:${port}` })).toBe(200)
    expect(await ask({ origin: 'https://app.example.org' })).toBe(200)
    const session = await beginSession(url)
    const response = await post(url, `{"jsonrpc":"2.0","id":"big","x":"${'x'.repeat(11_000_000)}"}`, session)
    expect([response.status, await response.json()]).toMatchObject([413, { id: 'big', error: { code: -32600 } }])
    expect((await post(url, '{"jsonrpc":', session)).status).toBe(400)
    expect(await messagesOf(await post(url, echo('still'), session))).toMatchObject([{ id: 1, result: {} }])
  })

  it('needs a token where others than this machine reach it, and asks for one wherever there is one', async ({
    stage,
  }) => {
    const file = stage.path('tokens')
    writeFileSync(file, `# of two\n${TOKEN}\n\nanother-token-altogether\n`)
    const refused = (args: readonly string[], env = {}) =>
      stage.finish(['gateway', 'x', ...args], { env: stateOf(stage, 'gateway', env) })
    const open = await refused(['--addr', '0.0.0.0:0'])
    expect(open).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('CT_GATEWAY_TOKEN required') })
    const short = await refused([], { CT_GATEWAY_TOKEN: 'c0ffee-secret' })
    expect(short).toMatchObject({ status: 2, stderr: expect.stringContaining('found 13') })
    expect(short.stderr).not.toContain('c0ffee-secret')
    const { url, agent } = await startGateway(stage, { gateway: ['--addr', '0.0.0.0:0', '--token-file', file] })
    const here = url.replace('0.0.0.0', '127.0.0.1')
    const none = await post(here, echo('x'))
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="ct-agent"'])
    const mine = await beginSession(here, '2025-11-25', { authorization: `Bearer ${TOKEN}` })
    expect(await messagesOf(await post(here, echo('x'), mine))).toMatchObject([{ id: 1, result: {} }])
    const foreign = { ...mine, authorization: 'Bearer another-token-altogether' }
    expect((await post(here, echo('x'), foreign)).status).toBe(404)
    expect(agent.stderr).not.toContain(TOKEN)
  })

  it('ends within a second, streams and all, and what the peer runs for it ends too', async ({ stage }) => {
    const gate = gated(stage)
    const { agent, peer, url } = await startGateway(stage, { serve: gate.args })
    const session = await beginSession(url)
    const listening = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } })
    const [call, modern] = [post(url, echo('x'), session), modernEcho('y')]
    const other = post(url, modern.body, modern.headers)
    await gate.began()
    const began = performance.now()
    agent.signal('SIGTERM')
    const answers = await Promise.all([messagesOf(await call), messagesOf(await other)])
    expect(answers).toMatchObject(Array(2).fill([{ id: 1, error: { data: { code: 'ERR_PEER_SHUTDOWN' } } }]))
    expect(await listening.text()).toMatch(/^(id: g-0\nretry: 1000\ndata: \n\n)?$/)
    expect(await agent.exit).toEqual({ status: 0, signal: null })
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(agent.lines).toEqual([url])
    peer.signal('SIGTERM')
    expect(await peer.exit).toEqual({ status: 0, signal: null })
  })

  it('says in one line of JSON where it is, and in a code that somebody else is there already', async ({ stage }) => {
    const { agent, peer, url } = await startGateway(stage, { gateway: ['--json'] })
    const said = JSON.parse(url) as { url: string; peers: string[] }
    expect(said).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      peers: [expect.any(String)],
    })
    expect(await (await fetch(said.url.replace('/mcp', '/healthz'))).text()).toBe('ok\n')
    const again = (env: Env, ...more: readonly string[]) =>
      stage.finish(['gateway', '--addr', new URL(said.url).host, ...more], { env: stateOf(stage, 'other', env) })
    const second = await again({ CT_TICKET: await peer.line() })
    expect(second).toMatchObject({ status: 8, stdout: '', stderr: expect.stringContaining('ERR_ADDRESS_IN_USE') })
    const unknown = await again({}, said.peers[0] ?? '')
    expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining('ERR_PEER_UNKNOWN') })
    expect(agent.stderr).toContain('every program of this machine')
  })
})
