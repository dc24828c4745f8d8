import { describe, expect } from 'vitest'
import { Members, serving } from './members.ts'
import { it, SLOW } from './stage.ts'

// From the page "MCP tools over a channel", its wrapped lines joined.
const LIST =
  '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"description":"liveness check → returns pong","name":"ping"},{"description":"typed safety_check service — fixed {input:string} -> {output:string} shape","name":"service/safety_check"},{"description":"typed text_generation service — fixed {input:string} -> {output:string} shape","name":"service/text_generation"}]}}\n'
const PONG = '{"jsonrpc":"2.0","id":1,"result":{"reply":"pong"}}\n'

describe.concurrent('two processes', SLOW, () => {
  it('replay both transcripts of the documentation to the byte', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept(serving('cat', { CT_AGENT_SERVICES: 'text_generation,safety_check' }))
    const list = members.call(address, { CT_CHANNEL_CALL: 'tools/list' })
    expect(await list.exit).toEqual({ status: 0, signal: null })
    expect(list.stdout).toBe(LIST)
    const call = members.call(address, { CT_CHANNEL_CALL: 'tools/call', CT_CHANNEL_CALL_PARAMS: '{"name":"ping"}' })
    expect(await call.exit).toEqual({ status: 0, signal: null })
    expect(call.stdout).toBe(PONG)
  })

  it('serve ping alone when nothing else is configured', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept(serving())
    expect(agent.stderr).toContain('ct-agent channel: --serve mode (MCP-over-channel; tools: ping)')
    const list = members.call(address, { CT_CHANNEL_CALL: 'tools/list' })
    await list.exit
    expect(list.stdout).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"description":"liveness check → returns pong","name":"ping"}]}}\n',
    )
    expect(agent.stdout).toBe('')
  })

  it('print an error answer as the whole response and exit with 0', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept(serving())
    const call = members.call(address, { CT_CHANNEL_CALL: 'tools/call', CT_CHANNEL_CALL_PARAMS: '{"name":"chat"}' })
    expect((await call.exit).status).toBe(0)
    expect(JSON.parse(call.stdout)).toMatchObject({ id: 1, error: { code: -32_602, message: 'unknown tool `chat`' } })
    expect(call.lines).toHaveLength(1)
  })

  it('print the bare output of a service, trimmed, when the call is not persistent', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept(serving('tr a-z A-Z'))
    const call = members.call(address, { CT_CHANNEL_CALL_SERVICE: 'echo', CT_CHANNEL_CALL_PERSISTENT: '0' })
    call.end('  two\nlines — ü\n')
    expect((await call.exit).status).toBe(0)
    expect(call.stdout).toBe('TWO\nLINES — ü\n')
  })

  it('let the dialling side serve and the accepting side call', async ({ stage }) => {
    const members = new Members(stage)
    const { agent, address } = await members.accept({
      CT_CHANNEL_CALL: 'tools/call',
      CT_CHANNEL_CALL_PARAMS: '{"name":"ping"}',
    })
    const server = members.call(address, serving())
    expect((await agent.exit).status).toBe(0)
    expect(agent.stdout).toBe(PONG)
    expect((await server.exit).status).toBe(0)
  })

  it('resolve a name as address of either side (W41)', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept(serving(), 'localhost:0')
    const port = address.split(':').at(-1)
    const call = members.call(`localhost:${port}`, {
      CT_CHANNEL_CALL: 'tools/call',
      CT_CHANNEL_CALL_PARAMS: '{"name":"ping"}',
    })
    expect((await call.exit).status).toBe(0)
    expect(call.stdout).toBe(PONG)
  })

  it('serve when CT_CHANNEL_SERVE is any word for on (W45)', async ({ stage }) => {
    const members = new Members(stage)
    const { address } = await members.accept({ CT_CHANNEL_SERVE: ' Yes' })
    const call = members.call(address, { CT_CHANNEL_CALL: 'tools/call', CT_CHANNEL_CALL_PARAMS: '{"name":"ping"}' })
    expect((await call.exit).status).toBe(0)
    expect(call.stdout).toBe(PONG)
  })
})
