import { readFileSync } from 'node:fs'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as OldestClient } from 'mcp-sdk-oldest/client/index.js'
import { StdioClientTransport as OldestStdio } from 'mcp-sdk-oldest/client/stdio.js'
import { afterAll, describe, expect } from 'vitest'
import { HANDLER } from './gateway.ts'
import { makeKeys } from './members.ts'
import { dialAs } from './own-member.ts'
import { targetOf } from './peer.ts'
import { type AnyTransport, askingFor } from './pinned-transport.ts'
import { SessionTransport } from './session-transport.ts'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
const NEWEST = '2026-07-28'
const INFO = { name: 'test', version: '0' }

type AnyClient = Client | ModernClient | OldestClient
type Sdk = 'oldest' | 'v1' | 'v2'

interface Way {
  readonly name: string
  /** As clients of this SDK get to the peer. */
  readonly open: (stage: Stage, ticket: string, sdk: Sdk) => Promise<AnyTransport>
  /** What the service is called there. */
  readonly tool: string
}

const WAYS: readonly Way[] = [
  { name: 'channel', open: overChannel, tool: 'service/echo' },
  {
    name: '`mcp`',
    open: async (stage, ticket, sdk) => {
      const env = { ...stateOf(stage, 'host'), PATH: '/usr/local/bin:/usr/bin:/bin', HOME: stage.path('home') }
      const started = { command: process.execPath, args: [PROGRAM, 'mcp', ticket], env }
      if (sdk === 'oldest') return new OldestStdio(started)
      return sdk === 'v1' ? new StdioClientTransport(started) : new ModernStdio(started)
    },
    tool: 'service_echo',
  },
  {
    name: '`gateway`',
    open: async (stage, ticket, sdk) => {
      const args = ['gateway', ticket, '--addr', '127.0.0.1:0']
      const url = new URL(await stage.start(args, { env: stateOf(stage, 'host') }).line())
      return (sdk === 'v1' ? new StreamableHTTPClientTransport(url) : new ModernHttp(url)) as AnyTransport
    },
    tool: 'service_echo',
  },
]

/** The first release, which speaks no HTTP but the old kind. */
const OLDEST = {
  name: 'SDK 1.0.0',
  sdk: 'oldest',
  revision: LEGACY[0],
  make: () => new OldestClient(INFO, { capabilities: {} }),
} as const

const CLIENTS = [
  OLDEST,
  ...LEGACY.map((revision) => ({ name: 'SDK v1', sdk: 'v1', revision, make: () => new Client(INFO) }) as const),
  ...LEGACY.map((revision) => ({ name: 'SDK v2', sdk: 'v2', revision, make: () => new ModernClient(INFO) }) as const),
  {
    name: 'SDK v2',
    sdk: 'v2',
    revision: NEWEST,
    make: () => new ModernClient(INFO, { versionNegotiation: { mode: { pin: NEWEST } } }),
  },
] as const

async function overChannel(stage: Stage, ticket: string): Promise<AnyTransport> {
  return new SessionTransport(await dialAs(makeKeys(), targetOf(ticket), (close) => stage.onClose(close)))
}

/** Lists, calls, hears of a failure and of a mistake. */
async function exercise(client: AnyClient, tool: string): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['ping', tool])
  const echo = (input: string) => client.callTool({ name: tool, arguments: { input } })
  expect(await echo('hello')).toMatchObject({ content: [{ type: 'text' }], structuredContent: { output: 'HELLO' } })
  expect(await echo('bad')).toMatchObject({ isError: true })
  await expect(client.callTool({ name: 'nope' })).rejects.toThrow(/nope/)
}

/** What held: of each client and revision, the ways. */
const held = new Map<string, Set<string>>()

describe('every revision of MCP, over every way', SLOW, () => {
  for (const { name, sdk, revision, make } of CLIENTS) {
    for (const way of sdk === 'oldest' ? WAYS.filter(({ name: word }) => word !== '`gateway`') : WAYS) {
      it(`is spoken by ${name} in ${revision} over ${way.name}`, async ({ stage }) => {
        const served = ['serve', '--listen', '127.0.0.1:0', '--handler', HANDLER, '--services', 'echo']
        const ticket = await stage.start(served, { env: stateOf(stage, 'peer') }).line()
        const { transport, agreed } = askingFor(await way.open(stage, ticket, sdk), revision)
        const client = make()
        stage.onClose(() => client.close())
        await client.connect(transport as never)
        if (revision !== NEWEST) expect(agreed()).toBe(revision)
        await exercise(client, way.tool)
        await client.close()
        const row = `| ${revision} | ${name} |`
        held.set(row, (held.get(row) ?? new Set()).add(way.name))
      })
    }
  }

  afterAll(() => {
    const rows = [...held].sort(([one], [other]) => (one < other ? -1 : 1))
    const table = rows.map(
      ([row, ways]) => `${row} ${WAYS.map(({ name }) => (ways.has(name) ? 'yes' : 'no')).join(' | ')} |`,
    )
    const docs = readFileSync(new URL('../../docs/mcp-hosts.md', import.meta.url), 'utf8')
    expect(docs).toContain(
      ['| revision | client | channel | `mcp` | `gateway` |', '| --- | --- | --- | --- | --- |', ...table, ''].join(
        '\n',
      ),
    )
  })
})
