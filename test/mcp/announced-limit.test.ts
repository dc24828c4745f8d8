import { describe, expect, it } from 'vitest'
import { type InstanceId } from '../../src/core/ids.ts'
import { Backoff } from '../../src/core/time.ts'
import { createResumableCaller } from '../../src/mcp/calling/resumable-caller.ts'
import { createCallLedger } from '../../src/mcp/serving/call-ledger.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { settle } from './port-pair.ts'
import { deferred, serve, toolOf } from './serve.ts'

const CALLS = 10

describe('createResumableCaller', () => {
  for (const { announced, expected } of [
    { announced: 3, expected: 3 },
    { announced: 100, expected: CALLS },
    { announced: 0, expected: 1 },
  ]) {
    it(`has ${expected} of ${CALLS} calls in flight towards a peer that announces ${announced}`, async () => {
      const clock = new FakeClock()
      const gate = deferred<undefined>()
      let running = 0
      const wait = toolOf('wait', async () => {
        running += 1
        await gate.promise
        return 'done'
      })
      const { pair } = serve({ tools: [wait], ledger: createCallLedger(clock), clock })
      pair.caller.peerInFlight = announced
      const caller = createResumableCaller({
        connect: () => Promise.resolve(pair.caller),
        instance: 'ab'.repeat(16) as InstanceId,
        backoff: new Backoff({ baseMs: 1, capMs: 1, stableMs: 1 }, () => 1),
        clock,
        log: silentLog,
      })
      const calls = Array.from({ length: CALLS }, () => caller.call('tools/call', { name: 'wait' }))
      await settle()
      expect(running).toBe(expected)
      gate.resolve(undefined)
      await Promise.all(calls)
      caller.close()
    })
  }
})
