import { describe, expect, it } from 'vitest'
import { type Env, type EnvProblem } from '../../src/core/env.ts'
import { U64_MAX } from '../../src/core/u64.ts'
import { OFFER_ENV, type OfferConfig, readBidConfig, readOfferConfig } from '../../src/offers/config.ts'

const whole: Env = {
  CT_AGENT_OFFER_KIND: 'cloud',
  CT_AGENT_OFFER_MODELS: 'claude-opus-4-8, local-llama',
  CT_AGENT_OFFER_UNITS: '1000',
  CT_AGENT_OFFER_MIN_PRICE: '100',
  CT_AGENT_OFFER_CURRENCY: 'ct-llm-token-chain',
}
const REQUIRED = Object.keys(whole)
const NAMES = Object.values(OFFER_ENV).map(({ name }) => name)

function read(env: Env): { readonly config: OfferConfig | undefined; readonly problems: readonly EnvProblem[] } {
  const problems: EnvProblem[] = []
  return { config: readOfferConfig(env, problems), problems }
}

function many(count: number, prefix = 'm'): string {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`).join()
}

/** Names of the variables that are at fault. */
function faults(env: Env): readonly string[] {
  const { config, problems } = read(env)
  expect(config === undefined).toBe(problems.length > 0)
  for (const { name, message } of problems) expect(message.startsWith(`${name} `)).toBe(true)
  return problems.map(({ name }) => name)
}

describe('readOfferConfig', () => {
  it('reads no offer from an environment without one', () => {
    expect(read({})).toEqual({ config: undefined, problems: [] })
    expect(read(Object.fromEntries(NAMES.map((name) => [name, ' \t'])))).toEqual({ config: undefined, problems: [] })
    expect(read({ CT_AGENT_CARD_ROLES: 'a', CT_AGENT_OFFER: 'x' })).toEqual({ config: undefined, problems: [] })
  })

  it('reads an offer, with the defaults of what may be left out', () => {
    expect(read(whole)).toEqual({
      problems: [],
      config: {
        terms: {
          kind: 'CloudApiQuota',
          models: ['claude-opus-4-8', 'local-llama'],
          units: 1_000n,
          minPrice: 100n,
          currency: 'ct-llm-token-chain',
          services: [],
        },
        serviceNames: [],
        ttlSeconds: 86_400n,
        maxBids: 60,
        windowSeconds: 60n,
      },
    })
  })

  const tooMuch: readonly (readonly [string, string, string])[] = [
    ['CT_AGENT_OFFER_MODELS', 'more models than readers take', many(4_097)],
    ['CT_AGENT_OFFER_MODELS', 'a model that is too long', 'm'.repeat(65_537)],
    ['CT_AGENT_OFFER_MODELS', 'models that are too long together', many(20, 'm'.repeat(60_000))],
    ['CT_AGENT_OFFER_MODELS', 'half a surrogate pair', '\ud800'],
    ['CT_AGENT_OFFER_SERVICES', 'more services than readers take', many(4_097)],
    ['CT_AGENT_OFFER_SERVICES', 'a service that is too long', 's'.repeat(65_537)],
    ['CT_AGENT_OFFER_CURRENCY', 'a currency that is too long', 'c'.repeat(65_537)],
  ]
  for (const [name, what, value] of tooMuch) {
    it(`finds fault with ${what}: nobody could read the offer`, () => {
      expect(faults({ ...whole, [name]: value })).toEqual([name])
    })
  }

  it('reads as many models as readers take', () => {
    expect(read({ ...whole, CT_AGENT_OFFER_MODELS: many(4_096) }).config?.terms.models).toHaveLength(4_096)
  })

  it('reads everything that can be set', () => {
    const { config, problems } = read({
      CT_AGENT_OFFER_KIND: ' local ',
      CT_AGENT_OFFER_MODELS: ' m1 ,,m2, m1',
      CT_AGENT_OFFER_UNITS: ` ${U64_MAX} `,
      CT_AGENT_OFFER_MIN_PRICE: '0',
      CT_AGENT_OFFER_CURRENCY: ' € ',
      CT_AGENT_OFFER_TTL_SECS: '1',
      CT_AGENT_OFFER_MAX_BIDS: '0',
      CT_AGENT_OFFER_WINDOW_SECS: '0',
      CT_AGENT_OFFER_SERVICES: 'safety_check, static_analysis,SafetyCheck,safety_check,,static_analysis',
    })
    expect(problems).toEqual([])
    expect(config).toEqual({
      terms: {
        kind: 'LocalHardware',
        models: ['m1', 'm2'],
        units: U64_MAX,
        minPrice: 0n,
        currency: '€',
        services: ['SafetyCheck', { Custom: 'static_analysis' }, { Custom: 'SafetyCheck' }],
      },
      serviceNames: ['safety_check', 'static_analysis', 'SafetyCheck'],
      ttlSeconds: 1n,
      maxBids: 0,
      windowSeconds: 0n,
    })
  })

  const kinds = {
    cloud: 'CloudApiQuota',
    'cloud-api': 'CloudApiQuota',
    CloudApiQuota: 'CloudApiQuota',
    local: 'LocalHardware',
    'local-hardware': 'LocalHardware',
    LocalHardware: 'LocalHardware',
  }
  for (const [word, kind] of Object.entries(kinds)) {
    it(`takes ${word} for ${kind}`, () => {
      expect(read({ ...whole, CT_AGENT_OFFER_KIND: word }).config?.terms.kind).toBe(kind)
    })
  }

  for (const name of REQUIRED) {
    it(`names ${name} when it alone is missing or blank`, () => {
      const { [name]: _, ...others } = whole
      expect(faults(others)).toEqual([name])
      expect(faults({ ...whole, [name]: ' ' })).toEqual([name])
    })
  }

  for (const name of NAMES) {
    it(`names every required variable that is missing when only ${name} is set`, () => {
      const value = whole[name] ?? '7'
      expect(faults({ [name]: value })).toEqual(REQUIRED.filter((required) => required !== name))
    })
  }

  const bad: Readonly<Record<string, readonly string[]>> = {
    CT_AGENT_OFFER_KIND: ['Cloud', 'CLOUD', 'cloudapiquota', 'cloud,local', 'gpu', 'toString', '__proto__'],
    CT_AGENT_OFFER_MODELS: [',', ' , ,'],
    CT_AGENT_OFFER_UNITS: ['0', '-1', '1.5', '1e3', '0x10', '1 000', 'many', '18446744073709551616', '٣'],
    CT_AGENT_OFFER_MIN_PRICE: ['-1', '1.5', '1e3', 'free', '18446744073709551616'],
    CT_AGENT_OFFER_TTL_SECS: ['0', '-1', '1d', '86400.0', '18446744073709551616'],
    CT_AGENT_OFFER_MAX_BIDS: ['-1', '1.5', 'all', '4294967296'],
    CT_AGENT_OFFER_WINDOW_SECS: ['-1', '60s', '18446744073709551616'],
  }
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      it(`refuses ${name}=${value}`, () => {
        expect(faults({ ...whole, [name]: value })).toEqual([name])
      })
    }
  }

  const largest = {
    CT_AGENT_OFFER_UNITS: `${U64_MAX}`,
    CT_AGENT_OFFER_MIN_PRICE: `${U64_MAX}`,
    CT_AGENT_OFFER_TTL_SECS: `${U64_MAX}`,
    CT_AGENT_OFFER_MAX_BIDS: '4294967295',
    CT_AGENT_OFFER_WINDOW_SECS: `${U64_MAX}`,
  }
  for (const [name, value] of Object.entries(largest)) {
    it(`takes ${name}=${value}`, () => {
      expect(faults({ ...whole, [name]: value })).toEqual([])
    })
  }

  it('names everything that is wrong at once', () => {
    expect(
      faults({
        CT_AGENT_OFFER_KIND: 'gpu',
        CT_AGENT_OFFER_MODELS: ',',
        CT_AGENT_OFFER_TTL_SECS: '1d',
        CT_AGENT_OFFER_MAX_BIDS: '-1',
        CT_AGENT_OFFER_MIN_PRICE: '5',
      }).toSorted(),
    ).toEqual([
      'CT_AGENT_OFFER_CURRENCY',
      'CT_AGENT_OFFER_KIND',
      'CT_AGENT_OFFER_MAX_BIDS',
      'CT_AGENT_OFFER_MODELS',
      'CT_AGENT_OFFER_TTL_SECS',
      'CT_AGENT_OFFER_UNITS',
    ])
  })

  it('does not refuse an offer for problems that stand elsewhere', () => {
    const problems: EnvProblem[] = [{ name: 'CT_CHANNEL_ADDR', message: 'CT_CHANNEL_ADDR required (host:port)' }]
    expect(readOfferConfig(whole, problems)?.terms.units).toBe(1_000n)
    expect(problems).toHaveLength(1)
  })

  it('quotes what it found on one line', () => {
    const { problems } = read({ ...whole, CT_AGENT_OFFER_KIND: 'a\nb\u2028\u202e', CT_AGENT_OFFER_UNITS: '1\n\u2028x' })
    expect(problems).toHaveLength(2)
    for (const { message } of problems) expect(message).not.toMatch(/[\n\u2028\u202e]/)
  })
})

describe('readBidConfig', () => {
  const bid: Env = { CT_BID_KIND: 'cloud', CT_BID_MODEL: 'm1', CT_BID_UNITS: '1', CT_BID_PRICE: '1' }
  const problemsOf = (env: Env): readonly string[] => {
    const problems: EnvProblem[] = []
    expect(readBidConfig(env, problems) === undefined).toBe(problems.length > 0)
    return problems.map(({ name }) => name)
  }

  it('finds fault with texts that no seller would read', () => {
    expect(problemsOf(bid)).toEqual([])
    expect(problemsOf({ ...bid, CT_BID_MODEL: 'm'.repeat(16_384) })).toEqual(['CT_BID_MODEL'])
    expect(problemsOf({ ...bid, CT_BID_SERVICE: 's'.repeat(65_537) })).toEqual(['CT_BID_SERVICE'])
  })
})
