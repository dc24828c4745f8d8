import { describe, expect, it } from 'vitest'
import { type Relay } from '../../src/relay/index.ts'
import { ask, startRelay } from './harness.ts'

const BACK = 'http://127.0.0.1:7777/callback'

describe('registration', () => {
  const register = (relay: Relay, body: unknown) =>
    ask(`${relay.settings.publicUrl}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it.each([
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['http://example.org/callback'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://user:pw@example.org/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://example.org;script-src/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://*.example.org,x/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://example.org/#part'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{}, 'invalid_redirect_uri'],
    [{ redirect_uris: [BACK], token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
    [{ redirect_uris: [BACK], client_name: 'x'.repeat(500) }, 'invalid_client_metadata'],
    [{ redirect_uris: [BACK], client_uri: 'javascript:x' }, 'invalid_client_metadata'],
    [[], 'invalid_request'],
  ])('with %j is refused', async (body, error) => {
    const { relay } = await startRelay()
    const answer = await register(relay, body)
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })

  it('with a name that no database keeps is taken, or refused in JSON', async () => {
    const { relay } = await startRelay()
    const answer = await register(relay, { redirect_uris: [BACK], client_name: 'a\u0000b' })
    expect([201, 400]).toContain(answer.status)
  })

  it.each([
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'https://claude.ai/api/mcp/auth_callback',
    'http://[::1]/x',
  ])('takes %s', async (uri) => {
    const { relay } = await startRelay()
    expect((await register(relay, { redirect_uris: [uri], logo_uri: 7, unknown: {} })).status).toBe(201)
  })

  it('that comes too often is told when to come again, in JSON that clients wait for', async () => {
    const { relay } = await startRelay({ now: () => 0 })
    for (let times = 0; times < 100; times += 1) await register(relay, { redirect_uris: [BACK] })
    const answer = await register(relay, { redirect_uris: [BACK] })
    expect([answer.status, answer.body.error, answer.headers.get('retry-after')]).toEqual([
      429,
      'temporarily_unavailable',
      '3600',
    ])
  })
})

describe('the token endpoint', () => {
  it.each([
    ['nothing', '', 'invalid_request'],
    ['another grant', 'grant_type=password', 'unsupported_grant_type'],
    ['a grant twice', 'grant_type=a&grant_type=b', 'invalid_request'],
    ['a code of another form', 'grant_type=authorization_code&code=x&client_id=y&code_verifier=z', 'invalid_grant'],
    [
      'a refresh token that was never given out',
      `grant_type=refresh_token&client_id=y&refresh_token=cr_${'0'.repeat(64)}`,
      'invalid_grant',
    ],
    ['no device', 'grant_type=urn:ietf:params:oauth:grant-type:device_code', 'invalid_request'],
  ])('refuses %s in JSON that nobody keeps', async (_, body, error) => {
    const { url } = await startRelay()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await ask(`${url}/oauth/token`, { method: 'POST', headers, body })
    expect([answer.status, answer.body.error, answer.headers.get('cache-control')]).toEqual([400, error, 'no-store'])
    const json = await ask(`${url}/oauth/token`, { method: 'POST', body: '{}' })
    expect(json.body.error).toBe('invalid_request')
  })
})
