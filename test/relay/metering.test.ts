import { describe, expect, it } from 'vitest'
import { type Caller } from '../../src/relay/identity/caller.ts'
import { type Relay } from '../../src/relay/index.ts'
import { admitInvocation } from '../../src/relay/metering/admission.ts'
import { type Asked } from '../../src/relay/operation.ts'
import { type RelaySettings } from '../../src/relay/settings.ts'
import { startRelay } from './harness.ts'

const NOON = Date.UTC(2026, 10, 30, 12)

async function started(settings: Partial<RelaySettings>) {
  let now = NOON
  const { relay, person } = await startRelay({ settings, now: () => now })
  const bob = await person('bob')
  return { relay, bob, pass: (ms: number) => (now += ms), admit: () => admit(relay, bob.accountId) }
}

async function admit(relay: Relay, accountId: string) {
  const asked: Asked = {
    surface: 'mcp',
    signal: new AbortController().signal,
    headers: new Headers(),
    meta: new Map(),
    idempotencyKey: undefined,
  }
  const refusal = await relay.database.transaction((sql) => admitInvocation(relay, sql, accountId, 'invocation', asked))
  return { refusal, ...asked }
}

describe('an account', () => {
  it('may invoke as often as it likes where nothing is limited', async () => {
    const { admit: once } = await started({})
    for (let times = 0; times < 100; times += 1) {
      const { refusal, headers } = await once()
      expect([refusal, [...headers]]).toEqual([undefined, []])
    }
  })

  it('M-59 is told in how many seconds it may invoke again', async () => {
    const { admit: once, pass } = await started({ limitsEnforced: true, ratePerMinute: 2 })
    expect((await once()).headers.get('ratelimit-remaining')).toBe('1')
    pass(20_000)
    expect((await once()).headers.get('ratelimit-reset')).toBe('40')
    pass(17_000)
    const { refusal } = await once()
    expect(refusal).toMatchObject({
      code: 'account_rate_limited',
      message: 'rate limit exceeded; retry in 23 s',
      detail: { retry_after_secs: 23 },
      headers: { 'retry-after': '23', 'ratelimit-limit': '2', 'ratelimit-remaining': '0', 'ratelimit-reset': '23' },
    })
    pass(23_000)
    expect((await once()).refusal).toBeUndefined()
  })

  it('M-59 is told when the next free grant arrives, and what was refused costs nothing', async () => {
    const {
      admit: once,
      bob,
      relay,
      pass,
    } = await started({
      creditsEnabled: true,
      costPerInvocation: 100,
      monthlyFreeGrant: 250,
    })
    expect([(await once()).refusal, (await once()).refusal]).toEqual([undefined, undefined])
    expect((await once()).refusal).toMatchObject({
      code: 'account_credits_exhausted',
      message: expect.stringContaining('insufficient credits; the free grant arrives on 2026-12-01, or '),
      detail: { next_grant_at: '2026-12-01', credits_url: `${relay.settings.publicUrl}/app` },
    })
    const { body } = await bob.get('/v1/orgs/bob/credits')
    expect(body).toMatchObject({ balance_mc: 50, low: true, next_grant_at: '2026-12-01' })
    expect(
      body.ledger.map(({ delta_mc, balance_after_mc }: Record<string, number>) => [delta_mc, balance_after_mc]),
    ).toEqual([
      [-100, 50],
      [-100, 150],
      [250, 250],
    ])
    pass(24 * 3_600_000)
    expect((await once()).refusal).toBeUndefined()
    expect((await bob.get('/v1/orgs/bob/credits')).body.balance_mc).toBe(200)
  })

  it('M-60 is told when its credits run low', async () => {
    const { admit: once } = await started({ creditsEnabled: true, costPerInvocation: 100, monthlyFreeGrant: 10_200 })
    expect([...(await once()).meta]).toEqual([])
    expect([...(await once()).meta]).toEqual([])
    expect([...(await once()).meta]).toEqual([['chakramcp/credits', 'low']])
  })

  it('is counted once for each of many invocations at the same time', async () => {
    const { admit: once } = await started({ limitsEnforced: true, ratePerMinute: 5 })
    const outcomes = await Promise.all(Array.from({ length: 12 }, once))
    expect(outcomes.filter(({ refusal }) => refusal === undefined)).toHaveLength(5)
  })

  it('has no say in what it may spend, nor does an administrator by a key', async () => {
    const { bob } = await started({ creditsEnabled: true })
    const path = `/v1/admin/accounts/${bob.accountId}/credits`
    const answers = [await bob.get(path), await bob.patch(path, {}), await bob.post(`${path}/ledger`, { delta_mc: 1 })]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
    expect((await bob.get('/v1/orgs/eve/credits')).status).toBe(404)
  })
})

describe('an administrator', () => {
  it('gives credits, takes some away and changes limits', async () => {
    const { relay, bob } = await started({ creditsEnabled: true, monthlyFreeGrant: 1_000 })
    const { perform } = await import('../../src/relay/perform.ts')
    const { OPERATIONS } = await import('../../src/relay/operations.ts')
    const admin = { isAdmin: true, userId: bob.userId, kind: 'session', credentialId: bob.userId } as Caller
    const ask = (name: string, input: object) => {
      const operation = OPERATIONS.find((one) => one.name === name)
      if (operation === undefined) throw new Error(`expected ${name}`)
      const asked = {
        surface: 'rest',
        signal: AbortSignal.timeout(5_000),
        headers: new Headers(),
        meta: new Map(),
      } as const
      return perform(
        operation,
        relay,
        admin,
        { account_id: bob.accountId, ...input },
        { ...asked, idempotencyKey: undefined },
      )
    }
    expect(await ask('enter_credits', { delta_mc: 500 })).toMatchObject({ balance_mc: 1_500 })
    expect(await ask('enter_credits', { delta_mc: -200, reason: 'adjustment' })).toMatchObject({ balance_mc: 1_300 })
    const changes = { unlimited: true, rate_limit_per_min: 7, monthly_free_grant_mc: 5 }
    expect(await ask('change_account_credits', changes)).toMatchObject({
      unlimited: true,
      rate_limit_per_min: 7,
      monthly_free_grant_mc: 5,
    })
    expect((await admit(relay, bob.accountId)).refusal).toBeUndefined()
    expect(await ask('get_account_credits', {})).toMatchObject({ balance_mc: 1_300 })
  })
})
