import { describe, expect, it } from 'vitest'
import { CtError } from '../../../src/core/errors.ts'
import { type Headers } from '../../../src/mcp/http/http.ts'
import { decodeHeader } from '../../../src/mcp/http/modern.ts'
import { CLIENT_CAPABILITIES_KEY, VERSION_KEY } from '../../../src/mcp/wire/versions.ts'
import { HttpStage } from './stage.ts'

const VERSION = '2026-07-28'
const META = { [VERSION_KEY]: VERSION, [CLIENT_CAPABILITIES_KEY]: {} }
const HEADERS = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'x' }
const call = (params: Record<string, unknown> = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'x', _meta: META, ...params },
})

interface Row {
  readonly what: string
  readonly headers?: Headers
  readonly body?: unknown
  /** Not refused, without. */
  readonly code?: number
}

const ROWS: readonly Row[] = [
  { what: 'headers that say what the body says' },
  { what: 'a session id, which is nobody’s', headers: { 'mcp-session-id': 'x' } },
  { what: 'no version in the headers', headers: { 'mcp-protocol-version': '' }, code: -32020 },
  { what: 'another version in the headers', headers: { 'mcp-protocol-version': '2025-11-25' }, code: -32020 },
  { what: 'no method in the headers', headers: { 'mcp-method': '' }, code: -32020 },
  { what: 'another method in the headers', headers: { 'mcp-method': 'tools/Call' }, code: -32020 },
  { what: 'no name in the headers', headers: { 'mcp-name': '' }, code: -32020 },
  { what: 'another name in the headers', headers: { 'mcp-name': 'y' }, code: -32020 },
  { what: 'the name in Base64', headers: { 'mcp-name': '=?base64?eA==?=' } },
  { what: 'a name in bad Base64', headers: { 'mcp-name': '=?base64?e*?=' }, code: -32020 },
  { what: 'no claim in the body', body: call({ _meta: {} }), code: -32602 },
  { what: 'no capabilities', body: call({ _meta: { [VERSION_KEY]: VERSION } }), code: -32602 },
  { what: 'a version that is no text', body: call({ _meta: { ...META, [VERSION_KEY]: 1 } }), code: -32602 },
  {
    what: 'a newer version',
    headers: { 'mcp-protocol-version': '2031-01-01' },
    body: call({ _meta: { ...META, [VERSION_KEY]: '2031-01-01' } }),
    code: -32022,
  },
  { what: 'a batch', body: [call()], code: -32600 },
  { what: 'an answer', body: { jsonrpc: '2.0', id: 1, result: {} }, code: -32600 },
]

describe('a POST of the newest revision', () => {
  for (const { what, headers = {}, body = call(), code } of ROWS) {
    it(`with ${what} is ${code === undefined ? 'carried out' : `refused with ${code}`}`, async () => {
      const stage = new HttpStage()
      const reply = await stage.ask({ headers: { ...HEADERS, ...headers }, body })
      expect(stage.links).toHaveLength(code === undefined ? 1 : 0)
      if (code === undefined) return
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({ error: { code } })
      if (code !== -32600) expect(reply.json['id']).toBe(1)
    })
  }

  it('has no session, listens to nothing, and is accepted when it is a notification', async () => {
    const stage = new HttpStage()
    const headers = { 'mcp-protocol-version': VERSION }
    for (const method of ['GET', 'DELETE']) {
      const reply = await stage.ask({ method, headers })
      expect([reply.status, reply.headers['allow']]).toEqual([405, 'POST'])
    }
    const body = { jsonrpc: '2.0', method: 'notifications/x', params: { _meta: META } }
    expect((await stage.ask({ headers, body })).status).toBe(202)
    const lies = { ...headers, 'mcp-method': 'notifications/y' }
    expect((await stage.ask({ headers: lies, body })).json).toMatchObject({ error: { code: -32020 } })
    expect(stage.endpoint.sessions).toBe(0)
  })

  it('stands for itself: fifty with one id each get their own answer', async () => {
    const stage = new HttpStage()
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => stage.ask({ headers: HEADERS, body: call({ n }) })),
    )
    for (const link of stage.links.toReversed()) link.answer(0, link.heard[0]?.['params'])
    expect(replies.map(({ json }) => json)).toMatchObject(
      Array.from({ length: 50 }, (_, n) => ({ id: 1, result: { n } })),
    )
    const ends = await Promise.all(stage.links.map(({ port }) => port.closed))
    expect(ends.every(({ final }) => final)).toBe(true)
    expect(replies[0]?.headers['mcp-session-id']).toBeUndefined()
  })

  it('is cancelled when its host goes away, before or after it heard something', async () => {
    for (const waits of [0, 100]) {
      const stage = new HttpStage()
      const reply = await stage.ask({ headers: HEADERS, body: call() })
      stage.clock.advance(waits)
      reply.leave()
      expect((await stage.link.port.closed).reason.code).toBe('ERR_CALL_CANCELLED')
      stage.link.answer(0)
      expect(reply.messages).toEqual([])
    }
  })

  it('is answered with the reason when the gateway stops', async () => {
    const stage = new HttpStage()
    const reply = await stage.ask({ headers: HEADERS, body: call() })
    stage.endpoint.stop(new CtError('ERR_PEER_SHUTDOWN', 'stopping'))
    expect(reply.json).toMatchObject({ id: 1, error: { data: { code: 'ERR_PEER_SHUTDOWN' } } })
    expect((await stage.link.port.closed).reason.code).toBe('ERR_PEER_SHUTDOWN')
  })

  it('hears in its own stream what is said on the way, without anything to come back to', async () => {
    const stage = new HttpStage()
    const reply = await stage.ask({ headers: HEADERS, body: call() })
    stage.link.say({ method: 'notifications/message', params: { data: 1 } })
    stage.link.say({ id: 'ct-1', method: 'roots/list' })
    stage.link.answer(0)
    expect(reply.messages).toMatchObject([{ method: 'notifications/message' }, { id: 1, result: {} }])
    expect(reply.body).not.toMatch(/^(id|retry):/m)
  })

  for (const { code, status } of [
    { code: -32601, status: 404 },
    { code: -32022, status: 400 },
    { code: -32602, status: 200 },
    { code: -32000, status: 200 },
  ]) {
    it(`is answered with ${status} when the error is ${code}`, async () => {
      const stage = new HttpStage()
      const reply = await stage.ask({ headers: HEADERS, body: call({}, 'a "quoted\\" id') })
      stage.link.say({ id: stage.link.heard[0]?.['id'], error: { code, message: 'x' } })
      expect([reply.status, reply.json['id']]).toEqual([status, 'a "quoted\\" id'])
    })
  }

  const SCHEMA = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      deep: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
      sure: { type: 'boolean', 'x-mcp-header': 'Sure' },
    },
  }
  for (const { what, args, headers = {}, isRefused } of [
    { what: 'repeated', args: { region: 'us' }, headers: { 'mcp-param-region': 'us' }, isRefused: false },
    { what: 'left out', args: { region: 'us' }, isRefused: true },
    { what: 'another', args: { region: 'us' }, headers: { 'mcp-param-region': 'eu' }, isRefused: true },
    { what: 'in Base64', args: { region: 'ü' }, headers: { 'mcp-param-region': '=?base64?w7w=?=' }, isRefused: false },
    { what: 'null', args: { region: null }, isRefused: false },
    { what: 'not there', args: {}, isRefused: false },
    { what: 'a number', args: { deep: { count: 42 } }, headers: { 'mcp-param-count': '42.0' }, isRefused: false },
    { what: 'no number', args: { deep: { count: 0 } }, headers: { 'mcp-param-count': ' ' }, isRefused: true },
    { what: 'a switch', args: { sure: true }, headers: { 'mcp-param-sure': 'true' }, isRefused: false },
    { what: 'the wrong switch', args: { sure: true }, headers: { 'mcp-param-sure': 'True' }, isRefused: true },
  ]) {
    it(`whose argument is ${what} in its header is ${isRefused ? 'refused' : 'carried out'}`, async () => {
      const stage = new HttpStage({}, { schemaOf: (tool) => (tool === 'x' ? SCHEMA : undefined) })
      const reply = await stage.ask({ headers: { ...HEADERS, ...headers }, body: call({ arguments: args }) })
      expect(stage.links).toHaveLength(isRefused ? 0 : 1)
      if (isRefused) expect([reply.status, reply.json]).toMatchObject([400, { id: 1, error: { code: -32020 } }])
    })
  }

  it('reads what a header cannot carry', () => {
    expect(decodeHeader('=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=')).toBe('=?base64?literal?=')
    expect(decodeHeader('plain')).toBe('plain')
    expect(['e*', 'eA', 'e A=='].map((text) => decodeHeader(`=?base64?${text}?=`))).toEqual(Array(3).fill(undefined))
  })

  it('is one of an older revision in a session, whatever its header names', async () => {
    const stage = new HttpStage()
    const session = await stage.begin('2025-11-25', { 'mcp-protocol-version': VERSION })
    const reply = await stage.call(session)
    stage.link.answer(1)
    expect(reply.json).toMatchObject({ id: 1, result: {} })
  })
})
