import { describe, expect, it } from 'vitest'
import { type JsonObject } from '../../../src/core/json.ts'
import { until } from '../services/processes.ts'
import { wrap } from './wrapped.ts'

interface Called {
  readonly params: { readonly [key: string]: unknown }
}

/** What the server was asked, as it stands in what `echo` answers. */
function echoed(answer: string): Called {
  const { result } = JSON.parse(answer) as { result: { content: { text: string }[] } }
  return JSON.parse(result.content[0]?.text ?? '') as Called
}

describe('a wrapped server', () => {
  it('is called, to the digit both ways', async () => {
    const link = (await wrap()).link()
    const answer = await link.ask(
      'tools/call',
      '{"name":"echo","arguments":{"n":9007199254740993},"_meta":{"a":1,"io.modelcontextprotocol/x":2},"task":{"ttl":1}}',
    )
    expect(answer).toContain('"big":9007199254740993,"float":1.0')
    expect(answer).toContain('\\"n\\":9007199254740993')
    expect(echoed(answer).params).toEqual({ name: 'echo', arguments: { n: 9007199254740992 }, _meta: { a: 1 } })
  })

  for (const method of ['resources/list', 'resources/read', 'prompts/get', 'completion/complete', 'logging/setLevel']) {
    it(`is asked ${method}`, async () => {
      const link = (await wrap()).link()
      expect(JSON.parse(await link.ask(method, { uri: 'u', cursor: 'c' })).result).toEqual({
        method,
        params: { uri: 'u', cursor: 'c' },
      })
    })
  }

  it('is spoken to in an older revision when it refuses the newer ones', async () => {
    const link = (await wrap({ manners: ['old'] })).link()
    expect(await link.names()).toContain('echo')
  })

  it('may print what is no MCP: one warning, and nothing is lost', async () => {
    const { link, lines } = await wrap({ manners: ['banner'] })
    const one = link()
    expect(JSON.parse(await one.call('noise'))).toMatchObject({ result: { content: [] } })
    expect(await one.names()).toContain('echo')
    expect(lines.filter(({ event }) => event === 'server.prints')).toHaveLength(1)
  })

  it('has its errors handed on', async () => {
    const link = (await wrap()).link()
    expect(JSON.parse(await link.call('grow')).result).toEqual({ content: [] })
    const far = (await wrap({ manners: ['odd'] })).link()
    expect(JSON.parse(await far.call('no-schema')).error).toEqual({
      code: -32602,
      message: 'no such tool',
      data: { name: 'no-schema' },
    })
  })

  it('may list odd tools: they are mended, or not served, with a warning', async () => {
    const { link, lines } = await wrap({ manners: ['odd'] })
    const one = link()
    await one.initialize()
    const { result } = JSON.parse(await one.ask('tools/list')) as { result: { tools: JsonObject[] } }
    const any = { type: 'object', properties: {} }
    const object = { type: 'object' }
    expect(result.tools.filter(({ name }) => name !== 'ping')).toEqual([
      { name: 'array-schema', inputSchema: any },
      { name: 'bad-extras', inputSchema: object },
      { name: 'bad-properties', inputSchema: any },
      {
        name: 'kept',
        inputSchema: object,
        title: 'T',
        _meta: { a: 1 },
        annotations: { readOnlyHint: true },
        icons: [{ src: 'data:,' }],
        outputSchema: object,
      },
      { name: 'name.with/slash and ünïcode', inputSchema: object },
      { name: 'no-schema', inputSchema: any },
      { name: 'twice', inputSchema: object },
    ])
    expect(lines.filter(({ event }) => event === 'server.tool_not_served').map(({ facts }) => facts)).toEqual([
      { tool: 'twice', why: 'twice', of: 5 },
      { tool: 'ping', why: 'reserved', of: 5 },
      { tool: 'agent/card', why: 'reserved', of: 5 },
      { tool: 'service/x', why: 'reserved', of: 5 },
      { tool: '', why: 'malformed', of: 5 },
    ])
    expect(await one.call('ping')).toContain('pong')
  })

  for (const { manners, count } of [
    { manners: ['many'], count: 5_001 },
    { manners: ['endless'], count: 201 },
    { manners: ['looping'], count: 2 },
  ]) {
    it(`may have a list that is ${manners[0]}: ${count - 1} tools are served`, async () => {
      const link = (await wrap({ manners })).link()
      expect(await link.names()).toHaveLength(count)
    })
  }

  it('fails to start with what it said last', async () => {
    await expect(wrap({ manners: ['dies-at-once'] })).rejects.toMatchObject({
      code: 'ERR_SERVER_UNAVAILABLE',
      message: 'the MCP server ended with status 3; its last words: no configuration found',
    })
    await expect(wrap({ command: 'ct-agent-no-such-program' })).rejects.toMatchObject({
      code: 'ERR_SERVER_UNAVAILABLE',
      message: expect.stringContaining('ended with status 127'),
    })
    await expect(wrap({ manners: ['bad-list'] })).rejects.toMatchObject({ code: 'ERR_SERVER_UNAVAILABLE' })
  })

  it('sees no variable of the agent', async () => {
    const link = (await wrap({ env: { CT_NOISE_KEY: 'secret', ct_other: 'secret', SEEN: '1' } })).link()
    const { names } = JSON.parse(await link.call('env')).result as { names: string[] }
    expect(names).toContain('SEEN')
    expect(names.filter((name) => /^ct_/i.test(name))).toEqual([])
  })

  it('tells how far a call is to who asks for it, and is not asked by others', async () => {
    const link = (await wrap()).link()
    expect(JSON.parse(await link.call('progress')).result).toEqual({ content: [], asked: false })
    expect(JSON.parse(await link.call('progress', {}, { _meta: { progressToken: 'p' } })).result.asked).toBe(true)
    expect(link.told.map((text) => JSON.parse(text).params)).toEqual([
      { progressToken: 'p', progress: 1, total: 2 },
      { progressToken: 'p', progress: 2, total: 2 },
    ])
  })

  it('is told when a call is cancelled', async () => {
    const { link, lines } = await wrap()
    const one = link()
    one.say('{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"hang"}}')
    const said = (part: string): boolean => lines.some(({ facts }) => String(facts['line']).includes(part))
    await until('the call', () => said('"hang"'))
    one.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"h"}}')
    await until('the cancellation', () => said('notifications/cancelled'))
    expect(await one.call('noise')).toContain('"content"')
    expect(one.texts.filter((text) => text.includes('"h"'))).toEqual([])
  })

  it('may answer more than can be handed on: that call fails with a code, and no other', async () => {
    const link = (await wrap()).link()
    const [huge, other] = await Promise.all([link.call('huge'), link.call('echo')])
    expect(huge).toContain('ERR_MESSAGE_TOO_LARGE')
    expect(other).toContain('"result"')
  })

  it('may answer what nests too deep: that call fails with a code', async () => {
    const link = (await wrap()).link()
    expect(await link.call('deep')).toContain('ERR_PROTOCOL')
  })

  it('has the list of tools told of when it changes', async () => {
    const link = (await wrap()).link()
    await link.initialize()
    expect(await link.names()).not.toContain('more')
    await link.call('grow')
    const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}'
    await until('word of it', () => link.texts.includes(changed))
    expect(await link.names()).toContain('more')
  })
})

describe('under a signed offer', () => {
  it('tools that are not declared are neither listed nor called, and nothing else is served', async () => {
    const { upstream, link } = await wrap({ allows: (tool) => tool === 'echo' })
    expect(upstream.toolNames).toEqual(['echo'])
    expect(upstream.refusedNames).toContain('env')
    const one = link()
    expect(JSON.parse(await one.ask('initialize')).result.capabilities).toEqual({ tools: { listChanged: true } })
    expect(await one.names()).toEqual(['echo', 'ping'])
    expect(await one.call('env')).toContain('unknown tool `env`')
    expect(await one.ask('resources/read')).toContain('-32601')
  })
})
