import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { readRpcError, toolError } from '../../src/mcp/wire/rpc-error.ts'

const MISFIT = { detail: { reason: 'arguments-misfit' } }

describe('what a tool reports to a peer that did not say hello', () => {
  for (const { name, error, sent, read } of [
    {
      name: 'a failure as the original does',
      error: new CtError('ERR_TOOL_FAILED', 'no'),
      sent: { code: -32_000, message: 'no' },
      read: 'ERR_TOOL_FAILED',
    },
    {
      name: 'a call that the original refuses too as the original does',
      error: new CtError('ERR_CALL_INVALID', 'no'),
      sent: { code: -32_000, message: 'no' },
      read: 'ERR_TOOL_FAILED',
    },
    {
      name: 'a call that does not fit a schema by its own code',
      error: new CtError('ERR_CALL_INVALID', 'no', MISFIT),
      sent: {
        code: -32_000,
        message: 'no',
        data: { code: 'ERR_CALL_INVALID', retryable: false, reason: 'arguments-misfit' },
      },
      read: 'ERR_CALL_INVALID',
    },
  ]) {
    it(`is ${name}`, () => {
      const rpc = toolError(error)
      expect(rpc).toEqual(sent)
      expect(readRpcError(rpc).code).toBe(read)
    })
  }
})
