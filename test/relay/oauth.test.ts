import { auth, Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { auth as authV1 } from '@modelcontextprotocol/sdk/client/auth.js'
import * as oauth from 'oauth4webapi'
import { describe, expect, it, onTestFinished } from 'vitest'
import { operatorOf } from '../../src/relay/index.ts'
import { Browser } from './browser.ts'
import { ask, startRelay } from './harness.ts'

const BACK = 'http://127.0.0.1:7777/callback'
interface Refused {
  readonly error: string
}

const PASSWORD = 'correct horse battery'
const insecure = { [oauth.allowInsecureRequests]: true }

async function started() {
  let now = Date.UTC(2026, 10, 30, 12)
  const { relay, url, person } = await startRelay({ now: () => now })
  const bob = await person('bob')
  await operatorOf(relay).setPassword('bob@example.org', PASSWORD)
  const browser = new Browser(url)
  expect((await browser.signIn('bob@example.org', PASSWORD)).location).toBe('/app')
  return { relay, url, person, bob, browser, pass: (ms: number) => (now += ms) }
}

/** What a person does at the page that a client leads to. @returns where the browser goes */
async function allow(
  browser: Browser,
  url: string | URL,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { pathname, search } = new URL(url)
  const page = await browser.get(pathname + search)
  expect(page.status).toBe(200)
  const choice = { decision: 'allow', agent_scope: 'all', ...more }
  return (await browser.submit(page, '/oauth/authorize', choice)).location
}

async function discover(url: string) {
  const issuer = new URL(url)
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  return oauth.processDiscoveryResponse(issuer, found)
}

/** As oauth4webapi does it, up to the tokens. */
async function connect({ url, browser }: { readonly url: string; readonly browser: Browser }) {
  const server = await discover(url)
  const registered = await ask(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [BACK], client_name: 'A test' }),
  })
  expect(registered.status).toBe(201)
  const client: oauth.Client = { client_id: registered.body.client_id }
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const ways = new URL(server.authorization_endpoint ?? '')
  const params = {
    client_id: client.client_id,
    redirect_uri: BACK,
    response_type: 'code',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource: `${url}/mcp`,
  }
  for (const [name, value] of Object.entries(params)) ways.searchParams.set(name, value)
  const back = new URL(await allow(browser, ways))
  const checked = oauth.validateAuthResponse(server, client, back, state)
  const redeem = () =>
    oauth.authorizationCodeGrantRequest(server, client, oauth.None(), checked, BACK, verifier, insecure)
  return { server, client, ways, back, checked, verifier, redeem }
}

const refreshOf = async (url: string, fields: Readonly<Record<string, string>>) =>
  ask(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'refresh_token', ...fields }).toString(),
  })

const meWith = (url: string, token: string) => ask(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })

describe('OAuth with oauth4webapi', () => {
  it('M-09 M-11 lets a program in, whose token is good for every endpoint', async () => {
    const all = await started()
    const { server, client, redeem } = await connect(all)
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, await redeem())
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 86_400, scope: 'relay.full' })
    expect((await meWith(all.url, tokens.access_token)).body.user.email).toBe('bob@example.org')
    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token ?? '', insecure),
    )
    expect((await meWith(all.url, refreshed.access_token)).status).toBe(200)
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, oauth.None(), refreshed.refresh_token ?? '', insecure),
    )
    expect((await meWith(all.url, refreshed.access_token)).status).toBe(401)
  })

  it('takes a code once, and ends what came of it when it comes again', async () => {
    const all = await started()
    const { server, client, redeem } = await connect(all)
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, await redeem())
    const again = await redeem()
    expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })])
    expect((await meWith(all.url, tokens.access_token)).status).toBe(401)
  })

  it('takes no code with another verifier, another client or after ten minutes', async () => {
    const all = await started()
    const { server, client, checked, redeem } = await connect(all)
    const wrong = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      checked,
      BACK,
      oauth.generateRandomCodeVerifier(),
      insecure,
    )
    expect(((await wrong.json()) as Refused).error).toBe('invalid_grant')
    const other = await connect(all)
    const foreign = await oauth.authorizationCodeGrantRequest(
      server,
      other.client,
      oauth.None(),
      checked,
      BACK,
      other.verifier,
      insecure,
    )
    expect(((await foreign.json()) as Refused).error).toBe('invalid_grant')
    all.pass(600_000)
    expect(((await (await redeem()).json()) as Refused).error).toBe('invalid_grant')
  })

  it('gives a refresh token its first answer again for two minutes, and ends the connection after that', async () => {
    const all = await started()
    const { server, client, redeem } = await connect(all)
    const { refresh_token: token = '' } = await oauth.processAuthorizationCodeResponse(server, client, await redeem())
    const ids = { client_id: client.client_id, refresh_token: token }
    const crowd = await Promise.all(Array.from({ length: 8 }, () => refreshOf(all.url, ids)))
    expect(new Set(crowd.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    all.pass(119_000)
    const late = await refreshOf(all.url, ids)
    expect(late.body).toEqual(crowd[0]?.body)
    expect((await refreshOf(all.url, { ...ids, client_id: `mcp_${'0'.repeat(32)}` })).body.error).toBe('invalid_grant')
    expect((await meWith(all.url, late.body.access_token)).status).toBe(200)
    all.pass(2_000)
    expect((await refreshOf(all.url, ids)).body.error).toBe('invalid_grant')
    expect((await meWith(all.url, late.body.access_token)).status).toBe(401)
    const successor = { ...ids, refresh_token: late.body.refresh_token }
    expect((await refreshOf(all.url, successor)).body.error).toBe('invalid_grant')
  })

  it('tells a client what is wrong, at the address that it registered', async () => {
    const all = await started()
    const { ways } = await connect(all)
    const refused = async (changes: Readonly<Record<string, string | undefined>>) => {
      const url = new URL(ways)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined) url.searchParams.delete(name)
        else url.searchParams.set(name, value)
      }
      const { status, location } = await all.browser.get(url.pathname + url.search)
      return status === 303 ? new URL(location).searchParams : status
    }
    const told = async (changes: Readonly<Record<string, string | undefined>>) => {
      const answer = await refused(changes)
      return typeof answer === 'number' ? answer : [answer.get('error'), answer.get('iss')]
    }
    expect(await told({ code_challenge_method: 'plain' })).toEqual(['invalid_request', all.url])
    expect(await told({ code_challenge: undefined })).toEqual(['invalid_request', all.url])
    expect(await told({ response_type: 'token' })).toEqual(['unsupported_response_type', all.url])
    expect(await told({ scope: 'everything' })).toEqual(['invalid_scope', all.url])
    expect(await told({ resource: 'https://elsewhere.example/mcp' })).toEqual(['invalid_target', all.url])
    expect(await told({ redirect_uri: 'https://elsewhere.example/' })).toBe(400)
    expect(await told({ redirect_uri: 'http://127.0.0.1:9999/other' })).toBe(400)
    expect(await told({ client_id: `mcp_${'0'.repeat(32)}` })).toBe(400)
    expect(await told({ redirect_uri: 'http://127.0.0.1:9999/callback' })).toBe(200)
  })

  it('hears a no', async () => {
    const all = await started()
    const { ways } = await connect(all)
    const back = new URL(await allow(all.browser, ways, { decision: 'deny' }))
    expect([back.searchParams.get('error'), back.searchParams.has('code')]).toEqual(['access_denied', false])
  })

  it('lets a program in for some agents, or for its own', async () => {
    const all = await started()
    const [one] = [await all.bob.agent('one'), await all.bob.agent('two')]
    const scoped = async (choice: Readonly<Record<string, string>>) => {
      const { ways, server, client, verifier } = await connect(all)
      const back = new URL(await allow(all.browser, ways, choice))
      const state = ways.searchParams.get('state') ?? ''
      const checked = oauth.validateAuthResponse(server, client, back, state)
      const given = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.None(),
        checked,
        BACK,
        verifier,
        insecure,
      )
      const { access_token: token } = await oauth.processAuthorizationCodeResponse(server, client, given)
      const headers = { authorization: `Bearer ${token}` }
      const { body } = await ask(`${all.url}/v1/agents`, { headers })
      return body.map(({ slug }: { slug: string }) => slug)
    }
    expect(await scoped({ agent_scope: 'selected', agent: one })).toEqual(['one'])
    expect(await scoped({ agent_scope: 'own' })).toEqual([])
  })
})

describe('OAuth with the official clients', () => {
  /** Keeps what the client gives it, and remembers where it was sent. */
  function memory(url: string) {
    const kept: Record<string, unknown> = {}
    return {
      redirectUrl: BACK,
      clientMetadata: { redirect_uris: [BACK], client_name: 'Official' },
      clientInformation: () => kept['client'],
      saveClientInformation: (value: unknown) => {
        kept['client'] = value
      },
      tokens: () => kept['tokens'],
      saveTokens: (value: unknown) => {
        kept['tokens'] = value
      },
      redirectToAuthorization: (value: URL) => {
        kept['sent'] = value
      },
      saveCodeVerifier: (value: string) => {
        kept['verifier'] = value
      },
      codeVerifier: () => kept['verifier'],
      kept,
      url,
    } as const
  }

  it('M-09 signs in to /mcp and to an agent when it meets its first 401', async () => {
    const all = await started()
    await all.bob.agent('venue-bot')
    for (const path of ['/mcp', '/agents/bob/venue-bot/mcp']) {
      const provider = memory(all.url)
      const transport = new StreamableHTTPClientTransport(new URL(all.url + path), { authProvider: provider as never })
      const client = new Client({ name: 'test', version: '1' })
      await expect(client.connect(transport)).rejects.toThrow(UnauthorizedError)
      const sent = provider.kept['sent'] as URL
      expect(sent.searchParams.get('resource')).toBe(all.url + path)
      const back = new URL(await allow(all.browser, sent))
      await auth(
        provider as never,
        {
          serverUrl: all.url + path,
          authorizationCode: back.searchParams.get('code') ?? '',
          iss: back.searchParams.get('iss') ?? undefined,
        } as never,
      )
      const again = new StreamableHTTPClientTransport(new URL(all.url + path), { authProvider: provider as never })
      await client.connect(again)
      onTestFinished(() => client.close())
      expect((await client.listTools()).tools.length).toBeGreaterThan(1)
    }
  })

  it('signs in with the older one too, and refreshes', async () => {
    const all = await started()
    const provider = memory(all.url)
    const serverUrl = `${all.url}/mcp`
    expect(await authV1(provider as never, { serverUrl })).toBe('REDIRECT')
    const back = new URL(await allow(all.browser, provider.kept['sent'] as URL))
    const authorizationCode = back.searchParams.get('code') ?? ''
    expect(await authV1(provider as never, { serverUrl, authorizationCode })).toBe('AUTHORIZED')
    const before = provider.kept['tokens']
    expect(await authV1(provider as never, { serverUrl })).toBe('AUTHORIZED')
    expect(provider.kept['tokens']).not.toEqual(before)
  })
})
