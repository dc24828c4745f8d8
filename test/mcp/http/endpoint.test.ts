import { describe, expect, it } from 'vitest'
import { CtError } from '../../../src/core/errors.ts'
import { type Headers } from '../../../src/mcp/http/http.ts'
import { type Asked, HttpStage } from './stage.ts'

const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } }
const CALL = { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'x' } }
const NOTICE = { jsonrpc: '2.0', method: 'notifications/initialized' }
const LARGE = { kind: 'oversize', head: Buffer.from('{"id":"big","method":"x"'), totalBytes: 11_000_000 } as const

interface Row extends Asked {
  readonly what: string
  readonly status: number
  readonly id?: unknown
  readonly code?: number
  /** With the headers of a session. */
  readonly inSession?: string
}

const ROWS: readonly Row[] = [
  { what: 'another path', path: '/', status: 404 },
  { what: 'PUT', method: 'PUT', status: 405 },
  { what: 'HEAD', method: 'HEAD', status: 405 },
  { what: 'a form', headers: { 'content-type': 'text/plain' }, body: CALL, status: 415 },
  { what: 'no type', headers: { 'content-type': '' }, body: CALL, status: 415 },
  { what: 'JSON in UTF-16', headers: { 'content-type': 'application/json; charset=utf-16' }, body: CALL, status: 415 },
  { what: 'a client that takes HTML', headers: { accept: 'text/html' }, body: CALL, status: 406 },
  { what: 'a client that takes no JSON', headers: { accept: 'application/json;q=0' }, body: CALL, status: 406 },
  { what: 'a listener that takes JSON', method: 'GET', headers: { accept: 'application/json' }, status: 406 },
  { what: 'what is too large', raw: LARGE, status: 413, id: 'big', code: -32600 },
  { what: 'what there is no room for', raw: { kind: 'crowded' }, status: 503, code: -31001 },
  { what: 'other bytes than UTF-8', raw: { kind: 'whole', bytes: Buffer.from([0xff]) }, status: 400, code: -32700 },
  { what: 'no JSON', body: '{"id":1', status: 400, code: -32700 },
  { what: 'Content-Length framing', body: 'Content-Length: 2\r\n\r\n{}', status: 400, code: -32700 },
  { what: 'a number', body: '1', status: 400, code: -32600 },
  { what: 'an empty batch', body: [], status: 400, code: -32600 },
  { what: 'an id of null', body: { ...CALL, id: null }, status: 400, code: -32600 },
  { what: 'a bad version of JSON-RPC', body: { ...CALL, jsonrpc: '1.0' }, status: 400, id: 'a', code: -32600 },
  { what: 'a call before the session', body: CALL, status: 400, id: 'a', code: -32600 },
  { what: 'a notification before the session', body: NOTICE, status: 400 },
  { what: 'a batch with the first request', body: [INITIALIZE], status: 400 },
  { what: 'listening without a session', method: 'GET', status: 400 },
  { what: 'ending no session', method: 'DELETE', status: 400 },
  { what: 'an unknown session', headers: { 'mcp-session-id': 'x' }, body: CALL, status: 404, id: 'a', code: -32001 },
  { what: 'beginning in an unknown session', headers: { 'mcp-session-id': 'x' }, body: INITIALIZE, status: 404, id: 1 },
  { what: 'listening in an unknown session', method: 'GET', headers: { 'mcp-session-id': 'x' }, status: 404 },
  { what: 'a second beginning', inSession: '2025-06-18', body: INITIALIZE, status: 400, id: 1, code: -32600 },
  { what: 'a batch in 2025-06-18', inSession: '2025-06-18', body: [CALL], status: 400, code: -32600 },
  { what: 'a notification', inSession: '2025-06-18', body: NOTICE, status: 202 },
  { what: 'an answer of the host', inSession: '2025-06-18', body: { jsonrpc: '2.0', id: 1, result: {} }, status: 202 },
  { what: 'a batch of notifications in 2025-03-26', inSession: '2025-03-26', body: [NOTICE, NOTICE], status: 202 },
  { what: 'the end', inSession: '2025-06-18', method: 'DELETE', status: 204 },
  {
    what: 'an unknown version',
    inSession: '2025-06-18',
    headers: { 'mcp-protocol-version': '2031-01-01' },
    body: CALL,
    status: 400,
    id: 'a',
    code: -32022,
  },
  {
    what: 'another known version than agreed on',
    inSession: '2024-11-05',
    headers: { 'mcp-protocol-version': '2025-11-25' },
    body: NOTICE,
    status: 202,
  },
]

describe('the gateway', () => {
  for (const { what, status, id = null, code, inSession, headers = {}, ...asked } of ROWS) {
    it(`answers ${what} with ${status}`, async () => {
      const stage = new HttpStage()
      const session: Headers = inSession === undefined ? {} : await stage.begin(inSession)
      const reply = await stage.ask({ ...asked, headers: { ...session, ...headers } })
      expect(reply.status).toBe(status)
      if (status < 400) {
        expect(reply.body).toBe('')
        return
      }
      expect(reply.headers['content-type']).toBe('application/json')
      expect(reply.json).toMatchObject({ jsonrpc: '2.0', id, error: { message: expect.any(String) } })
      if (code !== undefined) expect(reply.json).toMatchObject({ error: { code } })
      if (status === 405) expect(reply.headers['allow']).toBe('POST, GET, DELETE')
    })
  }

  it('says over HTTP that it is there, and that it stops', async () => {
    const stage = new HttpStage()
    const health = { method: 'GET', path: '/healthz', headers: { host: 'anything' } }
    expect(await stage.ask(health)).toMatchObject({ status: 200, body: 'ok\n' })
    stage.endpoint.stop(new CtError('ERR_PEER_SHUTDOWN', 'stopping'))
    expect((await stage.ask(health)).status).toBe(503)
    expect((await stage.ask({ body: INITIALIZE })).json).toMatchObject({
      error: { data: { code: 'ERR_PEER_SHUTDOWN' } },
    })
    expect(stage.clock.timers).toBe(0)
  })

  it('answers what it did not foresee, and stays', async () => {
    let isBroken = true
    const stage = new HttpStage(
      {},
      {
        randomId: () => {
          if (isBroken) throw new Error('a secret')
          return 'fine'
        },
      },
    )
    const reply = await stage.ask({ body: INITIALIZE })
    expect([reply.status, reply.body.includes('secret')]).toEqual([500, false])
    isBroken = false
    expect(await stage.begin()).toEqual({ 'mcp-session-id': 'fine' })
  })
})
