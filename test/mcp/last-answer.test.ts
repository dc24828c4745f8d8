import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'
import { type InstanceId } from '../../src/core/ids.ts'
import { Backoff } from '../../src/core/time.ts'
import { createResumableCaller } from '../../src/mcp/calling/resumable-caller.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { settle } from './port-pair.ts'
import { serve, toolOf } from './serve.ts'

const REMOVED = new CtError('ERR_MEMBER_REMOVED', 'the operator removed it')

describe('a call that is answered in the moment in which the link ends for good', () => {
  it('has its answer, and another in flight with it does not', async () => {
    const clock = new FakeClock()
    const { pair } = serve({ tools: [toolOf('hang', () => new Promise(() => {}))], clock })
    const caller = createResumableCaller({
      connect: () => Promise.resolve(pair.caller),
      instance: 'ab'.repeat(16) as InstanceId,
      backoff: new Backoff({ baseMs: 1, capMs: 1, stableMs: 1 }, () => 1),
      clock,
      log: silentLog,
    })
    const calls = [1, 2].map(() => caller.call('tools/call', { name: 'hang' }))
    const outcomes = Promise.allSettled(calls)
    await settle()
    const error = { code: -32000, message: REMOVED.message, data: { code: REMOVED.code, retryable: false } }
    pair.caller.deliver(encodeUtf8(JSON.stringify({ jsonrpc: '2.0', id: 1, error })))
    pair.caller.end({ reason: REMOVED, final: true })
    expect(await outcomes).toMatchObject([
      { status: 'fulfilled', value: { error: { code: 'ERR_MEMBER_REMOVED' } } },
      { status: 'rejected', reason: { code: 'ERR_CALL_OUTCOME_UNKNOWN' } },
    ])
    expect((await caller.stopped).code).toBe('ERR_MEMBER_REMOVED')
  })
})
