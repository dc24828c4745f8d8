import { describe, expect, it } from 'vitest'
import { type OwnTool } from '../../../src/agent/library/api.ts'
import { toolOf } from '../../../src/agent/library/own-tool.ts'

const TOOL: OwnTool = { name: 'echo', description: 'echoes', call: (args) => args }

describe('a tool of a program', () => {
  it('takes any object unless it says what it takes', () => {
    expect(toolOf(TOOL).inputSchema).toEqual({ type: 'object', properties: {} })
  })

  const bad: readonly { name: string; tool: object; problem: RegExp }[] = [
    { name: 'no name', tool: { name: '' }, problem: /name of a tool/ },
    { name: 'a name with a space', tool: { name: 'a b' }, problem: /name of a tool/ },
    { name: 'a name that is too long', tool: { name: 'a'.repeat(129) }, problem: /up to 128/ },
    { name: 'nothing to call', tool: { call: 'no' }, problem: /function `call`/ },
    { name: 'a schema of no object', tool: { inputSchema: { type: 'array' } }, problem: /schema of echo/ },
    { name: 'properties that are none', tool: { inputSchema: { type: 'object', properties: [] } }, problem: /schema/ },
  ]
  for (const { name, tool, problem } of bad) {
    it(`is refused with ${name}`, () => {
      expect(() => toolOf({ ...TOOL, ...tool })).toThrow(
        expect.objectContaining({ code: 'ERR_USAGE', message: expect.stringMatching(problem) }),
      )
    })
  }

  it('is not run with what is no object', async () => {
    const context = { peer: '', callId: '', signal: new AbortController().signal, progress: () => {} }
    await expect(toolOf(TOOL).call([], context as never)).rejects.toMatchObject({ code: 'ERR_CALL_INVALID' })
  })
})
