import { describe, expect, it } from 'vitest'
import { type AccessRules, hostName } from '../../../src/mcp/http/access.ts'
import { type Headers } from '../../../src/mcp/http/http.ts'
import { HttpStage, SOMEBODY } from './stage.ts'

const PING = { jsonrpc: '2.0', id: 7, method: 'initialize', params: {} }
const APP = 'https://app.example.org'
const OTHER = 'another-token-altogether'

/** The status of a request that is let in is that of its stream or answer. */
function ask(rules: Partial<AccessRules>, headers: Headers, method = 'POST') {
  return new HttpStage(rules).ask({ method, headers, body: PING })
}

describe('who may ask the gateway', () => {
  for (const { what, headers, rules = {}, isLetIn } of [
    { what: 'by its address', headers: {}, isLetIn: true },
    { what: 'by localhost', headers: { host: 'localhost:4436' }, isLetIn: true },
    { what: 'by IPv6', headers: { host: '[::1]:4436' }, isLetIn: true },
    { what: 'by localhost through a forwarded port', headers: { host: 'LOCALHOST.:9999' }, isLetIn: true },
    { what: 'by a name that resolves here', headers: { host: 'evil.example.com:4436' }, isLetIn: false },
    { what: 'by a name that begins like ours', headers: { host: 'localhost.evil.example' }, isLetIn: false },
    { what: 'by two names', headers: { host: 'localhost, evil.example' }, isLetIn: false },
    { what: 'by a name with a login', headers: { host: 'localhost@evil.example' }, isLetIn: false },
    { what: 'by no name', headers: { host: '' }, isLetIn: false },
    { what: 'by another address', headers: { host: '192.0.2.7' }, isLetIn: false },
    {
      what: 'by any address, off loopback',
      headers: { host: '192.0.2.7' },
      rules: { anyAddress: true },
      isLetIn: true,
    },
    { what: 'by any name, off loopback', headers: { host: 'x.example' }, rules: { anyAddress: true }, isLetIn: false },
    {
      what: 'by a listed name',
      headers: { host: 'mcp.example.org' },
      rules: { hosts: new Set(['mcp.example.org']) },
      isLetIn: true,
    },
    { what: 'from a page', headers: { origin: 'http://evil.example.com' }, isLetIn: false },
    { what: 'from a page of this machine', headers: { origin: 'http://localhost:3000' }, isLetIn: false },
    { what: 'from a page without an origin of its own', headers: { origin: 'null' }, isLetIn: false },
    { what: 'from its own address', headers: { origin: 'http://127.0.0.1:4436' }, isLetIn: true },
    { what: 'from a listed page', headers: { origin: APP }, rules: { origins: new Set([APP]) }, isLetIn: true },
    {
      what: 'from a page whose name begins like a listed one',
      headers: { origin: `${APP}.evil.example` },
      rules: { origins: new Set([APP]) },
      isLetIn: false,
    },
    {
      what: 'from a listed page under a foreign name',
      headers: { origin: APP, host: 'evil.example' },
      rules: { origins: new Set([APP]) },
      isLetIn: false,
    },
  ]) {
    it(`${isLetIn ? 'lets in' : 'refuses'} whoever asks ${what}`, async () => {
      const reply = await ask(rules, headers)
      if (isLetIn) {
        expect(reply.status).not.toBe(403)
        return
      }
      expect(reply.status).toBe(403)
      expect(reply.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { data: { code: 'ERR_ORIGIN_REFUSED' } } })
    })
  }

  it('reads a name without its port, and takes nothing else for one', () => {
    expect(['a:1', '[::1]:80', 'A.', '1.2.3.4'].map(hostName)).toEqual(['a', '::1', 'a', '1.2.3.4'])
    expect(['', 'a b', 'a/b', 'a:b', 'a:1:2', '[::1', '[x]:1'].map(hostName)).toEqual(Array(7).fill(undefined))
  })

  for (const { given, status, challenge } of [
    { given: undefined, status: 401, challenge: 'Bearer realm="ct-agent"' },
    { given: 'Basic xyz', status: 401, challenge: 'Bearer realm="ct-agent"' },
    { given: `Bearer ${SOMEBODY}x`, status: 401, challenge: 'Bearer realm="ct-agent", error="invalid_token"' },
    {
      given: `Bearer ${SOMEBODY.replace(/y$/, 'z')}`,
      status: 401,
      challenge: 'Bearer realm="ct-agent", error="invalid_token"',
    },
    { given: 'Bearer ', status: 401, challenge: 'Bearer realm="ct-agent"' },
    { given: `bearer  ${SOMEBODY}`, status: 200, challenge: undefined },
    { given: `Bearer ${OTHER}`, status: 200, challenge: undefined },
  ]) {
    it(`answers ${given ?? 'no token'} with ${status}`, async () => {
      const stage = new HttpStage({ tokens: [SOMEBODY, OTHER] })
      const headers: Headers = given === undefined ? {} : { authorization: given }
      const asking = stage.ask({ headers, body: PING })
      await Promise.resolve()
      const reply = await asking
      if (status === 200) stage.link.answer(0)
      expect(reply.status).toBe(status)
      expect(reply.headers['www-authenticate']).toBe(challenge)
      expect(reply.body).not.toContain(SOMEBODY)
    })
  }

  it('finds no session of somebody else', async () => {
    const stage = new HttpStage({ tokens: [SOMEBODY, OTHER] })
    const mine = await stage.begin('2025-11-25', { authorization: `Bearer ${SOMEBODY}` })
    const foreign = { ...mine, authorization: `Bearer ${OTHER}` }
    expect((await stage.call(foreign)).status).toBe(404)
    expect((await stage.listen(foreign)).status).toBe(404)
    expect((await stage.ask({ method: 'DELETE', headers: foreign })).status).toBe(404)
    expect((await stage.listen(mine)).status).toBe(200)
  })

  it('tells a listed page what it may, before it has a token, and others nothing', async () => {
    const rules = { origins: new Set([APP]), tokens: [SOMEBODY] }
    const wish = 'Mcp-Session-Id, Mcp-Param-Region, X-Evil'
    const reply = await ask(rules, { origin: APP, 'access-control-request-headers': wish }, 'OPTIONS')
    expect(reply.status).toBe(204)
    expect(reply.headers).toMatchObject({ 'access-control-allow-origin': APP, vary: 'Origin' })
    const allowed = reply.headers['access-control-allow-headers']
    expect(allowed).toMatch(/authorization.*mcp-session-id.*mcp-param-region/)
    expect(allowed).not.toContain('x-evil')
    const refused = await ask(rules, { origin: APP })
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, APP])
    const foreign = await ask(rules, { origin: 'https://evil.example' }, 'OPTIONS')
    expect([foreign.status, foreign.headers['access-control-allow-origin']]).toEqual([403, undefined])
    expect((await ask({}, {}, 'OPTIONS')).status).toBe(405)
  })
})
