import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Stage } from './stage.ts'

let stage: Stage

beforeAll(() => {
  stage = new Stage()
})
afterAll(() => stage.close())

it('ct-agent relay makes an account and a key for its operator at the first start only', async () => {
  const env = { CT_AGENT_STATE_DIR: stage.path('relay') }
  const relay = stage.start(['relay', '--addr', '127.0.0.1:0'], { env })
  const url = await relay.line()
  const keyFile = await relay.says(/its API key is in (\S+)/)
  const key = readFileSync(keyFile, 'utf8')
  expect(relay.stderr).not.toContain(key)
  const headers = { authorization: `Bearer ${key}` }
  expect(await (await fetch(`${url}/v1/agents`, { headers })).json()).toEqual([])
  const made = await stage.finish(
    ['relay', 'admin', 'create-user', 'bob@example.org', '--slug', 'bob', '--api-key', '--json'],
    { env },
  )
  const bob = JSON.parse(made.stdout)
  expect(bob).toMatchObject({ email: 'bob@example.org', account_slug: 'bob' })
  const answer = await fetch(`${url}/v1/agents`, { headers: { authorization: `Bearer ${bob.api_key}` } })
  expect(answer.status).toBe(200)
  relay.signal('SIGTERM')
  expect((await relay.exit).status).toBe(0)
  const again = stage.start(['relay', '--addr', '127.0.0.1:0', '--json'], { env })
  const { url: other } = JSON.parse(await again.line())
  expect((await fetch(`${other}/v1/agents`, { headers })).status).toBe(200)
  expect(again.stderr).not.toContain('made the account')
})

it('ct-agent relay admin tells what is wrong', async () => {
  const env = { CT_AGENT_STATE_DIR: stage.path('other') }
  const run = (...args: string[]) => stage.finish(['relay', 'admin', ...args], { env })
  expect((await run('create-user', 'nobody')).stderr).toContain('expected an e-mail address, found nobody')
  expect((await run('create-user', 'bob@example.org', '--slug', 'bob')).status).toBe(0)
  const taken = await run('create-user', 'bob@example.org')
  expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('ERR_RELAY_REFUSED')])
  const unknown = await run('reset-password', 'eve@example.org')
  expect(unknown.stderr).toContain('expected a person of this address')
})
