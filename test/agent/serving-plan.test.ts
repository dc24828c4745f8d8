import { describe, expect, it } from 'vitest'
import { planServing, refuseEmptyPlan, type ServingPlan, signs } from '../../src/agent/serving/serving-plan.ts'
import { type Env, type EnvProblem } from '../../src/core/env.ts'
import { isCtError } from '../../src/core/errors.ts'

const CARD: Env = { CT_AGENT_CARD_ROLES: 'coder' }
const OFFER: Env = {
  CT_AGENT_OFFER_KIND: 'local',
  CT_AGENT_OFFER_MODELS: 'm1',
  CT_AGENT_OFFER_UNITS: '10',
  CT_AGENT_OFFER_MIN_PRICE: '1',
  CT_AGENT_OFFER_CURRENCY: 'c',
}
const HANDLER: Env = { CT_AGENT_SERVICE_HANDLER_CMD: 'cat' }
const REFUSED_STATIC =
  'ct-agent channel: REFUSING 1 service tool(s) not in the signed offer\'s declared catalog (#167): [Custom("static_analysis")]'

function plan(...envs: readonly Env[]): { plan: ServingPlan; problems: readonly EnvProblem[] } {
  const problems: EnvProblem[] = []
  return { plan: planServing(Object.assign({}, ...envs), problems), problems }
}

/** The plan of settings without a mistake. */
function good(...envs: readonly Env[]): ServingPlan {
  const { plan: made, problems } = plan(...envs)
  expect(problems).toEqual([])
  return made
}

function served({ services }: ServingPlan): readonly string[] | undefined {
  return services?.services.map(({ name }) => name)
}

/** The message with which it refuses to serve, if it does. */
function emptiness(made: ServingPlan): string | undefined {
  try {
    refuseEmptyPlan(made)
    return undefined
  } catch (error) {
    if (!isCtError(error, 'ERR_CONFIG_INVALID')) throw error
    return error.message
  }
}

describe('planServing', () => {
  it('has nothing signed where nothing is set, and a skew all the same', () => {
    const made = good({ CT_AGENT_CARD_ROLES: ' ', CT_AGENT_OFFER_UNITS: '' })
    expect(made).toEqual({
      services: undefined,
      card: undefined,
      offer: undefined,
      skewSeconds: 60,
      refusal: undefined,
      notices: [],
    })
    expect(signs(made)).toBe(false)
  })

  it('signs when it has a card or an offer', () => {
    expect(signs(good(CARD))).toBe(true)
    expect(signs(good(OFFER))).toBe(true)
    expect(signs(good(HANDLER, { CT_AGENT_SERVICES: 'a' }))).toBe(false)
  })

  it('has no ceiling without an offer', () => {
    const made = good(HANDLER, { CT_AGENT_SERVICES: 'safety_check,anything' })
    expect(served(made)).toEqual(['safety_check', 'anything'])
    expect(made.refusal).toBeUndefined()
    expect(emptiness(made)).toBeUndefined()
  })

  it('serves what is requested as far as the offer declares it, and says what is refused', () => {
    const made = good(HANDLER, OFFER, {
      CT_AGENT_OFFER_SERVICES: 'safety_check,code_generation',
      CT_AGENT_SERVICES: 'static_analysis,safety_check',
    })
    expect(served(made)).toEqual(['safety_check'])
    expect(made.refusal).toBe(REFUSED_STATIC)
    expect(emptiness(made)).toBeUndefined()
    expect(made.notices).toEqual(['the offer declares services that are not served: "code_generation"'])
  })

  it('serves what the offer declares where nothing is requested', () => {
    const made = good(HANDLER, OFFER, { CT_AGENT_OFFER_SERVICES: 'safety_check,Static-Analysis' })
    expect(served(made)).toEqual(['safety_check', 'Static-Analysis'])
    expect([made.refusal, made.notices]).toEqual([undefined, []])
  })

  it('serves nothing where the request is empty, and says so', () => {
    const made = good(HANDLER, OFFER, { CT_AGENT_OFFER_SERVICES: 'safety_check', CT_AGENT_SERVICES: '' })
    expect(served(made)).toEqual([])
    expect(emptiness(made)).toBeUndefined()
    expect(made.notices).toEqual([
      'CT_AGENT_SERVICE_HANDLER_CMD is set but CT_AGENT_SERVICES is empty: it adds no service tools',
      'the offer declares services that are not served: "safety_check"',
    ])
  })

  it('says that what the offer declares is not served where no handler could', () => {
    const made = good(OFFER, { CT_AGENT_OFFER_SERVICES: 'safety_check,a' })
    expect(served(made)).toBeUndefined()
    expect(made.notices).toEqual(['the offer declares services that are not served: "safety_check", "a"'])
    expect(emptiness(made)).toBeUndefined()
  })

  it('has nothing to refuse where an offer without services meets a handler without services', () => {
    const made = good(HANDLER, OFFER)
    expect(made.refusal).toBeUndefined()
    expect(emptiness(made)).toBeUndefined()
    expect(made.notices).toEqual([
      'CT_AGENT_SERVICE_HANDLER_CMD is set but CT_AGENT_SERVICES is not set: it adds no service tools',
    ])
  })
})

describe('refuseEmptyPlan', () => {
  it('refuses to serve when the offer declares no service and some were requested', () => {
    const made = good(HANDLER, OFFER, CARD, { CT_AGENT_SERVICES: 'static_analysis' })
    expect(made.refusal).toBe(REFUSED_STATIC)
    expect(emptiness(made)).toMatch(/declares no service \(CT_AGENT_OFFER_SERVICES is not set\)/)
  })

  it('refuses to serve when the offer declares only others, and names them', () => {
    const made = good(HANDLER, OFFER, {
      CT_AGENT_OFFER_SERVICES: 'Static-Analysis,safety_check',
      CT_AGENT_SERVICES: 'static_analysis',
    })
    expect(made.refusal).toBe(REFUSED_STATIC)
    expect(emptiness(made)).toContain('declares "Static-Analysis", "safety_check"')
  })
})

describe('names of services that are one tool', () => {
  const collisions: readonly (readonly [string, string, Env])[] = [
    ['in the offer', 'CT_AGENT_OFFER_SERVICES', { CT_AGENT_OFFER_SERVICES: 'Static-Analysis,static_analysis' }],
    [
      'in the offer, of a fixed kind',
      'CT_AGENT_OFFER_SERVICES',
      { CT_AGENT_OFFER_SERVICES: 'safety_check,Safety-Check' },
    ],
    [
      'in the request',
      'CT_AGENT_SERVICES',
      { CT_AGENT_OFFER_SERVICES: 'static_analysis', CT_AGENT_SERVICES: 'Static-Analysis,static_analysis' },
    ],
  ]
  for (const [name, variable, env] of collisions) {
    it(`are a problem ${name}, said once and of the variable that has them`, () => {
      const { problems } = plan(HANDLER, OFFER, env)
      expect(problems.map(({ name: found }) => found)).toEqual([variable])
      expect(problems[0]?.message).toMatch(/are both service\/\w+; rename one$/)
    })
  }
})

describe('a mistake in the variables of a card or an offer', () => {
  const HALF: Env = { CT_AGENT_OFFER_UNITS: '10' }
  const mistakes: readonly (readonly [string, Env, readonly string[]])[] = [
    ['a card with a bad life', { ...CARD, CT_AGENT_CARD_TTL_SECS: '1d' }, ['CT_AGENT_CARD_TTL_SECS']],
    ['a card with a bad cell', { ...CARD, CT_AGENT_CARD_CELLS: 'ab' }, ['CT_AGENT_CARD_CELLS']],
    ['a card without roles', { CT_AGENT_CARD_SKILLS: 'a|b' }, ['CT_AGENT_CARD_ROLES']],
    ['an offer with a bad kind', { ...OFFER, CT_AGENT_OFFER_KIND: 'gpu' }, ['CT_AGENT_OFFER_KIND']],
    ['an offer without units', { ...OFFER, CT_AGENT_OFFER_UNITS: '0' }, ['CT_AGENT_OFFER_UNITS']],
    ['an offer with a bad limit', { ...OFFER, CT_AGENT_OFFER_MAX_BIDS: '-1' }, ['CT_AGENT_OFFER_MAX_BIDS']],
    [
      'half an offer',
      HALF,
      ['CT_AGENT_OFFER_KIND', 'CT_AGENT_OFFER_MODELS', 'CT_AGENT_OFFER_MIN_PRICE', 'CT_AGENT_OFFER_CURRENCY'],
    ],
    ['a bad skew', { CT_CLOCK_SKEW_SECS: 'long' }, ['CT_CLOCK_SKEW_SECS']],
    [
      'everything at once',
      { CT_AGENT_CARD_TTL_SECS: 'x', ...OFFER, CT_AGENT_OFFER_KIND: 'gpu', CT_AGENT_SERVICES: 'a' },
      ['CT_AGENT_CARD_TTL_SECS', 'CT_AGENT_CARD_ROLES', 'CT_AGENT_OFFER_KIND', 'CT_AGENT_SERVICE_HANDLER_CMD'],
    ],
  ]
  for (const [name, env, variables] of mistakes) {
    it(`is a problem that names the variable, and never passes for nothing: ${name}`, () => {
      const { problems } = plan(env)
      expect(problems.map(({ name: found }) => found)).toEqual(variables)
    })
  }
})
