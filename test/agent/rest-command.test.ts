import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findCommand, parseCommandLine } from '../../src/agent/command-line.ts'
import { COMMANDS } from '../../src/agent/commands.ts'

function parse(...argv: readonly string[]) {
  const command = findCommand(argv, COMMANDS)
  if (command === undefined) throw new Error('expected a command')
  return parseCommandLine(command, argv)
}

describe('what follows -- on the line of ct-agent serve', () => {
  it('is the command of the MCP server, flags of its own included', () => {
    const { overlay, operands, switches } = parse(
      'serve',
      '--json',
      '--',
      'npx',
      '-y',
      'some-server',
      '--json',
      '/a b',
      "it's",
    )
    expect(overlay).toEqual({ CT_AGENT_MCP_SERVER_CMD: `exec npx -y some-server --json '/a b' 'it'\\''s'` })
    expect(operands).toEqual([])
    expect([...switches]).toEqual(['json'])
  })

  it('stands above the flag', () => {
    expect(parse('serve', '--mcp-server', 'one', '--', 'other').overlay).toEqual({
      CT_AGENT_MCP_SERVER_CMD: 'exec other',
    })
  })

  it('must not be nothing', () => {
    for (const rest of [[], [''], [' ']]) {
      expect(() => parse('serve', '--', ...rest)).toThrow('expected a command after --, found none')
    }
  })

  it('is operands of every other command', () => {
    expect(parse('join', '--', 'ct1').operands).toEqual(['ct1'])
  })

  it('reaches the program word for word', () => {
    const word = fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed() && !text.includes('\0'))
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const command = parse(
          'serve',
          '--',
          process.execPath,
          '-p',
          'JSON.stringify(process.argv.slice(1))',
          '--',
          ...words,
        ).overlay['CT_AGENT_MCP_SERVER_CMD']
        const { stdout } = spawnSync('/bin/sh', ['-c', command ?? ''], { encoding: 'utf8' })
        expect(JSON.parse(stdout)).toEqual(words)
      }),
      { numRuns: 10 },
    )
  })
})
