import { describe, expect, it } from 'vitest'
import { operatorOf } from '../../src/relay/index.ts'
import { Browser } from './browser.ts'
import { ask, startRelay } from './harness.ts'
import { started as invoking } from './invoked.ts'

const PASSWORD = 'correct horse battery'
const SECTIONS = ['/app', '/app/approvals', '/app/agents', '/app/inbox', '/app/api-keys', '/app/pair', '/app/audit']

async function started() {
  const { relay, url, person } = await startRelay()
  const bob = await person('bob')
  await operatorOf(relay).setPassword('bob@example.org', PASSWORD)
  const browser = new Browser(url)
  await browser.signIn('bob@example.org', PASSWORD)
  return { relay, url, person, bob, browser }
}

describe('every page', () => {
  it('is there for whoever signed in, and leads others to the sign-in and back', async () => {
    const { url, browser } = await started()
    for (const path of SECTIONS) {
      const { status, text } = await browser.get(path)
      expect([path, status]).toEqual([path, 200])
      expect(text).toContain('lang="en"')
      const { status: away, location } = await new Browser(url).get(path)
      expect([away, location]).toEqual([303, `/login?return=${encodeURIComponent(path)}`])
    }
  })

  it('can neither be framed nor run anything nor be kept', async () => {
    const { browser } = await started()
    for (const path of ['/login?return=/app/x', ...SECTIONS, '/oauth/authorize', '/app/agents/unknown']) {
      const { headers, text } = await browser.get(path)
      if (text === '') continue
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|script-src|\*/)
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('same-origin')
      expect(text).not.toMatch(/<script|style="|<[^>]* on\w+=/)
      expect(text).not.toMatch(/(?:src|href)="(?!\/|#)/)
    }
  })

  it('has a label for whatever is to be filled in', async () => {
    const { browser, bob } = await started()
    await bob.agent('venue-bot')
    for (const path of SECTIONS) {
      const { text } = await browser.get(path)
      for (const [field, id] of text.matchAll(
        /<(?:input|select|textarea)(?![^>]*type="(?:hidden|radio|checkbox)")[^>]*id="([^"]*)"/g,
      )) {
        expect([field, text.includes(`<label for="${id}"`)]).toEqual([field, true])
      }
    }
  })
})

describe('an API key', () => {
  it('M-10 is made at its page, shown once, and works until it is rotated or revoked', async () => {
    const { url, browser } = await started()
    const works = async (key: string) =>
      (await ask(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status
    const keyOn = (page: { readonly text: string }) =>
      /<pre id="key">(ck_[0-9a-f]{64})<\/pre>/.exec(page.text)?.[1] ?? ''
    const fields = { name: 'From the page', days: '30', agent_scope: 'all' }
    const made = keyOn(await browser.submit(await browser.get('/app/api-keys'), '/app/api-keys', fields))
    expect(await works(made)).toBe(200)
    const listed = await browser.get('/app/api-keys')
    expect([keyOn(listed), listed.text.includes('From the page'), listed.text.includes(made)]).toEqual([
      '',
      true,
      false,
    ])
    const rotated = keyOn(await browser.submit(listed, '/app/api-keys/rotate'))
    expect([await works(rotated), await works(made)]).toEqual([200, 401])
    await browser.submit(await browser.get('/app/api-keys'), '/app/api-keys/revoke')
    expect(await works(rotated)).toBe(401)
  })

  it.each([
    { name: '', agent_scope: 'all' },
    { name: 'x', agent_scope: 'every' },
    { name: 'x', agent_scope: 'selected' },
    { name: 'x', agent_scope: 'all', days: 'soon' },
  ])('as %j is refused on a page that says why', async (fields) => {
    const { browser } = await started()
    const page = await browser.submit(await browser.get('/app/api-keys'), '/app/api-keys', fields)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('role="alert"')])
  })
})

describe('an agent', () => {
  it('is made at its page and shown with what it can do', async () => {
    const { browser, bob } = await started()
    const page = await browser.get('/app/agents')
    const fields = { account_id: bob.accountId, slug: 'venue-bot', display_name: 'Venue', visibility: 'network' }
    const { location } = await browser.submit(page, '/app/agents', fields)
    await bob.post(`/v1/agents/${location.split('/').at(-1)}/capabilities`, { name: 'check_availability' })
    expect((await browser.get(location)).text).toContain('check_availability')
    expect((await browser.get('/app/audit')).text).toContain('agent.create')
  })
})

describe('what waits for a person', () => {
  const HELD = { consent: { required: true, max_validity: '7d', wait: '1h' } }

  async function held() {
    const all = await invoking(HELD)
    const { body } = await all.invoke({ consent_terms: { valid_for: '1d', purpose: 'plan <i>it</i>' } })
    const browsers: Browser[] = []
    for (const slug of ['bob', 'eve']) {
      await operatorOf(all.relay).setPassword(`${slug}@example.org`, PASSWORD)
      const browser = new Browser(all.url)
      await browser.signIn(`${slug}@example.org`, PASSWORD)
      browsers.push(browser)
    }
    const [owner, caller] = browsers as [Browser, Browser]
    return { ...all, owner, caller, path: `/app/consent/${body.consent_request_id}` }
  }

  it.each([
    ['approve', 'approved', 1],
    ['deny', 'denied', 0],
  ])('ends by the button %s', async (decision, status, delivered) => {
    const { owner, path, pull } = await held()
    expect((await owner.get('/app/approvals')).text).toContain(path)
    const page = await owner.get(path)
    expect(page.text).toContain('plan &lt;i&gt;it&lt;/i&gt;')
    expect((await owner.submit(page, path, { decision, reason: 'because' })).location).toBe(path)
    expect((await owner.get(path)).text).toContain(status)
    expect((await pull()).body).toHaveLength(delivered)
    expect((await owner.get('/app/approvals')).text).not.toContain(path)
  })

  it('is not for the caller to decide, nor for anybody else to see', async () => {
    const { relay, url, person, caller, path, pull, bob } = await held()
    const page = await caller.get(path)
    expect([page.status, page.text.includes(`action="${path}"`)]).toEqual([200, false])
    const forced = await caller.submit(page, '/logout')
    expect(forced.status).toBe(303)
    await person('mallory')
    await operatorOf(relay).setPassword('mallory@example.org', PASSWORD)
    const mallory = new Browser(url)
    await mallory.signIn('mallory@example.org', PASSWORD)
    expect((await mallory.get(path)).status).toBe(404)
    const csrf = /name="csrf" value="([^"]*)"/.exec((await mallory.get('/app')).text)?.[1] ?? ''
    expect((await mallory.post(path, { csrf, decision: 'approve' })).status).toBe(404)
    expect([(await pull()).body, bob.url]).toEqual([[], url])
  })
})
