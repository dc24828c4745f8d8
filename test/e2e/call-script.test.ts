import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { formatTicket } from '../../src/channel/index.ts'
import { type Env } from '../../src/core/env.ts'
import { parseIntegersExactly, toJsonValue } from '../../src/core/exact-json.ts'
import { type JsonValue } from '../../src/core/json.ts'
import { holderKey } from '../../src/core/keys.ts'
import { type CallContext, type Tool } from '../../src/mcp/index.ts'
import { Members } from './members.ts'
import { listenAs, servingTools } from './own-member.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255])

function tool(name: string, call: (args: JsonValue) => JsonValue): Tool {
  return {
    name,
    description: '',
    inputSchema: { type: 'object', properties: {} },
    idempotent: true,
    call: (_, { argumentsText }) => call(toJsonValue(parseIntegersExactly(argumentsText))),
  }
}

const TOOLS = [
  tool('echo', (args) => args),
  tool('draw', () => ({
    content: [
      { type: 'text', text: 'a heron' },
      { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') },
      { type: 'resource', resource: { uri: 'file:///../../x', blob: PNG.toString('base64') } },
    ],
  })),
  {
    ...tool('walk', () => null),
    call: (_: unknown, context: CallContext) => {
      context.progress({ progress: 1, total: 2, message: 'half way' })
      return { output: 'there' }
    },
  },
  tool('fail', () => ({ content: [{ type: 'text', text: 'no ink' }], isError: true })),
]

/** Variables of a caller of a peer that serves these tools. */
async function serve(stage: Stage): Promise<Env> {
  const members = new Members(stage)
  const { server, caller } = members
  const listener = await listenAs(server, caller, servingTools(TOOLS), (close) => stage.onClose(close))
  const ticket = formatTicket({ holder: holderKey(server.holder).id, addresses: listener.addresses })
  return members.initiate('', { CT_TICKET: ticket, ...stateOf(stage, 'caller') })
}

describe.concurrent('ct-agent call in a script', SLOW, () => {
  it('sends arguments one by one, as text or as JSON, to the digit', async ({ stage }) => {
    const env = await serve(stage)
    const args = ['--arg', 'query=a b=c', '--arg', 'limit:=18446744073709551615', '--arg', 'tags:=["x"]']
    expect(await stage.finish(['call', 'echo', ...args], { env })).toEqual({
      status: 0,
      stdout: '{"query":"a b=c","limit":18446744073709551615,"tags":["x"]}\n',
      stderr: '',
    })
    expect(await stage.finish(['call', 'echo', '{"a":1}', '--arg', 'a=2'], { env })).toMatchObject({ status: 2 })
  })

  it('writes what is binary into a folder, and says where', async ({ stage }) => {
    const env = await serve(stage)
    const { status, stdout } = await stage.finish(['call', 'draw', '--out', 'pictures/'], { env })
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      content: [
        { type: 'text', text: 'a heron' },
        { type: 'image', mimeType: 'image/png', file: 'pictures/content-1.png' },
        { type: 'resource', resource: { uri: 'file:///../../x', file: 'pictures/content-2.bin' } },
      ],
    })
    expect(readdirSync(stage.path('pictures'))).toHaveLength(2)
    expect(readFileSync(stage.path('pictures/content-1.png'))).toEqual(PNG)
  })

  it('replaces no file, and then calls nothing', async ({ stage }) => {
    const env = await serve(stage)
    writeFileSync(stage.path('heron.png'), 'mine')
    const refused = await stage.finish(['call', 'draw', '--out', 'heron.png', '--json'], { env })
    expect(refused).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('ERR_USAGE') })
    expect(readFileSync(stage.path('heron.png'), 'utf8')).toBe('mine')
    const forced = await stage.finish(['call', 'draw', '--out', 'heron.png', '--force'], { env })
    expect(forced.status).toBe(0)
    expect(readFileSync(stage.path('heron.png'))).toEqual(PNG)
  })

  it('says how far it is when asked, and asks the peer for nothing otherwise', async ({ stage }) => {
    const env = await serve(stage)
    expect(await stage.finish(['call', 'walk', '--progress'], { env })).toEqual({
      status: 0,
      stdout: 'there\n',
      stderr: 'ct-agent: 50 % half way\n',
    })
    const json = await stage.finish(['call', 'walk', '--progress', '--json'], { env })
    expect(json.stdout).toBe('{"output":"there"}\n')
    expect(JSON.parse(json.stderr)).toEqual({ progress: { done: 1, total: 2, message: 'half way' } })
    expect((await stage.finish(['call', 'walk'], { env })).stderr).toBe('')
  })

  it('prints a result that says that the tool failed, and fails', async ({ stage }) => {
    const env = await serve(stage)
    const { status, stdout, stderr } = await stage.finish(['call', 'fail'], { env })
    expect(status).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({ isError: true })
    expect(stderr).toMatch(/^ct-agent: the tool failed: no ink\n {2}ERR_TOOL_FAILED/)
  })
})
