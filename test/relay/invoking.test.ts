import { describe, expect, it } from 'vitest'
import { sweepInvocations } from '../../src/relay/invoking/sweep.ts'
import { started, TODAY } from './invoked.ts'

describe('an invocation', () => {
  it('is queued, pulled, answered and read by who made it', async () => {
    const { eve, invoke, pull, respond, server, caller, grantId } = await started()
    const { status, body } = await invoke()
    expect([status, body]).toEqual([202, expect.objectContaining({ status: 'pending', grantee_agent_id: caller })])
    const work = await pull()
    expect(work.body).toEqual([
      expect.objectContaining({
        invocation_id: body.invocation_id,
        capability_name: 'check_availability',
        input: TODAY,
        granter_agent_id: server,
        attempts: 1,
        tier: 'friend',
        grant_context: expect.objectContaining({ id: grantId }),
        friendship_context: expect.objectContaining({ status: 'accepted' }),
      }),
    ])
    expect((await pull()).body).toEqual([])
    expect((await respond(body.invocation_id)).body).toMatchObject({ status: 'succeeded' })
    const read = await eve.get(`/v1/invocations/${body.invocation_id}`)
    expect(read.body).toMatchObject({
      status: 'succeeded',
      input: TODAY,
      output: { free: true },
      output_preview: { free: true },
      i_invoked: true,
      i_served: false,
    })
    expect(read.body).not.toHaveProperty('peer')
    expect((await respond(body.invocation_id)).status).toBe(409)
  })

  it('M-17 M-18 M-19 is made by names, and waits for its outcome', async () => {
    const { eve, byName, pull, respond } = await started()
    const outcome = byName(eve, { wait_seconds: 20 })
    const [work] = (await pull('&wait_seconds=20')).body
    await respond(work.invocation_id, { lease_id: work.lease_id })
    expect((await outcome).body).toMatchObject({ status: 'succeeded', output: { free: true } })
    expect((await byName(eve, { wait_seconds: 26 })).status).toBe(400)
  })

  it('M-27 is followed by its id, and says why it failed', async () => {
    const { eve, invoke, pull, respond } = await started()
    const { body } = await invoke()
    await pull()
    await respond(body.invocation_id, { status: 'failed', error: 'the calendar is away' })
    const read = await eve.get(`/v1/invocations/${body.invocation_id}?wait_seconds=5`)
    expect(read.body).toMatchObject({ status: 'failed', error: 'the calendar is away' })
  })

  it('is nothing that others may see, take or answer', async () => {
    const { person, eve, invoke, server } = await started()
    const { body } = await invoke()
    const ann = await person('ann')
    expect((await ann.get(`/v1/invocations/${body.invocation_id}`)).status).toBe(404)
    expect((await ann.get(`/v1/inbox?agent_id=${server}`)).status).toBe(404)
    const answers = [ann, eve].map((who) =>
      who.post(`/v1/invocations/${body.invocation_id}/result`, { status: 'succeeded' }),
    )
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404])
    expect((await ann.get('/v1/invocations')).body).toEqual([])
  })

  it('of the same idempotency key is one', async () => {
    const { eve, invoke, pull, grantId } = await started()
    const made = await Promise.all(Array.from({ length: 6 }, () => invoke({ idempotency_key: 'once' })))
    expect(new Set(made.map(({ body }) => body.invocation_id)).size).toBe(1)
    const byHeader = await eve.ask(
      'POST',
      '/v1/invoke',
      { grant_id: grantId, input: TODAY },
      { 'idempotency-key': 'once' },
    )
    expect(byHeader.body.invocation_id).toBe(made[0]?.body.invocation_id)
    expect((await invoke({ idempotency_key: 'once', input: { date: 'other' } })).status).toBe(409)
    expect((await pull()).body).toHaveLength(1)
  })

  it('that nobody answers has timed out after a day', async () => {
    const { relay, eve, invoke, pull, respond, pass } = await started()
    const { body } = await invoke()
    pass(86_400_000)
    const waiting = eve.get(`/v1/invocations/${body.invocation_id}?wait_seconds=20`)
    await sweepInvocations(relay)
    expect((await waiting).body).toMatchObject({ status: 'timeout', error_code: 'timeout' })
    expect((await pull()).body).toEqual([])
    expect((await respond(body.invocation_id)).status).toBe(409)
  })

  it('carries up to 1 MiB, and nothing that is more is kept or lost without a word', async () => {
    const { eve, invoke, pull, respond } = await started()
    const date = 'x'.repeat(1_000_000)
    const { body } = await invoke({ input: { date } })
    const [work] = (await pull()).body
    expect(work.input.date).toHaveLength(1_000_000)
    await respond(work.invocation_id, { output: { date } })
    const read = (await eve.get(`/v1/invocations/${body.invocation_id}`)).body
    expect(read.output.date).toHaveLength(1_000_000)
    expect(read.output_preview).toEqual({ __chakramcp_truncated__: true, bytes: 1_000_011 })
    const large = await invoke({ input: { date: 'x'.repeat(1_048_576) } })
    expect([large.status, large.body.error.code]).toEqual([413, 'payload_too_large'])
  })

  it.each([
    [{ input: {} }, 400, 'invalid_request', 'input: expected a member "date", found none'],
    [{ grant_id: '01900000-0000-7000-8000-000000000000' }, 404, 'not_found', 'expected a grant'],
    [
      { grantee_agent_id: 'eve/other' },
      400,
      'invalid_request',
      'grantee_agent_id: expected the agent that has the grant',
    ],
    [{ grant_id: undefined, agent: 'bob/venue-bot' }, 400, 'invalid_request', 'expected agent and capability'],
    [{ grant_id: undefined, agent: 'bob/venue-bot', capability: 'fly' }, 404, 'not_found', '"fly"'],
  ])('with %j is refused', async (more, status, code, message) => {
    const { invoke } = await started()
    const { status: found, body } = await invoke(more)
    expect([found, body.error.code]).toEqual([status, code])
    expect(body.error.message).toContain(message)
  })

  it.each([
    ['revoked', 409, 'chk.policy.grant_revoked'],
    ['without a friendship', 403, 'chk.policy.friendship_required'],
  ])('by a grant that is %s leaves a row that says so', async (how, status, code) => {
    const { bob, eve, invoke, grantId, relay } = await started()
    if (how === 'revoked') await bob.post(`/v1/grants/${grantId}/revoke`)
    else await relay.database.sql.updateTable('friendships').set({ status: 'ended' }).execute()
    const { status: found, body } = await invoke()
    expect([found, body.error.code, body.error.status]).toEqual([status, code, 'rejected'])
    const [row] = (await eve.get('/v1/invocations?status=rejected')).body
    expect(row).toMatchObject({ id: body.error.invocation_id, error_code: code })
  })

  it('that is queued is rejected when its grant is revoked', async () => {
    const { bob, eve, invoke, pull, grantId } = await started()
    const { body } = await invoke()
    const waiting = eve.get(`/v1/invocations/${body.invocation_id}?wait_seconds=20`)
    await bob.post(`/v1/grants/${grantId}/revoke`)
    expect((await waiting).body).toMatchObject({ status: 'rejected', error_code: 'chk.policy.grant_revoked' })
    expect((await pull()).body).toEqual([])
  })

  it('of an agent with an address of its own says where that is', async () => {
    const { bob, eve, byName, server } = await started()
    await bob.patch(`/v1/agents/${server}`, { agent_card_url: 'https://agents.example.org/card' })
    const { status, body } = await byName(eve)
    expect([status, body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'chk.mcp.push_agent', card_url: 'https://agents.example.org/card' }),
    ])
  })
})
