import { describe, expect, it } from 'vitest'
import { sweepInvocations } from '../../src/relay/invoking/sweep.ts'
import { started, TODAY } from './invoked.ts'

const CONSENT = { consent: { required: true, max_validity: '7d', wait: '1h' } }
const TERMS = { valid_for: '30d', purpose: 'plan the party', max_requests: 2 }

async function held(terms: unknown = undefined) {
  const all = await started(CONSENT)
  const { body } = await all.invoke({ consent_terms: terms })
  return { ...all, id: body.invocation_id, requestId: body.consent_request_id, body, owner: await all.session(all.bob) }
}

describe('M-47 a capability that needs consent', () => {
  it('M-48 M-49 M-50 holds the call until an approver decides, and tells the agent without the input', async () => {
    const { body, id, requestId, eve, bob, server, pull, owner, url } = await held(TERMS)
    expect(body).toMatchObject({ status: 'awaiting_consent', consent_request_id: expect.any(String) })
    expect((await pull()).body).toEqual([])
    expect((await eve.get('/v1/invocations?status=awaiting_consent')).body).toMatchObject([{ id }])
    const notices = await bob.get(`/v1/inbox/notices?agent_id=${server}`)
    const notice = notices.body.find(({ kind }: { kind: string }) => kind === 'consent_requested')
    expect(notice).toMatchObject({
      approve_url: `${url}/app/consent/${requestId}`,
      invocation_id: id,
      capability_name: 'check_availability',
      purpose: 'plan the party',
    })
    expect(JSON.stringify(notice)).not.toContain(TODAY.date)
    expect((await bob.get(`/v1/inbox/notices?agent_id=${server}`)).body).toEqual([])
    const asked = await eve.get(`/v1/consent/requests/${requestId}`)
    expect(asked.body).toMatchObject({
      status: 'pending',
      valid_for: 604_800,
      max_requests: 2,
      serving_agent: 'bob/venue-bot',
    })
    expect(asked.body).not.toHaveProperty('input')
    expect((await owner.get(`/v1/consent/requests/${requestId}`)).body.input).toEqual(TODAY)
    const waiting = eve.get(`/v1/invocations/${id}?wait_seconds=20`)
    expect((await owner.post(`/v1/consent/requests/${requestId}/approve`)).body).toMatchObject({
      status: 'approved',
      remaining_requests: 1,
    })
    expect((await waiting).body.status).toBe('awaiting_consent')
    expect((await pull()).body).toMatchObject([{ id }])
  })

  it('lets as many through as were approved, for so long', async () => {
    const { requestId, owner, invoke, pass, eve, bob } = await held(TERMS)
    await owner.post(`/v1/consent/requests/${requestId}/approve`)
    expect((await invoke()).body.status).toBe('pending')
    expect((await invoke()).body.status).toBe('awaiting_consent')
    const more = await invoke({ consent_terms: { valid_for: 3_600 } })
    await owner.post(`/v1/consent/requests/${more.body.consent_request_id}/approve`)
    expect((await invoke()).body.status).toBe('pending')
    expect((await eve.get('/v1/consent/active')).body).toHaveLength(2)
    pass(3_600_000)
    expect((await invoke()).body.status).toBe('awaiting_consent')
    const [standing] = (await bob.get('/v1/consent/active')).body
    expect((await eve.post(`/v1/consent/${standing.id}/revoke`)).status).toBe(404)
    expect((await bob.post(`/v1/consent/${standing.id}/revoke`)).body.status).toBe('revoked')
    expect((await bob.post(`/v1/consent/${standing.id}/revoke`)).status).toBe(409)
  })

  it('lets one call through where no terms were proposed', async () => {
    const { requestId, owner, invoke, pull } = await held()
    await owner.post(`/v1/consent/requests/${requestId}/approve`)
    expect((await pull()).body).toHaveLength(1)
    expect((await invoke()).body.status).toBe('awaiting_consent')
  })

  it('refuses the call when an approver says no', async () => {
    const { id, requestId, owner, eve } = await held()
    const waiting = eve.get(`/v1/invocations/${id}`)
    await waiting
    await owner.post(`/v1/consent/requests/${requestId}/deny`, { reason: 'not this week' })
    expect((await eve.get(`/v1/invocations/${id}`)).body).toMatchObject({
      status: 'rejected',
      error_code: 'chk.policy.consent_denied',
      error: 'an approver said no: not this week',
    })
    expect((await owner.post(`/v1/consent/requests/${requestId}/approve`)).status).toBe(409)
  })

  it('refuses the call when nobody decides in time', async () => {
    const { id, requestId, owner, eve, pass, relay } = await held()
    pass(3_600_000)
    expect((await owner.post(`/v1/consent/requests/${requestId}/approve`)).status).toBe(409)
    await sweepInvocations(relay)
    expect((await eve.get(`/v1/invocations/${id}`)).body).toMatchObject({
      status: 'rejected',
      error_code: 'chk.policy.consent_expired',
    })
  })

  it('is decided by an approver in a browser, and by no program and nobody else', async () => {
    const { requestId, bob, eve, person, session } = await held()
    const path = `/v1/consent/requests/${requestId}/approve`
    expect((await bob.post(path)).status).toBe(403)
    expect((await (await session(eve)).post(path)).status).toBe(403)
    expect((await (await session(await person('ann'))).post(path)).status).toBe(404)
  })

  it('does not hold what is not a call any more', async () => {
    const { id, requestId, bob, eve, grantId, owner } = await held()
    await bob.post(`/v1/grants/${grantId}/revoke`)
    expect((await eve.get(`/v1/invocations/${id}`)).body.status).toBe('rejected')
    expect((await owner.post(`/v1/consent/requests/${requestId}/approve`)).status).toBe(409)
  })
})

describe('M-45 an answer of a capability with a human in the loop', () => {
  async function drafted() {
    const all = await started({ semantics: 'human_in_loop' })
    const { body } = await all.invoke()
    await all.pull()
    const draft = await all.respond(body.invocation_id, { confirmed_by_human: true })
    return { ...all, id: body.invocation_id, draft: draft.body, owner: await all.session(all.bob) }
  }

  it('goes out when an approver has confirmed it, and not before', async () => {
    const { id, draft, eve, owner, url } = await drafted()
    expect(draft).toEqual({
      invocation_id: id,
      status: 'awaiting_confirmation',
      consent_request_id: expect.any(String),
      approve_url: `${url}/app/consent/${draft.consent_request_id}`,
      expires_at: '2026-12-03T12:00:00.000Z',
    })
    expect((await eve.get(`/v1/invocations/${id}`)).body).toMatchObject({ status: 'in_progress', output: null })
    const path = `/v1/consent/requests/${draft.consent_request_id}`
    expect((await owner.get(path)).body).toMatchObject({ draft_output: { free: true }, input: TODAY })
    expect((await eve.get(path)).body).not.toHaveProperty('draft_output')
    const waiting = eve.get(`/v1/invocations/${id}?wait_seconds=20`)
    await owner.post(`${path}/approve`)
    expect((await waiting).body).toMatchObject({ status: 'succeeded', output: { free: true } })
  })

  it('is not given out again while a person thinks, and is when that says no', async () => {
    const { id, draft, owner, pull, pass, respond, eve, bob, server } = await drafted()
    pass(86_000_000)
    expect((await pull()).body).toEqual([])
    await owner.post(`/v1/consent/requests/${draft.consent_request_id}/deny`, { reason: 'too blunt' })
    expect((await pull()).body).toMatchObject([{ id, attempts: 2 }])
    const notices = (await bob.get(`/v1/inbox/notices?agent_id=${server}`)).body
    expect(notices).toContainEqual(expect.objectContaining({ kind: 'consent_decided', reason: 'too blunt' }))
    const again = await respond(id, { output: { free: false } })
    await owner.post(`/v1/consent/requests/${again.body.consent_request_id}/approve`)
    expect((await eve.get(`/v1/invocations/${id}`)).body.output).toEqual({ free: false })
  })

  it('is replaced by a newer one, and fails when nobody confirms it in time', async () => {
    const { id, draft, owner, respond, eve, pass, relay } = await drafted()
    await respond(id, { output: { free: false } })
    const old = await owner.post(`/v1/consent/requests/${draft.consent_request_id}/approve`)
    expect([old.status, old.body.error.message]).toEqual([409, expect.stringContaining('cancelled')])
    pass(259_200_000)
    await sweepInvocations(relay)
    const read = await eve.get(`/v1/invocations/${id}`)
    expect(read.body).toMatchObject({ status: 'failed', error_code: 'chk.policy.consent_expired', output: null })
  })

  it('that is a failure needs nobody', async () => {
    const { id, eve, respond } = await drafted()
    expect((await respond(id, { status: 'failed', error: 'no' })).body.status).toBe('failed')
    expect((await eve.get(`/v1/invocations/${id}`)).body.status).toBe('failed')
  })
})

describe('notices', () => {
  it('tell of friendships and grants', async () => {
    const { bob, eve, server, caller, grantId } = await started()
    await bob.post(`/v1/grants/${grantId}/revoke`, { reason: 'enough' })
    const kinds = async (who: typeof bob, agent: string) =>
      (await who.get(`/v1/inbox/notices?agent_id=${agent}`)).body.map(({ kind }: { kind: string }) => kind)
    expect(await kinds(bob, server)).toEqual(['friendship_proposed'])
    expect(await kinds(eve, caller)).toEqual(['friendship_decided', 'grant_created', 'grant_revoked'])
  })
})
