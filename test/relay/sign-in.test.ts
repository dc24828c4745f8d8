import { describe, expect, it } from 'vitest'
import { operatorOf } from '../../src/relay/index.ts'
import { Browser } from './browser.ts'
import { type Answer, ask, startRelay } from './harness.ts'

const PASSWORD = 'correct horse battery'
const BOB = { email: 'bob@example.org', password: PASSWORD }
const QUARTER_MS = 15 * 60_000

async function started(signupEnabled = false) {
  let now = Date.UTC(2026, 10, 30, 12)
  const { relay, url, person } = await startRelay({ now: () => now, settings: { signupEnabled } })
  const bob = await person('bob')
  await operatorOf(relay).setPassword(BOB.email, PASSWORD)
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    ask(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  return { relay, url, bob, post, pass: (ms: number) => (now += ms) }
}

describe('signing in', () => {
  it('gives a session for twelve hours, or until it is ended', async () => {
    const { url, post, pass } = await started()
    const me = (token: string) => ask(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })
    const [one, other] = [
      await post('/v1/auth/login', BOB),
      await post('/v1/auth/login', { ...BOB, email: ' BOB@example.org' }),
    ]
    expect([one.status, other.status]).toEqual([200, 400])
    const again = await post('/v1/auth/login', { ...BOB, email: 'BOB@example.org' })
    expect((await me(again.body.token)).body.user.email).toBe(BOB.email)
    const ended = await post('/v1/auth/signout', {}, { authorization: `Bearer ${one.body.token}` })
    expect([ended.status, (await me(one.body.token)).status]).toEqual([204, 401])
    pass(12 * 3_600_000)
    expect((await me(again.body.token)).status).toBe(401)
  })

  it('is audited, without the password', async () => {
    const { bob, post } = await started()
    const { body } = await post('/v1/auth/login', BOB)
    const audit = await ask(`${bob.url}/v1/audit`, { headers: { authorization: `Bearer ${body.token}` } })
    expect(audit.status).toBe(200)
    expect(JSON.stringify(audit.body)).not.toContain(PASSWORD)
  })

  it('is refused in the same words whether somebody has the address or not', async () => {
    const { post } = await started()
    const [known, unknown] = [
      await post('/v1/auth/login', { ...BOB, password: 'wrong' }),
      await post('/v1/auth/login', { email: 'nobody@example.org', password: 'wrong' }),
    ]
    expect([known.status, known.body]).toEqual([401, unknown.body])
    expect(unknown.status).toBe(401)
  })

  it.each(['bob@example.org', 'nobody@example.org'])(
    'as %s has to wait after ten failures, however many come at once',
    async (email) => {
      const { post, pass } = await started()
      const wrong = () => post('/v1/auth/login', { email, password: 'wrong' })
      const all = await Promise.all(Array.from({ length: 14 }, wrong))
      expect(all.filter(({ status }) => status === 401)).toHaveLength(10)
      const refused = await post('/v1/auth/login', { ...BOB, email })
      expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
        429,
        'signin_rate_limited',
        '900',
      ])
      pass(QUARTER_MS)
      expect((await post('/v1/auth/login', { ...BOB, email })).status).toBe(email === BOB.email ? 200 : 401)
    },
  )

  it('with success forgets the failures before', async () => {
    const { post } = await started()
    for (let times = 0; times < 3; times += 1) {
      for (let wrong = 0; wrong < 4; wrong += 1) await post('/v1/auth/login', { ...BOB, password: 'wrong' })
      expect((await post('/v1/auth/login', BOB)).status).toBe(200)
    }
  })

  it.each([
    [{ email: 'bob@example.org' }],
    [{ email: 7, password: [] }],
    [{ email: 'x'.repeat(300), password: PASSWORD }],
    [{ email: 'bob@example.org', password: 'x'.repeat(300) }],
  ])('with %j is refused as a bad request', async (body) => {
    const { post } = await started()
    const answer = await post('/v1/auth/login', body)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
  })

  it.each(["bob@example.org' or '1'='1", 'a\u0000@example.org', '"><script>@example.org'])(
    'as %j finds nobody',
    async (email) => {
      const { post } = await started()
      expect([400, 401]).toContain((await post('/v1/auth/login', { email, password: PASSWORD })).status)
    },
  )
})

describe('making an account', () => {
  const EVE = { email: 'eve@example.org', password: PASSWORD, name: 'Eve' }

  it('is refused unless the relay takes whoever comes', async () => {
    const { url, post } = await started()
    const answer = await post('/v1/auth/signup', EVE)
    expect([answer.status, answer.body.error.code]).toEqual([403, 'signup_disabled'])
    const browser = new Browser(url)
    expect((await browser.get('/signup')).status).toBe(404)
    expect((await browser.post('/signup', EVE)).status).toBe(403)
    expect((await browser.get('/login')).text).not.toContain('href="/signup')
  })

  it('gives a person with an account of their own and a session, once for an address', async () => {
    const { post } = await started(true)
    const made = await post('/v1/auth/signup', EVE)
    expect([made.status, made.body.user.is_admin]).toEqual([201, false])
    expect(made.body.memberships).toEqual([expect.objectContaining({ account_type: 'individual', role: 'owner' })])
    expect((await post('/v1/auth/signup', { ...EVE, email: 'EVE@example.org' })).status).toBe(409)
    expect((await post('/v1/auth/signup', { ...EVE, email: 'mallory@example.org', password: 'short' })).status).toBe(
      400,
    )
  })

  it('works at the page, and leads on to where the person came from', async () => {
    const { url } = await started(true)
    const browser = new Browser(url)
    const page = await browser.get('/signup?return=%2Fapp%2Fapi-keys')
    const made = await browser.submit(page, '/signup', EVE)
    expect([made.status, made.location]).toEqual([303, '/app/api-keys'])
    expect((await browser.get('/app')).text).toContain('eve@example.org')
    expect((await browser.post('/signup', { ...EVE, email: 'not an address' })).status).toBe(403)
    const stranger = new Browser(url)
    const bad = await stranger.post('/signup', { ...EVE, email: 'not an address' })
    expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('role="alert"')])
  })
})
