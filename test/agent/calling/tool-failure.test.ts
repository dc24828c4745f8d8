import { describe, expect, it } from 'vitest'
import { toolFailure } from '../../../src/agent/calling/tool-failure.ts'

const TEXT = [{ type: 'image' }, { type: 'text', text: 'no\u001b such file' }]

describe('a result', () => {
  for (const [what, result, code] of [
    ['of a wrapped server', { content: TEXT, isError: true }, 'ERR_TOOL_FAILED'],
    ['with a code', { content: TEXT, isError: true, structuredContent: { code: 'ERR_TIMEOUT' } }, 'ERR_TIMEOUT'],
    [
      'with it in _meta',
      { content: TEXT, isError: true, _meta: { 'ct-agent/error': { code: 'ERR_PEER_BUSY' } } },
      'ERR_PEER_BUSY',
    ],
    [
      'with a code of this machine',
      { content: TEXT, isError: true, structuredContent: { code: 'ERR_USAGE' } },
      'ERR_TOOL_FAILED',
    ],
  ] as const) {
    it(`is a failure: ${what}`, () => {
      const failure = toolFailure(result)
      expect(failure?.code).toBe(code)
      expect(failure?.message).toMatch(/^the tool failed: no\P{C}* such file$/u)
    })
  }

  for (const result of [{ output: 'x' }, { content: [], isError: false }, { isError: 'true' }, 'x', null]) {
    it(`is none: ${JSON.stringify(result)}`, () => {
      expect(toolFailure(result)).toBeUndefined()
    })
  }

  it('may say nothing', () => {
    expect(toolFailure({ isError: true })?.message).toBe('the tool failed: it did not say why')
  })
})
