import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as ModernClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/core/json.ts'
import { until } from '../mcp/services/processes.ts'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

const INFO = { name: 'test', version: '0' }
const require = createRequire(import.meta.url)
const EVERYTHING = programIn(require.resolve('@modelcontextprotocol/server-everything/package.json'))
const FILESYSTEM = programIn(require.resolve('@modelcontextprotocol/server-filesystem/package.json'))
const PATH = '/usr/local/bin:/usr/bin:/bin'

function programIn(manifest: string): string {
  return join(dirname(manifest), 'dist', 'index.js')
}

interface Started {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
}

/** The server as a host would start it, and through a channel. */
async function bothWays(
  stage: Stage,
  server: readonly string[],
  { serveEnv = {}, hostEnv = {} }: { serveEnv?: Record<string, string>; hostEnv?: Record<string, string> } = {},
): Promise<readonly [Started, Started]> {
  const args = ['serve', '--listen', '127.0.0.1:0', '--', process.execPath, ...server]
  const ticket = await stage.start(args, { env: { ...stateOf(stage, 'server'), ...serveEnv } }).line()
  const env = { PATH, HOME: stage.folder }
  return [
    { command: process.execPath, args: [...server], env },
    {
      command: process.execPath,
      args: [PROGRAM, 'mcp'],
      env: { ...env, ...hostEnv, CT_TICKET: ticket, CT_AGENT_STATE_DIR: stage.path('host') },
    },
  ]
}

/** Without what is said to differ: names of tools, titles, what stands in `_meta`, tasks, and times of day. */
function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, member: unknown) => {
    if (key === '_meta' || key === 'execution') return undefined
    if (typeof member !== 'string') return member
    const text = key === 'blob' ? Buffer.from(member, 'base64').toString('latin1') : member
    return text.replace(/\d+:\d+:\d+ [AP]M/, 'now')
  })
}

interface Listed {
  readonly tools: readonly JsonObject[]
}

function listing({ tools }: Listed): unknown {
  const known = tools.filter(({ name }) => name !== 'ping')
  return comparable(
    known
      .map(({ title: _, name, ...tool }) => ({ ...tool, name: String(name).replaceAll('-', '_') }))
      .sort((left, right) => (left.name < right.name ? -1 : 1)),
  )
}

/** What it comes to, errors included. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return comparable(await work)
  } catch (error) {
    const { code, message, data } = error as { code?: number; message: string; data?: unknown }
    return { code, message, data }
  }
}

async function legacy(stage: Stage, started: Started, capabilities = {}): Promise<Client> {
  const client = new Client(INFO, { capabilities })
  stage.onClose(() => client.close())
  await client.connect(new StdioClientTransport({ ...started, stderr: 'ignore' }))
  return client
}

const CALLS: readonly (readonly [string, JsonObject])[] = [
  ['echo', { message: 'hello' }],
  ['echo', {}],
  ['get-sum', { a: 1, b: 2 }],
  ['get-sum', { a: 'one' }],
  ['get-tiny-image', {}],
  ['get-structured-content', { location: 'New York' }],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-resource-links', { count: 3 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: 2 }],
  ['gzip-file-as-resource', { name: 'x.gz', data: 'data:text/plain,abc', outputType: 'resource' }],
]

/** What one client is answered by one server. */
async function record(client: Client): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = { tools: listing((await client.listTools()) as unknown as Listed) }
  for (const [name, args] of CALLS) {
    answers[`${name} ${JSON.stringify(args)}`] = await outcome(client.callTool({ name, arguments: args }))
  }
  const prompt = (name: string, args: Record<string, string>) => outcome(client.getPrompt({ name, arguments: args }))
  const complete = (ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }, name: string) =>
    outcome(client.complete({ ref, argument: { name, value: '1' } }))
  return {
    ...answers,
    resources: await outcome(client.listResources()),
    templates: await outcome(client.listResourceTemplates()),
    read: await outcome(client.readResource({ uri: 'demo://resource/static/document/features.md' })),
    dynamic: await outcome(client.readResource({ uri: 'demo://resource/dynamic/blob/1' })),
    'no resource': await outcome(client.readResource({ uri: 'demo://nothing' })),
    prompts: await outcome(client.listPrompts()),
    'a prompt': await prompt('args-prompt', { city: 'Paris', state: 'Texas' }),
    'a prompt with a resource': await prompt('resource-prompt', { resourceType: 'Text', resourceId: '1' }),
    'a prompt without what it needs': await prompt('args-prompt', {}),
    'no prompt': await prompt('nothing', {}),
    completion: await complete({ type: 'ref/prompt', name: 'completable-prompt' }, 'department'),
    'completion of a resource': await complete(
      { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
      'resourceId',
    ),
    level: await outcome(client.setLoggingLevel('debug')),
    'no level': await outcome(client.setLoggingLevel('loud' as 'debug')),
  }
}

describe.concurrent('an MCP server behind a channel answers as it does here:', SLOW, () => {
  it('server-everything, to SDK v1', async ({ stage }) => {
    const [here, there] = await bothWays(stage, [EVERYTHING])
    const [near, far] = await Promise.all([legacy(stage, here), legacy(stage, there)])
    const [expected, found] = await Promise.all([record(near), record(far)])
    expect(found).toEqual(expected)
    expect(JSON.stringify(found)).toContain('"type":"image"')
  })

  it('server-filesystem, to SDK v1', async ({ stage }) => {
    const shared = stage.path('shared.txt')
    writeFileSync(shared, 'shared words\n')
    const [here, there] = await bothWays(stage, [FILESYSTEM, stage.folder])
    const [near, far] = await Promise.all([legacy(stage, here), legacy(stage, there)])
    const asked = async (client: Client): Promise<readonly unknown[]> => [
      listing((await client.listTools()) as unknown as Listed),
      await outcome(client.callTool({ name: 'read_text_file', arguments: { path: shared } })),
      await outcome(client.callTool({ name: 'read_text_file', arguments: { path: '/etc/hostname' } })),
      await outcome(client.callTool({ name: 'list_allowed_directories', arguments: {} })),
      await outcome(client.callTool({ name: 'get_file_info', arguments: {} })),
    ]
    expect(await asked(far)).toEqual(await asked(near))
  })

  it('server-everything, to SDK v2 of both eras', async ({ stage }) => {
    const [here, there] = await bothWays(stage, [EVERYTHING])
    const asked = async (client: ModernClient): Promise<readonly unknown[]> => [
      listing((await client.listTools()) as unknown as Listed),
      await outcome(client.callTool({ name: 'echo', arguments: { message: 'hello' } })),
      await outcome(client.listResources()),
      await outcome(client.getPrompt({ name: 'simple-prompt' })),
    ]
    const client = async (started: Started, mode: 'legacy' | 'auto'): Promise<ModernClient> => {
      const one = new ModernClient(INFO, { versionNegotiation: { mode } })
      stage.onClose(() => one.close())
      await one.connect(new ModernTransport({ ...started, stderr: 'ignore' }))
      return one
    }
    const expected = await asked(await client(here, 'legacy'))
    expect(await asked(await client(there, 'legacy'))).toEqual(expected)
    const modern = await asked(await client(there, 'auto'))
    expect(comparable(modern)).toMatchObject(expected as unknown as object)
  })

  it('its progress, its requests and its news reach the host, and cancelling reaches it', async ({ stage }) => {
    const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } }
    const [, there] = await bothWays(stage, [EVERYTHING], {
      serveEnv: { CT_AGENT_MCP_SERVER_ROOTS: '1' },
      hostEnv: { CT_MCP_ROOTS: '1' },
    })
    const client = await legacy(stage, there, capabilities)
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
      role: 'assistant',
      model: 'none',
      content: { type: 'text', text: `sampled ${JSON.stringify(params.messages)}` },
    }))
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }))
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///here', name: 'here' }] }))
    const updated: string[] = []
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
    const call = async (name: string, args: JsonObject = {}) =>
      JSON.stringify(await client.callTool({ name, arguments: args }))
    await client.listTools()
    expect(await call('trigger-sampling-request', { prompt: 'rhyme', maxTokens: 9 })).toContain('sampled [')
    expect(await call('trigger-elicitation-request')).toContain('declined')
    expect(await call('get-roots-list')).toContain('file:///here')

    const progress: number[] = []
    const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.5, steps: 5 } }
    await client.callTool(long, undefined, { onprogress: (told) => progress.push(told.progress) })
    expect(progress.slice(0, 4)).toEqual([1, 2, 3, 4])

    await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' })
    await call('toggle-subscriber-updates')
    await until('word of the resource', () => updated.includes('demo://resource/dynamic/text/1'))

    const stop = new AbortController()
    const cancelled = client.callTool({ ...long, arguments: { duration: 60, steps: 1 } }, undefined, {
      signal: stop.signal,
    })
    stop.abort(new Error('enough'))
    await expect(cancelled).rejects.toThrow('enough')
    expect(await call('echo', { message: 'still here' })).toContain('still here')
  })

  it('a long call lives as long as it says how far it is, and no longer than the host waits in all', async ({
    stage,
  }) => {
    const [, there] = await bothWays(stage, [EVERYTHING])
    const client = await legacy(stage, there)
    await client.listTools()
    const call = (steps: number, maxTotalTimeout: number): Promise<unknown> => {
      const params = { name: 'trigger-long-running-operation', arguments: { duration: steps / 4, steps } }
      const options = { timeout: 1_500, maxTotalTimeout, resetTimeoutOnProgress: true, onprogress: () => {} }
      return client.callTool(params, undefined, options)
    }
    expect(JSON.stringify(await call(10, 30_000))).toContain('completed')
    await expect(call(100, 1_000)).rejects.toThrow(/timeout/i)
    expect(JSON.stringify(await call(1, 30_000))).toContain('completed')
  })

  it('folders of the host open nothing on the serving side, unless both sides allow it', async ({ stage }) => {
    const [, there] = await bothWays(stage, [FILESYSTEM, stage.folder], { hostEnv: { CT_MCP_ROOTS: '1' } })
    const client = await legacy(stage, there, { roots: {} })
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///etc', name: 'etc' }] }))
    const answer = await client.callTool({ name: 'list_allowed_directories', arguments: {} })
    expect(JSON.stringify(answer)).toContain(stage.folder)
    const [text] = answer.content as readonly unknown[]
    expect(isJsonObject(text) && text['text']).not.toMatch(/\/etc$/m)
  })
})

describe.concurrent('ct-agent serve -- <command>', SLOW, () => {
  it('says what is wrong with a server that does not start', async ({ stage }) => {
    const args = ['serve', '--listen', '127.0.0.1:0', '--', 'sh', '-c', 'echo no such luck >&2; exit 4']
    const { status, stderr, stdout } = await stage.finish(args, { env: stateOf(stage, 'server') })
    expect(stdout).toBe('')
    expect(stderr).toContain('the MCP server ended with status 4; its last words: no such luck')
    expect(stderr).toContain('ERR_SERVER_UNAVAILABLE')
    expect(status).toBe(5)
  })

  it('starts a server whose path and arguments have blanks, quotes and other letters in them', async ({ stage }) => {
    const folder = stage.path('a folder, größer & "näher"')
    mkdirSync(folder)
    const words = ['two words', "it's", '"', '$HOME', '`id`', '*', '', '日本語']
    const program = join(folder, "that's odd.ts")
    copyFileSync(fileURLToPath(new URL('../fixtures/servers/odd.ts', import.meta.url)), program)
    const noted = join(folder, 'words.json')
    const noting = `require('node:fs').writeFileSync(${JSON.stringify(noted)}, JSON.stringify(process.argv.slice(2)))`
    const script = join(folder, 'note.cjs')
    writeFileSync(script, noting)
    const node = [process.execPath, '--no-warnings', '--require', script]
    const args = ['serve', '--listen', '127.0.0.1:0', '--', ...node, program, ...words]
    const ticket = await stage.start(args, { env: stateOf(stage, 'server') }).line()
    const { stdout } = await stage.finish(['tools', ticket, '--json'], { env: stateOf(stage, 'caller') })
    expect(stdout).toContain('"echo"')
    expect(JSON.parse(readFileSync(noted, 'utf8'))).toEqual(words)
  })

  it('serves under a signed offer what that declares', async ({ stage }) => {
    const offer = {
      CT_AGENT_OFFER_KIND: 'local',
      CT_AGENT_OFFER_MODELS: 'm1',
      CT_AGENT_OFFER_UNITS: '1',
      CT_AGENT_OFFER_MIN_PRICE: '1',
      CT_AGENT_OFFER_CURRENCY: 'c',
      CT_AGENT_OFFER_SERVICES: 'echo',
    }
    const args = ['serve', '--listen', '127.0.0.1:0', '--', process.execPath, EVERYTHING]
    const agent = stage.start(args, { env: { ...stateOf(stage, 'server'), ...offer } })
    const ticket = await agent.line()
    const env = { ...stateOf(stage, 'caller'), CT_TICKET: ticket }
    const { stdout } = await stage.finish(['tools', '--json'], { env })
    expect(stdout).toContain('"echo"')
    expect(stdout).not.toContain('get-sum')
    const refused = await stage.finish(['call', 'get-sum', '{"a":1,"b":2}'], { env })
    expect(refused.stderr).toContain('ERR_TOOL_UNKNOWN')
  })
})
