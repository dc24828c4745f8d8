import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { it, SLOW, type Stage } from './stage.ts'

const CHROMIUM = '/usr/bin/chromium'
const PASSWORD = 'correct horse battery'

async function open(stage: Stage): Promise<{ readonly url: string; readonly browser: Browser; readonly page: Page }> {
  const env = { CT_AGENT_STATE_DIR: stage.path('relay'), SIGNUP_ENABLED: '1' }
  const url = await stage.start(['relay', '--addr', '127.0.0.1:0'], { env }).line()
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  stage.onClose(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 960, height: 720 } })
  return { url, browser, page }
}

/** Where the program that asks to be let in waits for its answer. */
async function listening(stage: Stage) {
  const answered = Promise.withResolvers<URL>()
  const server = createServer((request, response) => {
    response.end('You can go back to the program.')
    if (request.url?.startsWith('/callback') === true) answered.resolve(new URL(request.url, 'http://127.0.0.1'))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  stage.onClose(() => {
    server.close()
  })
  return { uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, answered: answered.promise }
}

const hasChromium = existsSync(CHROMIUM)

it.skipIf(!hasChromium)(
  'a person signs up, makes a key and an agent, lets a program in and approves an answer, in a browser',
  SLOW,
  async ({ stage }) => {
    const { url, page } = await open(stage)
    await page.goto(`${url}/signup`)
    await page.getByLabel('Your name').fill('Bob')
    await page.getByLabel('E-mail address').fill('bob@example.org')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/app`)

    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByLabel('What it is for').fill('tests')
    await page.getByRole('button', { name: 'Make a key' }).click()
    const key = await page.locator('#key').textContent()
    expect(key).toMatch(/^ck_[0-9a-f]{64}$/)
    // biome-ignore lint/suspicious/noExplicitAny: what the relay answers is what the test examines
    const asBob = async (path: string, body?: object): Promise<any> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
      return (await fetch(url + path, init)).json()
    }

    for (const [slug, name] of [
      ['hall', 'The hall'],
      ['planner', 'The planner'],
    ] as const) {
      await page.getByRole('link', { name: 'Agents' }).click()
      await page.getByLabel('Short name').fill(slug)
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Seen by').selectOption('network')
      await page.getByRole('button', { name: 'Make an agent' }).click()
      await page.getByRole('heading', { name: `/${slug}` }).waitFor()
    }

    const { uri, answered } = await listening(stage)
    const registered = await fetch(`${url}/oauth/register`, {
      method: 'POST',
      body: JSON.stringify({ redirect_uris: [uri], client_name: 'A planner <b>' }),
    })
    const { client_id: clientId } = (await registered.json()) as { client_id: string }
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: uri,
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      state: 'here',
    })
    await page.goto(`${url}/oauth/authorize?${query.toString()}`)
    await page.getByRole('heading', { name: 'Let A planner <b> in?' }).waitFor()
    expect(await page.getByText(uri).count()).toBe(1)
    await page.getByRole('button', { name: 'Let it in' }).click()
    const answer = (await answered).searchParams
    expect([answer.get('state'), answer.get('iss'), answer.has('code')]).toEqual(['here', url, true])

    const capability = await asBob('/v1/agents/hall/capabilities', { name: 'message_owner' })
    const proposed = await asBob('/v1/friendships', { proposer_agent_id: 'planner', target_agent_id: 'hall' })
    await asBob(`/v1/friendships/${proposed.id}/accept`, {})
    const agents = { granter_agent_id: 'hall', grantee_agent_id: 'planner' }
    await asBob('/v1/grants', { ...agents, capability_id: capability.id })
    const asked = { agent: 'hall', capability: 'message_owner', input: { message: 'Is the hall free?' } }
    const { invocation_id: id } = await asBob('/v1/invoke', asked)
    await asBob('/v1/inbox?agent_id=hall')
    const output = { status: 'replied', reply: 'It is.' }
    await asBob(`/v1/invocations/${id}/result`, { status: 'succeeded', output })
    await page.goto(`${url}/app/approvals`)
    await page.getByRole('link', { name: 'An answer that wants to go out' }).click()
    expect(await page.getByText('"It is."').count()).toBe(1)
    await page.getByRole('button', { name: 'Send it' }).click()
    await page.getByText('approved').waitFor()
    expect(await asBob(`/v1/invocations/${id}`)).toMatchObject({ status: 'succeeded', output })

    await page.getByRole('button', { name: /Sign out/ }).click()
    await page.waitForURL(`${url}/login`)
    await page.goto(`${url}/app`)
    expect(page.url()).toContain('/login')
  },
)
