import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { type HolderId, type InstanceId } from '../../src/core/ids.ts'
import { createCallLedger, type LedgerLink, RECORD_TTL_MS } from '../../src/mcp/serving/call-ledger.ts'
import { FakeClock } from './fake-clock.ts'

const PEER = 'cc'.repeat(32) as HolderId
const RUN = 'ab'.repeat(16) as InstanceId

/** A call that says it may have been sent before. */
function resend(link: LedgerLink, sequence: number, acknowledgedBelow = 1): string {
  const admission = link.admit({
    tag: { instance: RUN, sequence, acknowledgedBelow, resent: true },
    request: encodeUtf8(`request ${sequence}`),
    isIdempotent: () => false,
    refusal: undefined,
    answer: () => {},
    release: () => {},
  })
  return admission.kind === 'refuse' ? admission.error.code : admission.kind
}

describe('a run that says it has sent no call before', () => {
  it('has its first call executed although the link that carried it broke before it arrived (W16)', () => {
    const ledger = createCallLedger(new FakeClock())
    ledger.open(PEER, RUN).close(false)
    expect(resend(ledger.open(PEER), 1)).toBe('execute')
  })

  it('has no call executed twice', () => {
    const ledger = createCallLedger(new FakeClock())
    const first = ledger.open(PEER, RUN)
    expect(resend(first, 1)).toBe('execute')
    expect(resend(first, 1)).toBe('join')
  })

  it('is remembered across several links, also when it says so again', () => {
    const ledger = createCallLedger(new FakeClock())
    const first = ledger.open(PEER, RUN)
    expect(resend(first, 1)).toBe('execute')
    first.close(false)
    expect(resend(ledger.open(PEER, RUN), 1)).toBe('join')
  })

  it('is not known to a serving side that restarted', () => {
    createCallLedger(new FakeClock()).open(PEER, RUN).close(false)
    const restarted = createCallLedger(new FakeClock())
    expect(resend(restarted.open(PEER), 1)).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })

  it('is forgotten after its time, and then nothing is taken for new', () => {
    const clock = new FakeClock()
    const ledger = createCallLedger(clock)
    ledger.open(PEER, RUN).close(false)
    clock.advance(RECORD_TTL_MS)
    expect(resend(ledger.open(PEER), 1)).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })

  it('is forgotten at once when it says goodbye', () => {
    const ledger = createCallLedger(new FakeClock())
    ledger.open(PEER, RUN).close(true)
    expect(resend(ledger.open(PEER), 1)).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })
})
