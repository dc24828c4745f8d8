import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { pingTool, type Tool } from '../../src/mcp/tool.ts'
import vectors from '../vectors/mcp.json' with { type: 'json' }
import { serve, toolOf } from './serve.ts'

/** The tools of the published transcripts. */
const tools: readonly Tool[] = [
  toolOf(
    'service/text_generation',
    () => {
      throw new CtError('ERR_TOOL_FAILED', 'this service requires a string `input` (fixed schema — no free-form slot)')
    },
    { description: 'typed text_generation service — fixed {input:string} -> {output:string} shape' },
  ),
  toolOf('service/safety_check', () => ({ output: '' }), {
    description: 'typed safety_check service — fixed {input:string} -> {output:string} shape',
  }),
  pingTool,
]
const bidTool = toolOf('auction/bid', () => {
  throw new CtError('ERR_TOOL_FAILED', 'auction/bid requires an authenticated channel peer')
})

describe('serveMcp, against the published transcripts', () => {
  for (const { name, request, response } of vectors) {
    it(`answers as in "${name}"`, async () => {
      const served = serve({ tools: name.includes('auction') ? [...tools, bidTool] : tools })
      const answer = await served.ask(request)
      if (name.includes('parse error')) {
        const { id, error } = JSON.parse(answer)
        expect({ id, code: error.code }).toEqual({ id: null, code: -32700 })
        expect(error.message).toMatch(/^invalid JSON-RPC: ./)
      } else {
        expect(answer).toBe(response.replace('<version of the shared crate>', '1.2.3'))
      }
    })
  }
})
