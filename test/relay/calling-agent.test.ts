import { describe, expect, it } from 'vitest'
import { OPEN, started } from './invoked.ts'

describe('M-20 the agent that calls', () => {
  it('M-21 is the one that is named, which has to be one of yours', async () => {
    const { eve, byName, caller } = await started(OPEN)
    const other = await eve.agent('other')
    expect((await byName(eve, { grantee_agent_id: other })).body.grantee_agent_id).toBe(other)
    expect((await byName(eve, { grantee_agent_id: 'planner' })).body.grantee_agent_id).toBe(caller)
    expect((await byName(eve, { grantee_agent_id: 'bob/venue-bot' })).status).toBe(404)
  })

  it('M-22 is else the one with the oldest grant', async () => {
    const { bob, eve, byName, server, caller, capabilityId } = await started(OPEN)
    const other = await eve.agent('other')
    const { body } = await eve.post('/v1/friendships', { proposer_agent_id: other, target_agent_id: server })
    await bob.post(`/v1/friendships/${body.id}/accept`)
    await bob.post('/v1/grants', { granter_agent_id: server, grantee_agent_id: other, capability_id: capabilityId })
    expect((await byName(eve)).body.grantee_agent_id).toBe(caller)
    await eve.delete(`/v1/agents/${caller}`)
    expect((await byName(eve)).body.grantee_agent_id).toBe(other)
  })

  it('M-23 is else, for what is public, a personal agent that the relay makes once', async () => {
    const { person, byName } = await started(OPEN)
    const ann = await person('ann')
    await ann.agent('helper')
    const first = await byName(ann)
    expect(first.body.status).toBe('pending')
    const agents = (await ann.get('/v1/agents')).body
    expect(agents).toContainEqual(
      expect.objectContaining({
        id: first.body.grantee_agent_id,
        slug: 'personal',
        visibility: 'private',
        mode: 'pull',
        accept_calls: 'nobody',
        is_personal: true,
      }),
    )
    expect((await byName(ann)).body.grantee_agent_id).toBe(first.body.grantee_agent_id)
    await ann.delete(`/v1/agents/${first.body.grantee_agent_id}`)
    expect((await byName(ann)).body.grantee_agent_id).not.toBe(first.body.grantee_agent_id)
  })

  it('M-24 M-26 of a credential of its own is made where there is none, and named where there are several', async () => {
    const { person, byName } = await started(OPEN)
    const ann = await person('ann')
    await ann.agent('helper')
    const app = await ann.withKey({ agent_scope: 'own' })
    const made = await byName(app)
    expect((await app.get('/v1/agents')).body).toMatchObject([{ id: made.body.grantee_agent_id, is_personal: true }])
    await app.agent('second')
    const several = await byName(app)
    expect([several.status, several.body.error.code]).toEqual([409, 'chk.mcp.as_required'])
    expect(several.body.error.message).toContain('ann/second')
    expect((await byName(app, { grantee_agent_id: 'second' })).body.status).toBe('pending')
  })

  it('M-25 without a grant is told how to get one', async () => {
    const { person, byName, capabilityPath, bob } = await started()
    const ann = await person('ann')
    const { status, body } = await byName(ann)
    expect([status, body.error.code]).toEqual([403, 'chk.policy.grant_required'])
    expect(body.error.message).toContain('propose_friendship')
    await bob.patch(capabilityPath, { visibility: 'private' })
    expect((await byName(ann)).status).toBe(404)
  })

  it('uses what is public as often as its owner lets it, exactly', async () => {
    const { person, byName } = await started(OPEN)
    const ann = await person('ann')
    const helper = await ann.agent('helper')
    const crowd = await Promise.all(Array.from({ length: 8 }, () => byName(ann, { grantee_agent_id: helper })))
    expect(crowd.filter(({ status }) => status === 202)).toHaveLength(3)
    const refused = crowd.find(({ status }) => status !== 202)
    expect(refused?.body.error).toMatchObject({
      code: 'monthly_quota_exhausted',
      quota: 3,
      resets_at: '2026-12-01T00:00:00.000Z',
    })
  })
})

describe('the agent that is called', () => {
  it('M-29 M-31 is online when it pulled within five minutes, and forgotten after thirty days', async () => {
    const { eve, invoke, pull, pass } = await started()
    const { body } = await invoke()
    const peer = async () => (await eve.get(`/v1/invocations/${body.invocation_id}`)).body.peer
    expect(body.peer).toEqual({ delivery: 'pull', online: false, last_seen_at: null })
    await pull()
    expect(await peer()).toEqual({ delivery: 'pull', online: true, last_seen_at: '2026-11-30T12:00:00.000Z' })
    pass(300_001)
    expect(await peer()).toMatchObject({ online: false, last_seen_at: '2026-11-30T12:00:00.000Z' })
    pass(30 * 86_400_000)
    expect((await peer()).last_seen_at).toBeNull()
  })
})
