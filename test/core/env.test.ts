import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALL_ENV_ROWS } from '../../src/agent/env-tables.ts'
import { CHANNEL_ENV } from '../../src/channel/config.ts'
import {
  type Env,
  type EnvProblem,
  type EnvRow,
  missing,
  parseChoice,
  parseInteger,
  parseList,
  parseListOf,
  parseSwitch,
  parseText,
  quote,
  readEnv,
  refuseProblems,
} from '../../src/core/env.ts'
import { CtError } from '../../src/core/errors.ts'
import { parseHolderId } from '../../src/core/ids.ts'

const KEY = 'ab'.repeat(32)

function read(env: Env) {
  const problems: EnvProblem[] = []
  const values = readEnv(CHANNEL_ENV, env, problems)
  return { values, problems }
}

describe('readEnv', () => {
  it('takes absent and blank variables as not set, and their defaults', () => {
    const { values, problems } = read({ CT_CHANNEL_HOLDER_KEY: ' ', CT_CHANNEL_IDLE_SECS: '' })
    expect(problems).toEqual([])
    expect(values).toMatchObject({ holderKey: undefined, idleSeconds: 300, serve: false, concurrency: 8 })
  })

  it('hands a blank variable to the parser where a blank means something', () => {
    const rows = { word: { name: 'W', about: 'a word', expects: 'text', parse: parseText, keepBlank: true } } as const
    expect(readEnv(rows, { W: ' ' }, [])).toEqual({ word: ' ' })
  })

  it('names the variable, what was expected and what was found, for all bad variables at once', () => {
    const { values, problems } = read({
      CT_CHANNEL_ADDR: 'nowhere',
      CT_CHANNEL_SERVE: 'maybe',
      CT_CHANNEL_SERVE_CONCURRENCY: '0',
      CT_CHANNEL_PEER_HOLDER: `${KEY},xyz`,
    })
    expect(values).toMatchObject({ address: undefined, serve: undefined, concurrency: undefined })
    expect(problems.map(({ message }) => message)).toEqual([
      'CT_CHANNEL_ADDR invalid (host:port): expected host:port, with an IPv6 address in brackets, found "nowhere"',
      'CT_CHANNEL_PEER_HOLDER invalid (64 hex): entry 2: expected 64 hex digits, found an odd number of hex digits (3)',
      'CT_CHANNEL_SERVE invalid (1|0): found "maybe"',
      'CT_CHANNEL_SERVE_CONCURRENCY invalid (a whole number): expected a whole number from 1 to 65536, found "0"',
    ])
    const all = expect.objectContaining({
      code: 'ERR_CONFIG_INVALID',
      detail: { variables: problems.map(({ name }) => name) },
    })
    expect(() => refuseProblems(problems)).toThrow(all)
  })

  it('tells a malformed key from a missing one (W5, W45)', () => {
    const malformed = read({ CT_CHANNEL_NOISE_KEY: 'ab' }).problems[0]?.message
    expect(malformed).toBe('CT_CHANNEL_NOISE_KEY invalid (64 hex chars): expected 64 hex digits, found 2')
    expect(read({}).problems).toEqual([])
    expect(missing(CHANNEL_ENV.noiseKey).message).toBe('CT_CHANNEL_NOISE_KEY required (64 hex chars)')
  })

  it('never throws on any environment; what is wrong becomes one ERR_CONFIG_INVALID', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('1', 'yes', '0', KEY, '127.0.0.1:1', ',', ' '))
    const envs = fc.dictionary(fc.constantFrom(...ALL_ENV_ROWS.map(({ name }) => name)), text)
    fc.assert(
      fc.property(envs, (env) => {
        const problems: EnvProblem[] = []
        readEnv(Object.fromEntries(ALL_ENV_ROWS.map((row) => [row.name, row])), env, problems)
        for (const { name, message } of problems) expect(message.startsWith(name)).toBe(true)
        let thrown: unknown
        try {
          refuseProblems(problems)
        } catch (error) {
          thrown = error
        }
        if (problems.length === 0) expect(thrown).toBeUndefined()
        else expect(thrown).toMatchObject({ name: 'CtError', code: 'ERR_CONFIG_INVALID' })
      }),
    )
  })
})

describe('secret variables', () => {
  const rows = ALL_ENV_ROWS.filter(({ secret }) => secret === true)
  const secrets = fc.oneof(
    fc.stringMatching(/^[0-9a-f]{60,70}$/),
    fc.string({ unit: 'binary', minLength: 12 }),
    fc.tuple(fc.stringMatching(/^[0-9a-f]{63}$/), fc.constantFrom('g', 'é', '🦀', ' ')).map((parts) => parts.join('')),
  )

  it('are the private keys at least', () => {
    expect(rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['CT_CHANNEL_NOISE_KEY', 'CT_CHANNEL_HOLDER_KEY']),
    )
  })

  for (const row of rows) {
    it(`never appear in a problem, not even in part: ${row.name}`, () => {
      fc.assert(fc.property(secrets, (secret) => expectHidden(row, secret)))
    })
  }

  it('never appear in a problem even when their parser repeats what it found', () => {
    const row: EnvRow<boolean> = { name: 'S', about: 'a switch', expects: '1|0', parse: parseSwitch, secret: true }
    fc.assert(fc.property(secrets, (secret) => expectHidden(row, secret)))
  })
})

/** No eight characters in a row of the secret are shown. */
function expectHidden(row: EnvRow<unknown>, secret: string): void {
  const problems: EnvProblem[] = []
  readEnv({ row }, { [row.name]: secret }, problems)
  const shown = problems.map(({ message }) => message).join('\n')
  for (let start = 0; start + 8 <= secret.length; start += 1)
    expect(shown).not.toContain(secret.slice(start, start + 8))
}

describe('parseSwitch', () => {
  for (const text of ['1', 'true', 'yes', 'on', 'YES', ' On ']) {
    it(`reads ${JSON.stringify(text)} as on (W45)`, () => expect(parseSwitch(text)).toEqual({ value: true }))
  }
  for (const text of ['0', 'false', 'no', 'off', 'No', ' OFF\n']) {
    it(`reads ${JSON.stringify(text)} as off (W45)`, () => expect(parseSwitch(text)).toEqual({ value: false }))
  }
  for (const text of ['', '2', 'y', 'enabled', '01', 'truе']) {
    it(`refuses ${JSON.stringify(text)} (W45)`, () => expect(parseSwitch(text)).toHaveProperty('problem'))
  }

  it('is the one reading of every switch of the program (W45)', () => {
    const switches = ALL_ENV_ROWS.filter(({ parse }) => 'value' in parse('yes') && 'value' in parse('off'))
    const typed = switches.filter(({ parse }) => JSON.stringify(parse('yes')) === '{"value":true}')
    expect(typed.length).toBeGreaterThan(1)
    for (const row of typed) expect(row.parse).toBe(parseSwitch)
  })
})

describe('parseInteger', () => {
  const parse = parseInteger(1, 100)
  for (const [text, value] of [
    ['1', 1],
    ['100', 100],
    [' 7 ', 7],
    ['007', 7],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(parse(text)).toEqual({ value }))
  }
  for (const text of ['', '0', '101', '-1', '+1', '1.0', '1e1', '0x10', '1_0', '١', '9'.repeat(400), 'NaN']) {
    it(`refuses ${JSON.stringify(text.slice(0, 9))}`, () => expect(parse(text)).toHaveProperty('problem'))
  }
})

describe('parseList', () => {
  it('trims entries and skips empty ones', () => {
    expect(parseList(' a, b ,,c ')).toEqual({ value: ['a', 'b', 'c'] })
    expect(parseListOf(parseHolderId)(`${KEY} , ${KEY.toUpperCase()}`)).toEqual({ value: [KEY, KEY] })
  })
})

describe('parseChoice', () => {
  const parse = parseChoice({ accept: 'accept', listen: 'accept' })
  it('reads words in any case', () => expect(parse(' LISTEN ')).toEqual({ value: 'accept' }))
  for (const text of ['', '__proto__', 'constructor', 'toString', 'dial']) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parse(text)).toHaveProperty('problem'))
  }
})

describe('quote', () => {
  it('escapes what could disturb a terminal, cuts what is long, and stays well-formed', () => {
    expect(quote('a\u001b[31m\n\u009b\u202e\u2028')).toBe('"a\\u001b[31m\\n\\u009b\\u202e\\u2028"')
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const quoted = quote(text)
        expect(quoted.length).toBeLessThanOrEqual(6 * 61 + 2)
        expect(JSON.parse(quoted)).toBe(text.length > 60 ? `${text.slice(0, 60)}…` : text)
        expect(quoted).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }),
    )
  })
})

describe('refuseProblems', () => {
  it('does nothing without problems', () => expect(refuseProblems([])).toBeUndefined())
  it('throws one CtError', () => {
    expect(() => refuseProblems([{ name: 'A', message: 'A bad' }])).toThrow(CtError)
  })
})
