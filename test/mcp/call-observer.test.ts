import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { type CallObserver } from '../../src/mcp/serving/call-observer.ts'
import { pingTool } from '../../src/mcp/tool.ts'
import { settle } from './port-pair.ts'
import { serve, toolOf } from './serve.ts'

function watched(setup: Parameters<typeof serve>[0] = {}) {
  const seen: string[] = []
  const observer: CallObserver = {
    began: () => {
      seen.push('began')
      return 7
    },
    ended: (began, { kind, name }, outcome) => seen.push(`${began} ended ${kind} ${name} ${outcome}`),
    refused: ({ kind, name }, code) => seen.push(`refused ${kind} ${name} ${code}`),
  }
  return { seen, served: serve({ ...setup, observer }) }
}

function request(method: string, params?: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

const failing = toolOf('failing', () => {
  throw new CtError('ERR_TOOL_FAILED', 'no')
})
const crashing = toolOf('crashing', () => {
  throw new TypeError('defect')
})
const TOOLS = [pingTool, failing, crashing]

describe('whoever watches calls', () => {
  it.each([
    { method: 'tools/call', params: { name: 'ping' }, end: 'tool ping ok' },
    { method: 'tools/call', params: ['ping', {}], end: 'tool ping ok' },
    { method: 'tools/call', params: { name: 'failing' }, end: 'tool failing ERR_TOOL_FAILED' },
    { method: 'tools/call', params: { name: 'crashing' }, end: 'tool crashing ERR_INTERNAL' },
    { method: 'tools/call', params: { name: 'what a peer made up' }, end: 'tool undefined ERR_TOOL_UNKNOWN' },
    { method: 'tools/call', params: {}, end: 'tool undefined ERR_TOOL_UNKNOWN' },
    { method: 'tools/list', params: {}, end: 'method tools/list ok' },
    { method: 'what a peer made up', params: {}, end: 'method undefined ERR_CALL_INVALID' },
    { method: 'server/discover', params: {}, end: 'method server/discover ERR_CALL_INVALID' },
  ])('sees $method $params end as $end', async ({ method, params, end }) => {
    const { seen, served } = watched({ tools: TOOLS })
    await served.ask(request(method, params))
    expect(seen).toEqual(['began', `7 ended ${end}`])
  })

  it('sees failures also where they are shown as results', async () => {
    const { seen, served } = watched({ tools: TOOLS })
    await served.ask(request('initialize', { protocolVersion: '2025-06-18' }))
    await served.ask(request('tools/call', { name: 'failing' }))
    expect(seen.at(-1)).toBe('7 ended tool failing ERR_TOOL_FAILED')
  })

  it('sees what is turned away as refused, and not as begun', async () => {
    const { seen, served } = watched({ tools: TOOLS, rights: 'r' })
    await served.ask(request('tools/call', { name: 'failing' }))
    expect(seen).toEqual(['refused tool failing ERR_RIGHTS_MISSING'])
  })

  it('sees a call end that nobody waits for any more', async () => {
    const answer = Promise.withResolvers<string>()
    const { seen, served } = watched({ tools: [toolOf('slow', () => answer.promise)] })
    await served.exchange(request('tools/call', { name: 'slow' }))
    served.link.close()
    answer.resolve('late')
    await settle()
    expect(seen).toEqual(['began', '7 ended tool slow ok'])
  })
})
