import * as oauth from 'oauth4webapi'
import { describe, expect, it } from 'vitest'
import { operatorOf } from '../../src/relay/index.ts'
import { Browser } from './browser.ts'
import { ask, startRelay } from './harness.ts'

const PASSWORD = 'correct horse battery'
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const insecure = { [oauth.allowInsecureRequests]: true }

async function started() {
  let now = Date.UTC(2026, 10, 30, 12)
  const { relay, url, person } = await startRelay({ now: () => now })
  const bob = await person('bob')
  await operatorOf(relay).setPassword('bob@example.org', PASSWORD)
  const browser = new Browser(url)
  await browser.signIn('bob@example.org', PASSWORD)
  const begin = async (given: Readonly<Record<string, unknown>> = {}) => {
    const headers = { 'content-type': 'application/json' }
    const { status, body } = await ask(`${url}/oauth/device_authorization`, {
      method: 'POST',
      headers,
      body: JSON.stringify(given),
    })
    expect(status).toBe(200)
    return body
  }
  const poll = (code: string) =>
    ask(`${url}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, device_code: code }).toString(),
    })
  const decide = async (address: string, choice: Readonly<Record<string, string>>) => {
    const { pathname, search } = new URL(address)
    const page = await browser.get(pathname + search)
    expect(page.status).toBe(200)
    return browser.submit(page, '/app/pair', choice)
  }
  const withToken = (path: string, token: string) => ask(url + path, { headers: { authorization: `Bearer ${token}` } })
  return { relay, url, person, bob, browser, begin, poll, decide, withToken, pass: (ms: number) => (now += ms) }
}

describe('letting in a program without a browser', () => {
  it('makes it an agent of the person who types in its code', async () => {
    const { url, bob, browser, begin, poll, decide, withToken } = await started()
    const begun = await begin({ agent_slug_hint: 'night-watch', agent_display_name_hint: 'Night <b>watch</b>' })
    expect(begun).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${url}/app/pair` })
    expect(begun.user_code).toMatch(/^[A-HJKMNP-Z2-9]{4}-[A-HJKMNP-Z2-9]{4}$/)
    expect((await poll(begun.device_code)).body.error).toBe('authorization_pending')
    const shown = await browser.get(`/app/pair?session=${begun.user_code.toLowerCase().replace('-', ' ')}`)
    expect(shown.text).toContain('Night &lt;b&gt;watch&lt;/b&gt;')
    const fields = { slug: 'night-watch', name: 'Night watch', agent_id: '', agent_scope: 'own', decision: 'allow' }
    expect((await decide(begun.verification_uri_complete, fields)).status).toBe(200)
    const { status, body } = await poll(begun.device_code)
    expect([status, body.agent_slug, body.account_slug, body.expires_in]).toEqual([200, 'night-watch', 'bob', 86_400])
    await bob.agent('another')
    const agents = await withToken('/v1/agents', body.access_token)
    expect(agents.body.map(({ slug }: { slug: string }) => slug)).toEqual(['night-watch'])
    expect((await poll(begun.device_code)).body.error).toBe('invalid_grant')
  })

  it('works as oauth4webapi does it', async () => {
    const { url, bob, decide, withToken } = await started()
    const agentId = await bob.agent('venue-bot')
    const issuer = new URL(url)
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
    const server = await oauth.processDiscoveryResponse(issuer, found)
    const registered = await bob.post('/oauth/register', { redirect_uris: ['http://127.0.0.1/x'], client_name: 'CLI' })
    const client: oauth.Client = { client_id: registered.body.client_id }
    const begun = await oauth.processDeviceAuthorizationResponse(
      server,
      client,
      await oauth.deviceAuthorizationRequest(server, client, oauth.None(), new URLSearchParams(), insecure),
    )
    const redeem = () => oauth.deviceCodeGrantRequest(server, client, oauth.None(), begun.device_code, insecure)
    await expect(
      redeem().then((given) => oauth.processDeviceCodeResponse(server, client, given)),
    ).rejects.toMatchObject({
      error: 'authorization_pending',
    })
    const choice = { agent_id: agentId, agent_scope: 'all', decision: 'allow' }
    await decide(begun.verification_uri_complete ?? '', choice)
    const tokens = await oauth.processDeviceCodeResponse(server, client, await redeem())
    expect((await withToken('/v1/me', tokens.access_token)).status).toBe(200)
  })

  it('tells a program that asks too soon to slow down, each time more', async () => {
    const { begin, poll, pass } = await started()
    const { device_code: code } = await begin()
    const told: string[] = []
    for (const seconds of [0, 1, 9, 15, 14, 20]) {
      pass(seconds * 1_000)
      told.push((await poll(code)).body.error)
    }
    expect(told).toEqual([
      'authorization_pending',
      'slow_down',
      'slow_down',
      'authorization_pending',
      'slow_down',
      'authorization_pending',
    ])
  })

  it('hears of a no, and of time that is over', async () => {
    const { begin, poll, decide, browser, pass } = await started()
    const [denied, late] = [await begin(), await begin()]
    await decide(denied.verification_uri_complete, { decision: 'deny' })
    expect((await poll(denied.device_code)).body.error).toBe('access_denied')
    pass(600_000)
    expect((await poll(late.device_code)).body.error).toBe('expired_token')
    expect((await browser.get(`/app/pair?session=${late.user_code}`)).status).toBe(404)
  })

  it('decides once, for agents of the person alone', async () => {
    const { begin, decide, browser, person } = await started()
    const theirs = await (await person('eve')).agent('theirs')
    const begun = await begin()
    const page = await browser.get(`/app/pair?session=${begun.user_code}`)
    const foreign = { decision: 'allow', agent_id: theirs, agent_scope: 'all' }
    expect((await browser.submit(page, '/app/pair', foreign)).status).toBe(404)
    const chosen = { decision: 'allow', agent_id: '', slug: 'mine', agent_scope: 'selected', agent: theirs }
    expect((await browser.submit(page, '/app/pair', chosen)).status).toBe(400)
    expect((await decide(begun.verification_uri_complete, { decision: 'deny' })).status).toBe(200)
    expect((await browser.submit(page, '/app/pair', { decision: 'deny' })).status).toBe(409)
  })

  it.each([
    [{ client_id: 'mcp_unknown' }, 401, 'invalid_client'],
    [{ agent_slug_hint: 7 }, 400, 'invalid_request'],
    [{ agent_description_hint: 'x'.repeat(201) }, 400, 'invalid_request'],
  ])('with %j is refused', async (given, status, error) => {
    const { bob } = await started()
    const answer = await bob.post('/oauth/device_authorization', given)
    expect([answer.status, answer.body.error]).toEqual([status, error])
  })

  it('draws pictures of its own addresses alone', async () => {
    const { url, browser, begin } = await started()
    const { verification_uri_qr: picture } = await begin()
    const { pathname, search } = new URL(picture)
    const drawn = await browser.get(pathname + search)
    expect([drawn.status, drawn.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    for (const data of ['https://elsewhere.example/', `${url}.elsewhere.example/`, `${url}/${'x'.repeat(500)}`, '']) {
      expect((await browser.get(`/qr?data=${encodeURIComponent(data)}`)).status).toBe(400)
    }
  })

  it('ends when the person says so, at once', async () => {
    const { bob, browser, begin, poll, decide, withToken } = await started()
    const begun = await begin()
    const fields = { decision: 'allow', slug: 'night-watch', agent_id: '', agent_scope: 'all' }
    await decide(begun.verification_uri_complete, fields)
    const { access_token: token } = (await poll(begun.device_code)).body
    const kinds = (await bob.get('/v1/pairings')).body.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['device_flow', 'api_key']))
    const page = await browser.get('/app/pair')
    expect((await browser.submit(page, '/app/pair/end')).location).toBe('/app/pair')
    expect((await withToken('/v1/me', token)).status).toBe(401)
    expect((await bob.post('/v1/pairings/device_flow/01900000-0000-7000-8000-000000000000/revoke')).status).toBe(404)
  })
})
