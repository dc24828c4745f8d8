import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EnvProblem } from '../../../src/core/env.ts'
import { readServiceConfig, readServices, slugOf } from '../../../src/mcp/services/index.ts'

function read(env: Readonly<Record<string, string | undefined>>) {
  const problems: EnvProblem[] = []
  const config = readServiceConfig(env, problems)
  return { config, problems: problems.map(({ message }) => message) }
}

const slugs: readonly { name: string; slug: string }[] = [
  { name: 'code_generation', slug: 'code_generation' },
  { name: 'security_review', slug: 'security_review' },
  { name: 'safety_check', slug: 'safety_check' },
  { name: 'text_generation', slug: 'text_generation' },
  { name: 'Static-Analysis v2', slug: 'static_analysis_v2' },
  { name: 'Übersetzung', slug: '_bersetzung' },
  { name: 'crab 🦀!', slug: 'crab___' },
  { name: 'a/b', slug: 'a_b' },
]

describe('slugOf', () => {
  for (const { name, slug } of slugs) {
    it(`makes ${slug} of ${name}`, () => {
      expect(slugOf(name)).toBe(slug)
    })
  }

  it('gives only lower-case ASCII letters, digits and _, and is its own slug', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        expect(slugOf(name)).toMatch(/^[a-z0-9_]+$/)
        expect(slugOf(slugOf(name))).toBe(slugOf(name))
      }),
    )
  })
})

describe('readServices', () => {
  it('keeps names as written and drops repetitions', () => {
    expect(readServices(['Static-Analysis', 'safety_check', 'safety_check'])).toEqual({
      services: [
        { name: 'Static-Analysis', slug: 'static_analysis' },
        { name: 'safety_check', slug: 'safety_check' },
      ],
      collisions: [],
    })
  })
})

describe('readServiceConfig', () => {
  const handler = { CT_AGENT_SERVICE_HANDLER_CMD: './run.sh --fast' }

  it('is absent without a handler command, blank or not set', () => {
    expect(read({})).toEqual({ config: undefined, problems: [] })
    expect(read({ CT_AGENT_SERVICE_HANDLER_CMD: ' ' })).toEqual({ config: undefined, problems: [] })
    expect(read({ CT_AGENT_SERVICES: '' })).toEqual({ config: undefined, problems: [] })
  })

  it('has the documented defaults', () => {
    expect(read({ ...handler, CT_AGENT_SERVICES: 'safety_check, My Own,' })).toEqual({
      config: {
        way: { mode: 'spawn', command: './run.sh --fast' },
        schemas: new Map(),
        limits: { memoryBytes: undefined, cpuSeconds: undefined, openFiles: undefined, noNetwork: false },
        services: [
          { name: 'safety_check', slug: 'safety_check' },
          { name: 'My Own', slug: 'my_own' },
        ],
        timeoutSeconds: 120,
        concurrency: 8,
        queue: 64,
        maxOutputBytes: 4_194_304,
        notices: [],
      },
      problems: [],
    })
  })

  it('refuses services that have no handler to run them (W5)', () => {
    expect(read({ CT_AGENT_SERVICES: 'safety_check' })).toEqual({
      config: undefined,
      problems: ['CT_AGENT_SERVICE_HANDLER_CMD required (a shell command to run the listed services)'],
    })
  })

  it('points out a handler that has no services, and tells unset from empty (W4)', () => {
    const unset = read(handler).config
    expect(unset).toMatchObject({ services: [] })
    expect(unset?.notices).toEqual([expect.stringContaining('CT_AGENT_SERVICES is not set')])
    const empty = read({ ...handler, CT_AGENT_SERVICES: ' , ' }).config
    expect(empty).toMatchObject({ services: [] })
    expect(empty?.notices).toEqual([expect.stringContaining('CT_AGENT_SERVICES is empty')])
  })

  it('refuses two names with one slug and tells both (W4)', () => {
    const { config, problems } = read({ ...handler, CT_AGENT_SERVICES: 'a-b,safety_check,A.B' })
    expect(config).toBeUndefined()
    expect(problems).toEqual([expect.stringMatching(/"a-b" and "A\.B" are both service\/a_b/)])
  })

  it('reports every malformed limit at once, with or without a handler (W5)', () => {
    const malformed = {
      CT_AGENT_SERVICE_TIMEOUT_SECS: '2m',
      CT_AGENT_SERVICE_CONCURRENCY: '0',
      CT_AGENT_SERVICE_QUEUE: '-1',
      CT_AGENT_SERVICE_MAX_OUTPUT_BYTES: '4MiB',
    }
    for (const env of [malformed, { ...malformed, ...handler }]) {
      const { config, problems } = read(env)
      expect(config).toBeUndefined()
      expect(problems).toHaveLength(4)
    }
  })

  const worker = { ...handler, CT_AGENT_SERVICE_HANDLER_MODE: 'worker', CT_AGENT_SERVICES: 'a' }
  const http = {
    CT_AGENT_SERVICE_HANDLER_MODE: 'http',
    CT_AGENT_SERVICE_HANDLER_URL: 'http://127.0.0.1:8080/run',
    CT_AGENT_SERVICES: 'a',
  }

  it('runs as many calls as the workers take', () => {
    const env = { ...worker, CT_AGENT_SERVICE_WORKERS: '3', CT_AGENT_SERVICE_WORKER_CALLS: '4' }
    expect(read(env).config).toMatchObject({ way: { mode: 'worker', workers: 3, workerCalls: 4 }, concurrency: 12 })
  })

  it('takes the schema of each service from its own variable', () => {
    const env = { ...handler, CT_AGENT_SERVICES: 'My Own,b', CT_AGENT_SERVICE_MY_OWN_SCHEMA: './own.json' }
    const variable = 'CT_AGENT_SERVICE_MY_OWN_SCHEMA'
    expect(read(env).config?.schemas).toEqual(new Map([['my_own', { variable, path: './own.json' }]]))
  })

  it('takes an address of this machine, and of another only when that is allowed', () => {
    expect(read(http).config?.way).toEqual({ mode: 'http', url: new URL('http://127.0.0.1:8080/run') })
    const elsewhere = { ...http, CT_AGENT_SERVICE_HANDLER_URL: 'https://example.org/' }
    expect(read(elsewhere).problems).toEqual([
      expect.stringMatching(/_URL invalid .*"example\.org" is not .*ELSEWHERE=1/),
    ])
    expect(read({ ...elsewhere, CT_AGENT_SERVICE_HANDLER_ELSEWHERE: '1' }).problems).toEqual([])
  })

  for (const url of ['http://localhost/', 'http://127.9.9.9/', 'http://[::1]:1/', 'http://0x7f000001/']) {
    it(`knows ${url} for this machine`, () => {
      expect(read({ ...http, CT_AGENT_SERVICE_HANDLER_URL: url }).problems).toEqual([])
    })
  }

  const refused: readonly (readonly [string, Readonly<Record<string, string | undefined>>, RegExp])[] = [
    [
      'an unknown mode',
      { ...worker, CT_AGENT_SERVICE_HANDLER_MODE: 'thread' },
      /^CT_AGENT_SERVICE_HANDLER_MODE invalid/,
    ],
    ['no address', { ...http, CT_AGENT_SERVICE_HANDLER_URL: undefined }, /^CT_AGENT_SERVICE_HANDLER_URL required/],
    [
      'an address that looks like loopback',
      { ...http, CT_AGENT_SERVICE_HANDLER_URL: 'http://127.0.0.1.example.org/' },
      /is not this machine/,
    ],
    [
      'an address with a password',
      { ...http, CT_AGENT_SERVICE_HANDLER_URL: 'http://a:b@127.0.0.1/' },
      /no user and no password/,
    ],
    ['an address of a file', { ...http, CT_AGENT_SERVICE_HANDLER_URL: 'file:///etc/passwd' }, /expected http:/],
    [
      'an address in mode worker',
      { ...worker, CT_AGENT_SERVICE_HANDLER_URL: 'http://127.0.0.1/' },
      /MODE is worker; it takes http/,
    ],
    ['a command in mode http', { ...http, ...handler }, /^CT_AGENT_SERVICE_HANDLER_CMD invalid .*runs no command/],
    ['a limit in mode http', { ...http, CT_AGENT_SERVICE_HANDLER_NO_NETWORK: '1' }, /NO_NETWORK invalid .*mode http/],
    [
      'a schema of no service',
      { ...worker, CT_AGENT_SERVICE_AA_SCHEMA: 'x' },
      /^CT_AGENT_SERVICE_AA_SCHEMA invalid .*SERVICE_A_SCHEMA/,
    ],
  ]
  for (const [name, env, problem] of refused) {
    it(`refuses ${name}`, () => {
      const { config, problems } = read(env)
      expect(config).toBeUndefined()
      expect(problems).toEqual([expect.stringMatching(problem)])
    })
  }
})
