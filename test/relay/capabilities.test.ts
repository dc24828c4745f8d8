import { describe, expect, it } from 'vitest'
import { misfitOf } from '../../src/relay/network/capability-schema.ts'
import { startRelay } from './harness.ts'

const NAME = { name: 'check_availability' }

async function bobAndEve() {
  const { person } = await startRelay()
  const [bob, eve] = [await person('bob'), await person('eve')]
  return { bob, eve, agentId: await bob.agent('venue-bot') }
}

describe('a capability', () => {
  it('is published, listed, changed and withdrawn', async () => {
    const { bob, eve, agentId } = await bobAndEve()
    const path = `/v1/agents/${agentId}/capabilities`
    const input_schema = { type: 'object', properties: { date: { type: 'string' } }, required: ['date'] }
    const made = await bob.post(path, { ...NAME, input_schema })
    expect([made.status, made.body]).toEqual([
      201,
      expect.objectContaining({ input_schema, visibility: 'network', semantics: 'autonomous', consent: null }),
    ])
    expect((await eve.get('/v1/agents/bob%2Fvenue-bot/capabilities')).body).toEqual([made.body])
    const changed = await bob.patch(`${path}/${made.body.id}`, { description: 'Free or not', visibility: 'private' })
    expect(changed.body).toMatchObject({ description: 'Free or not', visibility: 'private', input_schema })
    expect((await eve.get(path)).body).toEqual([])
    expect((await eve.delete(`${path}/${made.body.id}`)).status).toBe(404)
    expect((await bob.delete(`${path}/${made.body.id}`)).status).toBe(204)
    expect((await bob.get(path)).body).toEqual([])
    expect((await bob.post(path, NAME)).status).toBe(201)
  })

  it.each([
    [{ name: 'a b' }, 'name: expected letters, digits, underscores and dots'],
    [{ name: '' }, 'name: '],
    [{ ...NAME, input_schema: { type: 'nonsense' } }, 'input_schema: at /type: expected'],
    [{ ...NAME, input_schema: 7 }, 'input_schema: expected a schema'],
    [{ ...NAME, output_schema: { $ref: 'https://example.org/schema' } }, 'output_schema: at /$ref: expected a place'],
    [{ ...NAME, input_schema: { description: 'x'.repeat(70_000) } }, 'input_schema: expected a schema of at most'],
    [{ ...NAME, public_invoke: true }, 'public_monthly_quota_per_agent: expected at least 1'],
    [{ ...NAME, public_monthly_quota_per_agent: 5 }, 'expected public_invoke with it'],
    [
      { ...NAME, visibility: 'private', public_invoke: true, public_monthly_quota_per_agent: 5 },
      'public_invoke: expected',
    ],
    [{ ...NAME, consent: { required: true, approvers: ['eve@example.org'] } }, 'consent.approvers: expected'],
    [{ ...NAME, consent: { required: true, wait: 'soon' } }, 'consent.wait: expected seconds'],
    [{ name: 'message_owner', semantics: 'autonomous' }, 'semantics: expected human_in_loop'],
  ])('such as %j is refused', async (given, message) => {
    const { bob, agentId } = await bobAndEve()
    const { status, body } = await bob.post(`/v1/agents/${agentId}/capabilities`, given)
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
    expect(body.error.message).toContain(message)
  })

  it('is known once by its name, and never to more than its agent', async () => {
    const { bob, agentId } = await bobAndEve()
    const path = `/v1/agents/${agentId}/capabilities`
    const given = { ...NAME, public_invoke: true, public_monthly_quota_per_agent: 5 }
    expect((await bob.post(path, given)).body).toMatchObject({ public_invoke: true, public_monthly_quota_per_agent: 5 })
    expect((await bob.post(path, NAME)).status).toBe(409)
    await bob.patch(`/v1/agents/${agentId}`, { visibility: 'org' })
    const [narrowed] = (await bob.get(path)).body
    expect(narrowed).toMatchObject({ visibility: 'org', public_invoke: false, public_monthly_quota_per_agent: null })
    expect((await bob.patch(`${path}/${narrowed.id}`, { visibility: 'network' })).status).toBe(400)
  })

  it('M-46 takes the consent that its owner asks for, with people by their ids', async () => {
    const { bob, agentId } = await bobAndEve()
    const publish = (name: string, consent: unknown) =>
      bob.post(`/v1/agents/${agentId}/capabilities`, { name, consent })
    const plain = await publish('plain', { required: true })
    expect(plain.body.consent).toEqual({ required: true, approvers: ['admins'], max_validity: 2_592_000, wait: 86_400 })
    const given = { required: true, approvers: ['Bob@example.org', 'owners'], max_validity: '7d', wait: 90 }
    const { body } = await publish('named', given)
    expect(body.consent).toEqual({ required: true, approvers: [bob.userId, 'owners'], max_validity: 604_800, wait: 90 })
  })

  it('that tells its owner something has the form that all have', async () => {
    const { bob, agentId } = await bobAndEve()
    const { body } = await bob.post(`/v1/agents/${agentId}/capabilities`, { name: 'message_owner' })
    expect(body).toMatchObject({ semantics: 'human_in_loop', input_schema: { required: ['message'] } })
  })
})

describe('a schema of a stranger', () => {
  it.each([
    ['fits', { type: 'object' }, {}, undefined],
    ['does not fit', { properties: { a: { type: 'string' } } }, { a: 1 }, 'at /a expected a string, found 1'],
    [
      'is of an older dialect',
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array' },
      {},
      'expected an array',
    ],
    ['has a pattern without end', { pattern: '^(a+)+$' }, `${'a'.repeat(40)}b`, 'within 250 ms'],
    ['asks twice at each level', TWICE(), nested(60), 'within 250 ms'],
  ])('%s, which is said within bounded time', (_, schema, value, said) => {
    const misfit = misfitOf(JSON.stringify(schema), value)
    if (said === undefined) expect(misfit).toBeUndefined()
    else expect(misfit).toContain(said)
  })
})

function TWICE() {
  const item = { items: { $ref: '#/$defs/a' } }
  return { $defs: { a: { anyOf: [{ ...item, minItems: 1 }, item] } }, $ref: '#/$defs/a', not: {} }
}

function nested(depth: number): unknown {
  return depth === 0 ? ['x', 1].slice(0, 0).concat(['y']) : [nested(depth - 1)]
}
