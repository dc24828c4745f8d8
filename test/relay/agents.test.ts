import { describe, expect, it } from 'vitest'
import { ask, startRelay } from './harness.ts'

const NOBODYS = '01a2306b-c204-70fb-a750-7fa8f153a721'

describe('an agent', () => {
  it('is made, shown, changed and removed by its owner', async () => {
    const { person } = await startRelay()
    const bob = await person('bob')
    const id = await bob.agent('venue-bot', { description: 'finds venues', tags: ['Venues'] })
    expect((await bob.get(`/v1/agents/${id}`)).body).toMatchObject({
      id,
      slug: 'venue-bot',
      account_slug: 'bob',
      tags: ['venues'],
      visibility: 'network',
      mode: 'pull',
      accept_calls: 'friends',
      is_mine: true,
      capability_count: 0,
    })
    const changed = await bob.patch('/v1/agents/bob%2Fvenue-bot', { description: 'finds halls' })
    expect([changed.status, changed.body.description, changed.body.display_name]).toEqual([
      200,
      'finds halls',
      'venue-bot',
    ])
    expect((await bob.delete(`/v1/agents/${id}`)).status).toBe(204)
    expect((await bob.get(`/v1/agents/${id}`)).status).toBe(404)
    expect((await bob.get('/v1/agents')).body).toEqual([])
  })

  it.each([
    ['private', 404],
    ['org', 404],
    ['network', 200],
  ])('that is %s is answered with %i to a stranger', async (visibility, status) => {
    const { person } = await startRelay()
    const [bob, eve] = [await person('bob'), await person('eve')]
    const id = await bob.agent('venue-bot', { visibility })
    expect((await eve.get(`/v1/agents/${id}`)).status).toBe(status)
    expect((await eve.patch(`/v1/agents/${id}`, { description: 'mine now' })).status).toBe(404)
    expect((await eve.delete(`/v1/agents/${id}`)).status).toBe(404)
  })

  it('has a slug of its own within the account', async () => {
    const { person } = await startRelay()
    const [bob, eve] = [await person('bob'), await person('eve')]
    await bob.agent('venue-bot')
    await eve.agent('venue-bot')
    const again = await bob.post('/v1/agents', { account_id: bob.accountId, slug: 'venue-bot', display_name: 'twin' })
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  })

  it.each([
    ['agent_card_url', 'javascript:alert(1)'],
    ['agent_card_url', 'https://user:secret@example.org/'],
    ['agent_card_url', 'no url'],
    ['agent_card_url', 'http://127.0.0.1:8080/card'],
    ['agent_card_url', 'http://169.254.169.254/latest/meta-data'],
    ['agent_card_url', 'http://0x7f.1/'],
    ['agent_card_url', 'http://[::ffff:10.0.0.1]/'],
    ['agent_card_url', 'https://[fd00::1]/card'],
    ['agent_card_url', 'https://localhost/card'],
    ['agent_card_url', 'https://printer.local/card'],
    ['slug', 'Not-Good'],
    ['slug', 'a--b'],
    ['visibility', 'everybody'],
    ['tags', 'venues'],
  ])('is refused with a %s such as %s', async (field, value) => {
    const { person } = await startRelay()
    const bob = await person('bob')
    const good = { account_id: bob.accountId, slug: 'venue-bot', display_name: 'Venue bot' }
    const { status, body } = await bob.post('/v1/agents', { ...good, [field]: value })
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
    expect(body.error.message).toContain(field)
    expect(body.error.message).not.toContain('secret')
  })
})

describe('a request', () => {
  it.each([
    ['without a credential', {}],
    ['with one that was never given out', { authorization: `Bearer ck_${'0'.repeat(64)}` }],
    ['with one that has not the form of one', { authorization: 'Bearer x' }],
    ['with another scheme', { authorization: 'Basic eDp5' }],
  ])('%s is refused, and told where to sign in', async (_, headers) => {
    const { url } = await startRelay()
    const { status, body, headers: answered } = await ask(`${url}/v1/agents`, { headers })
    expect([status, body.error.code]).toEqual([401, 'unauthorized'])
    expect(answered.get('www-authenticate')).toContain(
      `resource_metadata="${url}/.well-known/oauth-protected-resource"`,
    )
  })

  it('for an account of somebody else is refused', async () => {
    const { person } = await startRelay()
    const [bob, eve] = [await person('bob'), await person('eve')]
    const given = { account_id: bob.accountId, slug: 'venue-bot', display_name: 'Venue bot' }
    for (const accountId of [bob.accountId, NOBODYS]) {
      const { status, body } = await eve.post('/v1/agents', { ...given, account_id: accountId })
      expect([status, body.error.code]).toEqual([403, 'forbidden'])
    }
  })
})
