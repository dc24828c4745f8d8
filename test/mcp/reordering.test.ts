import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { type HolderId, type InstanceId } from '../../src/core/ids.ts'
import { createCallLedger, type LedgerLink } from '../../src/mcp/serving/call-ledger.ts'
import { FakeClock } from './fake-clock.ts'

const PEER = 'cc'.repeat(32) as HolderId
const RUN = 'ab'.repeat(16) as InstanceId
const UNKNOWN = 'ERR_CALL_OUTCOME_UNKNOWN'

/** A call on its way. */
interface Sent {
  readonly sequence: number
  readonly resent: boolean
}

/** A serving side whose calls end at once; the answer is lost or not. */
function admit(link: LedgerLink, { sequence, resent }: Sent): string {
  const admission = link.admit({
    tag: { instance: RUN, sequence, acknowledgedBelow: 1, resent },
    request: encodeUtf8(`request ${sequence}`),
    isIdempotent: () => false,
    answer: () => {},
    release: () => {},
  })
  if (admission.kind === 'execute') admission.execution.finish('done')
  return admission.kind === 'refuse' ? admission.error.code : admission.kind
}

function fresh(sequence: number): Sent {
  return { sequence, resent: false }
}

function resent(sequence: number): Sent {
  return { sequence, resent: true }
}

describe('createCallLedger, when calls arrive in another order than they were sent', () => {
  it('executes a smaller number that arrives later, once', () => {
    const link = createCallLedger(new FakeClock()).open(PEER)
    expect(admit(link, fresh(6))).toBe('execute')
    expect(admit(link, fresh(5))).toBe('execute')
    expect(admit(link, resent(5))).toBe('replay')
  })

  it('executes a re-sent call that it has never seen, although it has seen higher numbers of the same fresh run', () => {
    const ledger = createCallLedger(new FakeClock())
    const link = ledger.open(PEER, RUN)
    expect(admit(link, fresh(6))).toBe('execute')
    link.close(false)
    const next = ledger.open(PEER)
    expect(admit(next, resent(5))).toBe('execute')
    expect(admit(next, resent(6))).toBe('replay')
  })

  it('executes none after a restart that may have run before it', () => {
    const before = createCallLedger(new FakeClock()).open(PEER, RUN)
    expect(admit(before, fresh(2))).toBe('execute')
    const after = createCallLedger(new FakeClock()).open(PEER)
    expect(admit(after, fresh(3))).toBe('execute')
    for (const sequence of [2, 1]) expect(admit(after, resent(sequence))).toBe(UNKNOWN)
    expect(admit(after, resent(3))).toBe('replay')
  })

  // A caller that keeps the rules, a network that delivers any part of what it has in any order, a server that restarts.
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('send' as const) },
    { weight: 4, arbitrary: fc.record({ deliver: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.constant('break' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
  )

  it('executes no call twice, and each one when the serving side never restarts', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.boolean(), (steps, mayRestart) => {
        const runs = new Map<number, number>()
        const settled = new Set<number>()
        let ledger = createCallLedger(new FakeClock())
        let link = ledger.open(PEER, RUN)
        let onTheWay: Sent[] = []
        let last = 0
        const deliver = (sent: Sent): void => {
          const became = admit(link, sent)
          if (became === 'execute') runs.set(sent.sequence, (runs.get(sent.sequence) ?? 0) + 1)
          if (!mayRestart) expect(['execute', 'replay']).toContain(became)
          if (became === UNKNOWN) settled.add(sent.sequence)
        }
        const reconnect = (): void => {
          link.close(false)
          link = last === 0 ? ledger.open(PEER, RUN) : ledger.open(PEER)
          const unsettled = Array.from({ length: last }, (_, index) => index + 1).filter((n) => !settled.has(n))
          onTheWay = unsettled.map(resent)
        }
        for (const next of steps) {
          if (next === 'send') {
            last += 1
            onTheWay.push(fresh(last))
          } else if (next === 'break') {
            reconnect()
          } else if (next === 'restart') {
            if (mayRestart) ledger = createCallLedger(new FakeClock())
            reconnect()
          } else {
            for (const sent of onTheWay.splice(next.deliver % (onTheWay.length + 1), 1)) deliver(sent)
          }
        }
        reconnect()
        for (const sent of onTheWay.toReversed()) deliver(sent)
        for (let sequence = 1; sequence <= last; sequence += 1) {
          expect(runs.get(sequence) ?? 0).toBeLessThanOrEqual(1)
          if (!settled.has(sequence)) expect(runs.get(sequence)).toBe(1)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
