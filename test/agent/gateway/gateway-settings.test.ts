import { describe, expect, it } from 'vitest'
import { accessRules } from '../../../src/agent/gateway/gateway-access.ts'
import { GATEWAY_ENV, isLoopback } from '../../../src/agent/gateway/gateway-settings.ts'
import { type Env, type EnvProblem, readEnv } from '../../../src/core/env.ts'

const TOKEN = '0123456789abcdef'

function rulesOf(env: Env) {
  const problems: EnvProblem[] = []
  const rules = accessRules(readEnv(GATEWAY_ENV, env, problems), problems)
  return { rules, problems: problems.map(({ message }) => message) }
}

describe('the settings of the gateway', () => {
  it('listen on this machine, for all its programs and no page, unless they say otherwise', () => {
    const { rules, problems } = rulesOf({})
    expect(problems).toEqual([])
    expect(rules).toEqual({
      hosts: new Set(['127.0.0.1', 'localhost', '::1']),
      anyAddress: false,
      origins: new Set(),
      tokens: [],
    })
  })

  it('are taken as they are compared', () => {
    const { rules, problems } = rulesOf({
      CT_GATEWAY_ADDR: 'Agent.Example.org:80',
      CT_GATEWAY_TOKEN: ` ${TOKEN} `,
      CT_GATEWAY_ORIGINS: 'HTTPS://App.example.org, http://localhost:3000',
      CT_GATEWAY_HOSTS: 'MCP.example.org., 2001:db8::1',
    })
    expect(problems).toEqual([])
    expect([...rules.hosts].slice(3)).toEqual(['agent.example.org', 'mcp.example.org', '2001:db8::1'])
    expect([...rules.origins]).toEqual(['https://app.example.org', 'http://localhost:3000'])
    expect([rules.anyAddress, rules.tokens]).toEqual([true, [TOKEN]])
  })

  for (const [host, isLocal] of [
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['LocalHost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.0.2.7', false],
    ['127.example.org', false],
    ['localhost.example.org', false],
  ] as const) {
    it(`${isLocal ? 'need no' : 'need a'} token at ${host}`, () => {
      expect(isLoopback({ host })).toBe(isLocal)
      const address = host.includes(':') ? `[${host}]:1` : `${host}:1`
      const { problems } = rulesOf({ CT_GATEWAY_ADDR: address })
      expect(problems.map((problem) => problem.split(' (')[0])).toEqual(isLocal ? [] : ['CT_GATEWAY_TOKEN required'])
      expect(rulesOf({ CT_GATEWAY_ADDR: address, CT_GATEWAY_TOKEN: TOKEN }).problems).toEqual([])
    })
  }

  for (const [name, value] of [
    ['CT_GATEWAY_TOKEN', TOKEN.slice(1)],
    ['CT_GATEWAY_TOKEN', `${TOKEN} with blanks`],
    ['CT_GATEWAY_TOKEN', `${TOKEN}é`],
    ['CT_GATEWAY_ORIGINS', '*'],
    ['CT_GATEWAY_ORIGINS', 'https://*.example.org'],
    ['CT_GATEWAY_ORIGINS', 'app.example.org'],
    ['CT_GATEWAY_ORIGINS', 'https://app.example.org/'],
    ['CT_GATEWAY_ORIGINS', 'null'],
    ['CT_GATEWAY_HOSTS', 'mcp.example.org:80'],
    ['CT_GATEWAY_HOSTS', 'https://mcp.example.org'],
    ['CT_GATEWAY_ADDR', 'localhost'],
  ] as const) {
    it(`refuse ${name}=${value}, once`, () => {
      const { problems } = rulesOf({ CT_GATEWAY_ADDR: '0.0.0.0:1', CT_GATEWAY_TOKEN: TOKEN, [name]: value })
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(new RegExp(`^${name} invalid`))
    })
  }
})
