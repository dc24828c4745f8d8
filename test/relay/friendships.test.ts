import { describe, expect, it } from 'vitest'
import { befriended, type Person, startRelay } from './harness.ts'

async function twoAgents() {
  const { person } = await startRelay()
  const [bob, eve] = [await person('bob'), await person('eve')]
  return { bob, eve, person, bobs: await bob.agent('venue-bot'), eves: await eve.agent('planner') }
}

const propose = (who: Person, proposer: string, target: string) =>
  who.post('/v1/friendships', { proposer_agent_id: proposer, target_agent_id: target, proposer_message: 'hello' })

describe('a friendship', () => {
  it('is proposed by one side and accepted by the other', async () => {
    const { bob, eve, bobs } = await twoAgents()
    const made = await propose(eve, 'eve/planner', 'bob/venue-bot')
    expect([made.status, made.body]).toEqual([
      201,
      expect.objectContaining({
        status: 'proposed',
        proposer_message: 'hello',
        i_proposed: true,
        i_received: false,
        target: expect.objectContaining({ id: bobs, account_slug: 'bob' }),
      }),
    ])
    const path = `/v1/friendships/${made.body.id}`
    expect((await eve.post(`${path}/accept`)).status).toBe(403)
    const accepted = await bob.post(`${path}/accept`, { response_message: 'welcome' })
    expect(accepted.body).toMatchObject({ status: 'accepted', response_message: 'welcome', i_received: true })
    expect((await bob.post(`${path}/reject`)).status).toBe(409)
    expect((await eve.get('/v1/friendships?direction=outbound&status=accepted')).body).toHaveLength(1)
    expect((await eve.get('/v1/friendships?direction=inbound')).body).toEqual([])
  })

  it.each([
    ['reject', 'bob', 'rejected'],
    ['cancel', 'eve', 'cancelled'],
  ] as const)('may be proposed again after %s', async (verb, who, status) => {
    const { bob, eve, bobs, eves } = await twoAgents()
    const { body } = await propose(eve, eves, bobs)
    const decided = await { bob, eve }[who].post(`/v1/friendships/${body.id}/${verb}`)
    expect(decided.body.status).toBe(status)
    expect((await propose(eve, eves, bobs)).status).toBe(201)
  })

  it('is countered with a proposal in the other direction', async () => {
    const { bob, eve, bobs, eves } = await twoAgents()
    const { body } = await propose(eve, eves, bobs)
    const counter = await bob.post(`/v1/friendships/${body.id}/counter`, { proposer_message: 'only on Mondays' })
    expect(counter.body).toMatchObject({
      status: 'proposed',
      counter_of_id: body.id,
      proposer_agent_id: bobs,
      target_agent_id: eves,
      proposer_message: 'only on Mondays',
    })
    expect((await eve.get(`/v1/friendships/${body.id}`)).body.status).toBe('countered')
    expect((await eve.post(`/v1/friendships/${counter.body.id}/accept`)).body.status).toBe('accepted')
  })

  it('is one between two agents, whoever asked', async () => {
    const { bob, eve, bobs, eves } = await twoAgents()
    const { body } = await propose(eve, eves, bobs)
    const crossing = await propose(bob, bobs, eves)
    expect([crossing.status, crossing.body.error.message]).toEqual([409, expect.stringContaining(body.id)])
    const crowd = await Promise.all(Array.from({ length: 6 }, () => propose(bob, bobs, eves)))
    expect(crowd.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409, 409])
    expect((await propose(eve, eves, eves)).status).toBe(400)
  })

  it('is nothing that others know of', async () => {
    const { person, eve, bobs, eves } = await twoAgents()
    const { body } = await propose(eve, eves, bobs)
    const ann = await person('ann')
    expect((await ann.get(`/v1/friendships/${body.id}`)).status).toBe(404)
    expect((await ann.post(`/v1/friendships/${body.id}/accept`)).status).toBe(404)
    expect((await propose(ann, bobs, eves)).status).toBe(404)
  })
})

describe('a grant', () => {
  it('lets a friend use a capability until it is revoked', async () => {
    const { person } = await startRelay()
    const { bob, eve, grantId } = await befriended(person)
    expect((await eve.get('/v1/grants?direction=inbound&status=active')).body).toEqual([
      expect.objectContaining({ id: grantId, capability_name: 'check_availability', i_received: true }),
    ])
    expect((await eve.post(`/v1/grants/${grantId}/revoke`)).status).toBe(403)
    const revoked = await bob.post(`/v1/grants/${grantId}/revoke`, { reason: 'enough' })
    expect(revoked.body).toMatchObject({ status: 'revoked', revoke_reason: 'enough' })
    expect((await bob.post(`/v1/grants/${grantId}/revoke`)).status).toBe(409)
    expect((await eve.get('/v1/grants?status=active')).body).toEqual([])
  })

  it('is over when its time is, and may then be given again', async () => {
    let now = Date.UTC(2026, 10, 30)
    const { person } = await startRelay({ now: () => now })
    const { bob, server, caller, capabilityId, grantId } = await befriended(person)
    const given = { granter_agent_id: server, grantee_agent_id: caller, capability_id: capabilityId }
    expect((await bob.post('/v1/grants', given)).status).toBe(409)
    await bob.post(`/v1/grants/${grantId}/revoke`)
    const brief = await bob.post('/v1/grants', { ...given, expires_at: '2026-11-30T01:00:00Z' })
    now += 3_600_000
    expect((await bob.get(`/v1/grants/${brief.body.id}`)).body.status).toBe('expired')
    expect((await bob.get('/v1/grants?status=expired')).body).toHaveLength(1)
    expect((await bob.post('/v1/grants', given)).status).toBe(201)
    const past = await bob.post('/v1/grants', { ...given, expires_at: '2026-11-30T00:00:00Z' })
    expect(past.body.error.message).toBe('expires_at: expected a time to come')
  })

  it('needs friends, and is gone with their friendship', async () => {
    const { person } = await startRelay()
    const { bob, eve, server, caller, capabilityId } = await befriended(person)
    const ann = await person('ann')
    const anns = await ann.agent('helper')
    const given = { granter_agent_id: server, capability_id: capabilityId }
    expect((await bob.post('/v1/grants', { ...given, grantee_agent_id: anns })).status).toBe(409)
    expect((await eve.post('/v1/grants', { ...given, grantee_agent_id: caller })).status).toBe(404)
    const [friendship] = (await eve.get('/v1/friendships')).body
    expect((await eve.post(`/v1/friendships/${friendship.id}/end`)).body).toMatchObject({ status: 'ended' })
    expect((await eve.get('/v1/grants')).body).toMatchObject([{ status: 'revoked', revoke_reason: 'friendship ended' }])
  })

  it.each(['bob', 'eve'] as const)('is gone with an agent of %s', async (who) => {
    const { person } = await startRelay()
    const { bob, eve, server, caller, grantId } = await befriended(person)
    expect((await { bob, eve }[who].delete(`/v1/agents/${who === 'bob' ? server : caller}`)).status).toBe(204)
    const { body } = await { bob: eve, eve: bob }[who].get(`/v1/grants/${grantId}`)
    expect(body).toMatchObject({ status: 'revoked', revoke_reason: 'agent deleted' })
  })

  it('is gone with its capability', async () => {
    const { person } = await startRelay()
    const { bob, eve, server, capabilityId } = await befriended(person)
    await bob.delete(`/v1/agents/${server}/capabilities/${capabilityId}`)
    expect((await eve.get('/v1/grants')).body).toMatchObject([
      { status: 'revoked', revoke_reason: 'capability deleted' },
    ])
  })
})
