import { describe, expect, it } from 'vitest'
import { HOSTS, hostConfig, programAgain } from '../../../src/agent/hosting/host-config.ts'

const PROGRAM = ['npx', '-y', 'ct-agent'] as const
const NAMED = { program: PROGRAM, name: 'bob', peers: ['bob'], env: {} }
const TICKET = { program: PROGRAM, name: 'peer-1', peers: [], env: { CT_TICKET: 'ct1abc' } }

describe('the entry of a host', () => {
  for (const host of HOSTS) {
    it(`starts the program for the named peers in ${host}`, () => {
      const { text, where } = hostConfig(host, NAMED)
      expect(text.replaceAll(/["',\n\]]/g, ' ').replaceAll(/ +/g, ' ')).toContain('-y ct-agent mcp bob')
      expect(where).not.toBe('')
    })

    it(`keeps a ticket off the command line in ${host}`, () => {
      const { text } = hostConfig(host, TICKET)
      expect(text).toMatch(/CT_TICKET("?: ?| = )"ct1abc/)
      expect(text).not.toMatch(/mcp['", ]+ct1/)
    })
  }

  it('names the program that prints it, and npx where npx runs it', () => {
    expect(programAgain('/usr/bin/node', '/opt/ct-agent/dist/ct-agent.js')).toEqual([
      '/usr/bin/node',
      '/opt/ct-agent/dist/ct-agent.js',
    ])
    expect(programAgain('/usr/bin/node', '/home/a/.npm/_npx/1f/node_modules/.bin/ct-agent')).toEqual(PROGRAM)
  })

  it('is the block that the host reads', () => {
    expect(JSON.parse(hostConfig('claude-desktop', TICKET).text)).toEqual({
      mcpServers: { 'peer-1': { command: 'npx', args: ['-y', 'ct-agent', 'mcp'], env: { CT_TICKET: 'ct1abc' } } },
    })
    expect(JSON.parse(hostConfig('vscode', NAMED).text)).toEqual({
      servers: { bob: { type: 'stdio', command: 'npx', args: ['-y', 'ct-agent', 'mcp', 'bob'] } },
    })
    expect(JSON.parse(hostConfig('zed', NAMED).text)).toEqual({
      context_servers: { bob: { source: 'custom', command: 'npx', args: ['-y', 'ct-agent', 'mcp', 'bob'] } },
    })
    expect(hostConfig('codex', TICKET).text).toBe(
      '[mcp_servers.peer-1]\ncommand = "npx"\nargs = ["-y", "ct-agent", "mcp"]\nenv = { CT_TICKET = "ct1abc" }',
    )
    expect(hostConfig('claude-code', TICKET).text).toBe(
      `claude mcp add-json peer-1 '{"type":"stdio","command":"npx","args":["-y","ct-agent","mcp"],"env":{"CT_TICKET":"ct1abc"}}'`,
    )
  })
})
