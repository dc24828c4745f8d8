import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Log, type LogFacts } from '../../src/core/log.ts'
import { relayApp } from '../../src/relay/http/app.ts'
import { operatorOf } from '../../src/relay/index.ts'
import { type RelaySettings } from '../../src/relay/settings.ts'
import { Browser } from './browser.ts'
import { ask, startRelay } from './harness.ts'

const PASSWORD = 'correct horse battery'
const BOB = { email: 'bob@example.org', password: PASSWORD }
const MARKUP = '<img src=x onerror=alert(1)>"\'&'

async function started(settings: Partial<RelaySettings> = {}) {
  const lines: string[] = []
  const keep = (event: string, facts: LogFacts = {}) => lines.push(JSON.stringify([event, facts]))
  const log: Log = { error: keep, warn: keep, info: keep, debug: keep }
  const { relay, url, person } = await startRelay({ settings, log })
  const bob = await person('bob')
  await operatorOf(relay).setPassword(BOB.email, PASSWORD)
  return { relay, url, person, bob, browser: new Browser(url), lines }
}

const csrfOf = (page: { readonly text: string }) => /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? ''

describe('forms of other sites', () => {
  const FORMS = [
    ['/login', BOB],
    ['/logout', {}],
    ['/oauth/authorize', { decision: 'allow' }],
    ['/app/pair', { decision: 'allow' }],
    ['/app/pair/end', {}],
    ['/app/api-keys', { name: 'x', agent_scope: 'all' }],
    ['/app/api-keys/rotate', {}],
    ['/app/agents', {}],
    ['/app/consent/x', { decision: 'approve' }],
  ] as const

  it.each(FORMS)('change nothing at %s', async (path, fields) => {
    const { url, person, relay, browser } = await started()
    await browser.signIn(BOB.email, PASSWORD)
    const own = csrfOf(await browser.get('/app'))
    for (const origin of [
      'https://elsewhere.example',
      'null',
      `${url}.elsewhere.example`,
      url.replace('http:', 'https:'),
    ]) {
      expect((await browser.post(path, { ...fields, csrf: own }, origin)).status).toBe(403)
    }
    await person('eve')
    await operatorOf(relay).setPassword('eve@example.org', PASSWORD)
    const eve = new Browser(url)
    await eve.signIn('eve@example.org', PASSWORD)
    for (const csrf of ['', csrfOf(await eve.get('/app'))]) {
      expect((await browser.post(path, { ...fields, csrf })).status).toBe(403)
    }
    expect((await browser.get('/app')).status).toBe(200)
    expect((await browser.get('/app/api-keys')).text.match(/<tbody><tr>.*<\/tr>/s)?.[0]).not.toContain('>x<')
  })

  it('are known by Sec-Fetch-Site where a browser says no origin', async () => {
    const { url } = await started()
    const statusFrom = async (headers: Readonly<Record<string, string>>) => {
      const body = new URLSearchParams(BOB)
      const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
      return (await fetch(`${url}/login`, { method: 'POST', headers: form, body, redirect: 'manual' })).status
    }
    expect(await statusFrom({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await statusFrom({ 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await statusFrom({})).toBe(403)
    expect(await statusFrom({ 'sec-fetch-site': 'same-origin' })).toBe(303)
  })
})

describe('a session', () => {
  it('is in a cookie that scripts and other sites do not get', async () => {
    const publicUrl = 'https://relay.example'
    const { relay } = await started({ publicUrl })
    const form = { origin: publicUrl, 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(BOB).toString()
    const { headers } = await relayApp(relay).request('/login', { method: 'POST', headers: form, body })
    const cookie = headers.get('set-cookie') ?? ''
    for (const part of [/^__Host-relay=cs_/, /HttpOnly/, /Secure/, /SameSite=Lax/, /Path=\//]) {
      expect(cookie).toMatch(part)
    }
    expect(cookie).not.toMatch(/Domain/i)
  })

  it('is another one after each sign-in, and none after signing out', async () => {
    const { browser, url } = await started()
    await browser.signIn(BOB.email, PASSWORD)
    const first = browser.cookies.get('relay') ?? ''
    const other = new Browser(url)
    await other.signIn(BOB.email, PASSWORD)
    expect(other.cookies.get('relay')).not.toBe(first)
    const page = await browser.get('/app')
    await browser.submit(page, '/logout')
    expect(browser.cookies.size).toBe(0)
    expect((await ask(`${url}/v1/me`, { headers: { authorization: `Bearer ${first}` } })).status).toBe(401)
  })

  it('in a cookie is no credential of the API', async () => {
    const { browser, url } = await started()
    await browser.signIn(BOB.email, PASSWORD)
    const cookie = `relay=${browser.cookies.get('relay')}`
    expect((await ask(`${url}/v1/me`, { headers: { cookie } })).status).toBe(401)
  })
})

describe('a way on after signing in', () => {
  it.each([
    'https://elsewhere.example/',
    '//elsewhere.example/',
    '/\\elsewhere.example/',
    '/\t/elsewhere.example/',
    '\\\\elsewhere.example',
    'javascript:alert(1)',
    'app',
    '/app\r\nSet-Cookie: x=y',
    '/x/..//elsewhere.example',
    '/.//elsewhere.example',
    '/%2e%2e//elsewhere.example',
  ])('never leads elsewhere: %j', async (onward) => {
    const { browser, url } = await started()
    const { status, location, headers } = await browser.post('/login', { ...BOB, return: onward })
    expect([status, new URL(location, url).origin, headers.get('set-cookie')?.includes('x=y')]).toEqual([
      303,
      url,
      false,
    ])
    const again = await browser.get(`/login?return=${encodeURIComponent(onward)}`)
    expect(new URL(again.location, url).origin).toBe(url)
  })
})

describe('what others wrote', () => {
  it('is text on every page', async () => {
    const { browser, bob } = await started()
    await browser.signIn(BOB.email, PASSWORD)
    const agent = await bob.agent('venue-bot', { display_name: MARKUP, description: MARKUP })
    await bob.post(`/v1/agents/${agent}/capabilities`, { name: 'look', description: MARKUP })
    await bob.post('/v1/api-keys', { name: MARKUP })
    const back = 'http://127.0.0.1:7/"><img src=x>'
    const client = await bob.post('/oauth/register', {
      redirect_uris: [back],
      client_name: MARKUP,
      client_uri: 'https://x.example/"><img src=x>',
    })
    expect(client.status).toBe(201)
    const query = new URLSearchParams({
      client_id: client.body.client_id,
      redirect_uri: back,
      response_type: 'code',
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
      state: MARKUP,
    })
    const device = await bob.post('/oauth/device_authorization', {
      agent_slug_hint: MARKUP,
      agent_display_name_hint: MARKUP,
    })
    const paths = [
      '/app/agents',
      `/app/agents/${agent}`,
      '/app/api-keys',
      '/app/pair',
      '/app/audit',
      `/app/pair?session=${device.body.user_code}`,
      `/app/pair?session=${encodeURIComponent(MARKUP)}`,
      `/oauth/authorize?${String(query)}`,
    ]
    for (const path of paths)
      expect([path, (await browser.get(path)).text]).toEqual([path, expect.not.stringContaining('<img')])
    const login = await new Browser(bob.url).get(
      `/login?return=${encodeURIComponent(`/${MARKUP.replaceAll(' ', '')}`)}`,
    )
    expect(login.text).not.toContain('<img')
  })
})

describe('secrets', () => {
  it('are in no line of the log', async () => {
    const { relay, url, bob, browser, lines } = await started()
    await browser.signIn(BOB.email, PASSWORD)
    await browser.signIn(BOB.email, 'wrong horse')
    const secrets = [PASSWORD, 'wrong horse', bob.key, browser.cookies.get('relay') ?? '', `cr_${'5'.repeat(64)}`]
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = `grant_type=refresh_token&client_id=x&refresh_token=cr_${'5'.repeat(64)}`
    await ask(`${url}/oauth/token`, { method: 'POST', headers: form, body })
    await relay.database.sql.schema.alterTable('tokens').renameTo('elsewhere').execute()
    const failed = await ask(`${url}/oauth/token`, { method: 'POST', headers: form, body })
    expect([failed.status, failed.body.error]).toEqual([503, 'temporarily_unavailable'])
    await relay.database.sql.schema.alterTable('sessions').renameTo('gone').execute()
    expect((await browser.post('/login', BOB)).status).toBe(500)
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of secrets) expect(lines.join('\n')).not.toContain(secret)
  })
})

describe('the Host header', () => {
  it('changes nothing of what the relay says of itself', async () => {
    const { url } = await started()
    const { port } = new URL(url)
    const body = await new Promise<string>((resolve, reject) => {
      const path = '/.well-known/oauth-authorization-server'
      const headers = {
        host: 'elsewhere.example',
        'x-forwarded-host': 'elsewhere.example',
        'x-forwarded-proto': 'https',
      }
      request({ host: '127.0.0.1', port, path, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
      })
        .on('error', reject)
        .end()
    })
    expect(JSON.parse(body).issuer).toBe(url)
    expect(body).not.toContain('elsewhere')
  })
})
