import { describe, expect, it } from 'vitest'
import { type EnvProblem } from '../../../src/core/env.ts'
import { readUpstreamConfig } from '../../../src/mcp/upstream/config.ts'

function read(env: Record<string, string>) {
  const problems: EnvProblem[] = []
  return { config: readUpstreamConfig(env, problems), problems: problems.map(({ message }) => message) }
}

describe('the settings of a wrapped MCP server', () => {
  it('are none where there is neither a command nor an address', () => {
    expect(read({})).toEqual({ config: undefined, problems: [] })
  })

  it('are a command, with defaults', () => {
    expect(read({ CT_AGENT_MCP_SERVER_CMD: 'npx x' }).config).toEqual({
      where: { command: 'npx x' },
      mode: 'peer',
      most: 8,
      roots: false,
    })
  })

  it('are an address, and a token for it', () => {
    const env = {
      CT_AGENT_MCP_SERVER_URL: 'https://example.org/mcp',
      CT_AGENT_MCP_SERVER_TOKEN: 'abc',
      CT_AGENT_MCP_SERVER_MODE: 'Shared',
      CT_AGENT_MCP_SERVER_MAX: '2',
      CT_AGENT_MCP_SERVER_ROOTS: '1',
    }
    expect(read(env).config).toEqual({
      where: { url: 'https://example.org/mcp', token: 'abc' },
      mode: 'shared',
      most: 2,
      roots: true,
    })
  })

  for (const [name, value] of [
    ['CT_AGENT_MCP_SERVER_URL', 'example.org'],
    ['CT_AGENT_MCP_SERVER_URL', 'ftp://example.org'],
    ['CT_AGENT_MCP_SERVER_URL', 'https://user:secret-word@example.org'],
    ['CT_AGENT_MCP_SERVER_TOKEN', 'secret-word with blanks'],
    ['CT_AGENT_MCP_SERVER_MODE', 'each'],
    ['CT_AGENT_MCP_SERVER_MAX', '0'],
  ] as const) {
    it(`are refused: ${name}=${value.replace('secret-word', '…')}`, () => {
      const { config, problems } = read({ CT_AGENT_MCP_SERVER_CMD: 'x', [name]: value })
      expect(config).toBeUndefined()
      expect(problems).toHaveLength(1)
      expect(problems[0]).toContain(name)
      expect(problems[0]).not.toContain('secret-word')
    })
  }

  it('are not both', () => {
    const { problems } = read({ CT_AGENT_MCP_SERVER_CMD: 'x', CT_AGENT_MCP_SERVER_URL: 'http://localhost/mcp' })
    expect(problems).toEqual([
      'CT_AGENT_MCP_SERVER_URL invalid (an http or https URL): expected either it or CT_AGENT_MCP_SERVER_CMD, found both',
    ])
  })
})
