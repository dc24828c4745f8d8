import { describe, expect, it } from 'vitest'
import { ask, Person, startRelay } from './harness.ts'

describe('an API key', () => {
  it('is shown once, works, and is over when it is revoked', async () => {
    const { url, person } = await startRelay()
    const bob = await person('bob')
    const { status, body } = await bob.post('/v1/api-keys', { name: 'laptop', expires_in_days: 30 })
    expect(status).toBe(201)
    expect(body.plaintext).toMatch(/^ck_[0-9a-f]{64}$/)
    const listed = await bob.get('/v1/api-keys')
    expect(JSON.stringify(listed.body)).not.toContain(body.plaintext)
    const laptop = new Person(url, body.plaintext, bob.userId, bob.accountId)
    expect((await laptop.get('/v1/agents')).status).toBe(200)
    expect((await bob.delete(`/v1/api-keys/${body.api_key.id}`)).status).toBe(204)
    expect((await laptop.get('/v1/agents')).status).toBe(401)
    expect((await bob.delete(`/v1/api-keys/${body.api_key.id}`)).status).toBe(404)
  })

  it('is replaced by one that may do the same', async () => {
    const { url, person } = await startRelay()
    const bob = await person('bob')
    const made = await bob.post('/v1/api-keys', { name: 'app', agent_scope: 'own' })
    const app = new Person(url, made.body.plaintext, bob.userId, bob.accountId)
    const agent = await app.agent('app-bot')
    const rotated = await bob.post(`/v1/api-keys/${made.body.api_key.id}/rotate`)
    const next = new Person(url, rotated.body.plaintext, bob.userId, bob.accountId)
    expect((await app.get('/v1/agents')).status).toBe(401)
    expect((await next.get('/v1/agents')).body).toMatchObject([{ id: agent }])
  })

  it.each([
    ['own', []],
    ['selected', ['chosen']],
  ])('of scope %s acts for %j and what it makes, and for nothing else', async (scope, seen) => {
    const { url, person } = await startRelay()
    const bob = await person('bob')
    const [chosen, other] = [await bob.agent('chosen'), await bob.agent('other')]
    const { body } = await bob.post('/v1/api-keys', {
      name: 'narrow',
      agent_scope: scope,
      selected_agent_ids: [chosen],
    })
    const narrow = new Person(url, body.plaintext, bob.userId, bob.accountId)
    const slugs = async () => (await narrow.get('/v1/agents')).body.map(({ slug }: { slug: string }) => slug)
    expect(await slugs()).toEqual(seen)
    await narrow.agent('made-by-it')
    expect(await slugs()).toEqual([...seen, 'made-by-it'])
    expect((await narrow.patch(`/v1/agents/${other}`, { description: 'changed' })).status).toBe(404)
    const wider = await narrow.post('/v1/api-keys', { name: 'wide' })
    expect([wider.status, wider.body.error.code]).toEqual([403, 'forbidden'])
  })

  it('for an account of somebody else is refused', async () => {
    const { person } = await startRelay()
    const [bob, eve] = [await person('bob'), await person('eve')]
    const { status } = await eve.post('/v1/api-keys', { name: 'x', account_id: bob.accountId })
    expect(status).toBe(403)
    const chosen = await bob.agent('chosen')
    const given = { name: 'x', agent_scope: 'selected', selected_agent_ids: [chosen] }
    expect((await eve.post('/v1/api-keys', given)).status).toBe(404)
  })

  it('of one account neither sees, ends nor replaces a key of all accounts', async () => {
    const { url, person } = await startRelay()
    const bob = await person('bob')
    const [wide] = (await bob.get('/v1/api-keys')).body
    const { body } = await bob.post('/v1/api-keys', { name: 'one account', account_id: bob.accountId })
    const limited = new Person(url, body.plaintext, bob.userId, bob.accountId)
    expect((await limited.get('/v1/api-keys')).body).toMatchObject([{ name: 'one account' }])
    expect((await limited.post(`/v1/api-keys/${wide.id}/rotate`)).status).toBe(404)
    expect((await limited.delete(`/v1/api-keys/${wide.id}`)).status).toBe(404)
    const made = await limited.post('/v1/api-keys', { name: 'another' })
    expect(made.body.api_key.account_id).toBe(bob.accountId)
  })

  it('is of one person, whom others cannot revoke it from', async () => {
    const { person } = await startRelay()
    const [bob, eve] = [await person('bob'), await person('eve')]
    const [key] = (await bob.get('/v1/api-keys')).body
    expect((await eve.delete(`/v1/api-keys/${key.id}`)).status).toBe(404)
    expect((await bob.get('/v1/agents')).status).toBe(200)
  })
})

describe('the relay', () => {
  it('says that it is there, what it can do and what it refuses', async () => {
    const { url } = await startRelay()
    expect((await ask(`${url}/healthz`)).body).toEqual({ ok: true, service: 'relay' })
    expect((await ask(`${url}/readyz`)).status).toBe(200)
    const { paths } = (await ask(`${url}/openapi.json`)).body
    expect(paths['/v1/agents/{agent_id}'].patch).toMatchObject({
      operationId: 'update_agent',
      security: [{ bearer: [] }],
    })
    expect(paths['/v1/agents'].post.requestBody.content['application/json'].schema.required).toEqual([
      'account_id',
      'slug',
      'display_name',
    ])
    expect((await ask(`${url}/.well-known/error-codes.json`)).body.conflict.status).toBe(409)
  })

  it.each([
    ['no JSON', '{', 400, 'invalid_request'],
    ['a list', '[]', 400, 'invalid_request'],
    ['what is too large', 'x'.repeat(1_200_000), 413, 'payload_too_large'],
  ])('refuses %s', async (_, body, status, code) => {
    const { url, person } = await startRelay()
    const { key } = await person('bob')
    const found = await ask(`${url}/v1/agents`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })
    expect([found.status, found.body.error.code]).toEqual([status, code])
  })

  it('answers a path that is none of its own with 404', async () => {
    const { url } = await startRelay()
    expect(await ask(`${url}/nowhere`)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  })
})
