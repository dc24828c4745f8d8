import { describe, expect, it } from 'vitest'
import { CARD_ENV, cardOf, openCard, readCardConfig, sealCard } from '../../src/cards/index.ts'
import { type Env, type EnvProblem } from '../../src/core/env.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { holder, NOW } from './sample-card.ts'

const roles = { CT_AGENT_CARD_ROLES: 'coder' }
const id = 'Ab'.repeat(32)

function read(env: Env) {
  const problems: EnvProblem[] = []
  const config = readCardConfig(env, problems)
  return { config, problems: problems.map(({ message }) => message) }
}

describe('a card that nobody could read', () => {
  const tooMuch: readonly (readonly [string, string])[] = [
    ['CT_AGENT_CARD_ROLES', Array.from({ length: 4_097 }, (_, index) => `r${index}`).join()],
    ['CT_AGENT_CARD_ROLES', 'r'.repeat(65_537)],
    ['CT_AGENT_CARD_SKILLS', Array.from({ length: 4_097 }, (_, index) => `s${index}`).join(';')],
    ['CT_AGENT_CARD_SKILLS', `s|${'d'.repeat(65_537)}`],
    ['CT_AGENT_CARD_SKILLS', Array.from({ length: 20 }, (_, index) => `s${index}|${'d'.repeat(60_000)}`).join(';')],
    ['CT_AGENT_CARD_CHANNELS', Array.from({ length: 4_097 }, () => 'ab'.repeat(32)).join()],
    ['CT_AGENT_CARD_CELLS', Array.from({ length: 4_097 }, () => 'ab'.repeat(32)).join()],
  ]
  for (const [name, value] of tooMuch) {
    it(`is a problem of ${name} with ${value.length} characters`, () => {
      const problems: EnvProblem[] = []
      expect(readCardConfig({ CT_AGENT_CARD_ROLES: 'r', [name]: value }, problems)).toBeUndefined()
      expect(problems).toEqual([
        { name, message: expect.stringMatching(new RegExp(`^${name} invalid .*expected at most`)) },
      ])
    })
  }
})

describe('readCardConfig', () => {
  it('finds no card where nothing is set, or only blanks', () => {
    const blank = Object.fromEntries(Object.values(CARD_ENV).map(({ name }) => [name, ' ']))
    for (const env of [{}, blank, { CT_AGENT_OFFER_KIND: 'x' }]) {
      expect(read(env)).toEqual({ config: undefined, problems: [] })
    }
  })

  it('needs no more than roles', () => {
    expect(read(roles)).toEqual({
      config: {
        roleTags: ['coder'],
        skills: [],
        cells: [],
        channels: [],
        ttlSeconds: 86_400n,
        out: '.',
        url: undefined,
      },
      problems: [],
    })
  })

  it('trims what it lists and skips blank entries', () => {
    const { config, problems } = read({
      CT_AGENT_CARD_ROLES: ' coder ,, prüfer,',
      CT_AGENT_CARD_SKILLS: ' review | reads code | finds faults ;; fix; ping |; ',
      CT_AGENT_CARD_CHANNELS: `, ${id} ,`,
      CT_AGENT_CARD_CELLS: `${id},${id}`,
      CT_AGENT_CARD_TTL_SECS: ' 60 ',
      CT_AGENT_CARD_OUT: '/srv/www',
      CT_AGENT_CARD_URL: ' https://agent.example/.well-known/agent-card.json ',
    })
    expect(problems).toEqual([])
    expect(config).toEqual({
      roleTags: ['coder', 'prüfer'],
      skills: [
        { id: 'review', description: 'reads code | finds faults', examples: [] },
        { id: 'fix', description: '', examples: [] },
        { id: 'ping', description: '', examples: [] },
      ],
      channels: [id.toLowerCase()],
      cells: [id.toLowerCase(), id.toLowerCase()],
      ttlSeconds: 60n,
      out: '/srv/www',
      url: 'https://agent.example/.well-known/agent-card.json',
    })
  })

  for (const { name } of Object.values(CARD_ENV)) {
    if (name === CARD_ENV.roles.name) continue
    it(`asks for the roles when ${name} alone is set`, () => {
      const good = name.endsWith('URL') ? 'https://agent.example' : name.endsWith('SECS') ? '60' : id
      expect(read({ [name]: good })).toEqual({
        config: undefined,
        problems: ['CT_AGENT_CARD_ROLES required (comma-separated role tags)'],
      })
    })
  }

  const mistakes: readonly { name: string; env: Env; problem: string }[] = [
    {
      name: 'roles without a role',
      env: { CT_AGENT_CARD_ROLES: ' , ' },
      problem: 'CT_AGENT_CARD_ROLES invalid (comma-separated role tags): expected at least one entry, found " , "',
    },
    {
      name: 'a channel one digit short',
      env: { ...roles, CT_AGENT_CARD_CHANNELS: `${id},${id.slice(1)}` },
      problem: `CT_AGENT_CARD_CHANNELS entry not 64 hex: ${id.slice(1)}`,
    },
    {
      name: 'a cell that is no hex, without what moves a cursor',
      env: { ...roles, CT_AGENT_CARD_CELLS: 'north\u001b[2J' },
      problem: 'CT_AGENT_CARD_CELLS entry not 64 hex: north [2J',
    },
    {
      name: 'a skill without an id',
      env: { ...roles, CT_AGENT_CARD_SKILLS: 'fix; |reads code' },
      problem:
        'CT_AGENT_CARD_SKILLS invalid (id|description; id|description): expected an id before the description, found "|reads code"',
    },
    {
      name: 'a life in words',
      env: { ...roles, CT_AGENT_CARD_TTL_SECS: '1d' },
      problem: `CT_AGENT_CARD_TTL_SECS invalid: expected a whole number from 0 to ${U64_MAX}, found "1d"`,
    },
    {
      name: 'no life at all',
      env: { ...roles, CT_AGENT_CARD_TTL_SECS: '0' },
      problem: 'CT_AGENT_CARD_TTL_SECS invalid: expected at least 1, found 0',
    },
    {
      name: 'an address that is not https',
      env: { ...roles, CT_AGENT_CARD_URL: 'http://agent.example' },
      problem: 'CT_AGENT_CARD_URL invalid (an https:// address): found "http://agent.example"',
    },
  ]
  for (const { name, env, problem } of mistakes) {
    it(`refuses ${name}`, () => {
      expect(read(env)).toEqual({ config: undefined, problems: [problem] })
    })
  }

  it('reports every mistake at once, beside those of others', () => {
    const problems: EnvProblem[] = [{ name: 'OTHER', message: 'OTHER required (x)' }]
    const env = { CT_AGENT_CARD_TTL_SECS: '-1', CT_AGENT_CARD_CHANNELS: 'x,y' }
    expect(readCardConfig(env, problems)).toBeUndefined()
    expect(problems.map(({ name }) => name)).toEqual([
      'OTHER',
      'CT_AGENT_CARD_CHANNELS',
      'CT_AGENT_CARD_CHANNELS',
      'CT_AGENT_CARD_TTL_SECS',
      'CT_AGENT_CARD_ROLES',
    ])
  })

  it('reads a card beside the mistakes of others', () => {
    const problems: EnvProblem[] = [{ name: 'OTHER', message: 'OTHER required (x)' }]
    expect(readCardConfig(roles, problems)?.roleTags).toEqual(['coder'])
    expect(problems).toHaveLength(1)
  })
})

describe('cardOf', () => {
  it('makes a card that holds from now on for its life', () => {
    const { config } = read({ ...roles, CT_AGENT_CARD_TTL_SECS: '60' })
    if (config === undefined) throw new Error('no card')
    const card = cardOf(config, holder.id, NOW)
    expect(card).toEqual({
      holder: holder.id,
      roleTags: ['coder'],
      skills: [],
      cells: [],
      channels: [],
      issuedAt: NOW,
      expiresAt: NOW + 60n,
    })
    expect(openCard(sealCard(card, holder.secret), { now: u64(NOW + 59n) }).body).toEqual(card)
  })

  it('lets a life that is too long end with the last second there is', () => {
    const { config } = read({ ...roles, CT_AGENT_CARD_TTL_SECS: U64_MAX.toString() })
    if (config === undefined) throw new Error('no card')
    expect(cardOf(config, holder.id, NOW).expiresAt).toBe(U64_MAX)
  })
})
