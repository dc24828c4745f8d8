import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { CtError } from '../../src/core/errors.ts'
import { type HolderId, type InstanceId } from '../../src/core/ids.ts'
import { type CallTag } from '../../src/core/link.ts'
import {
  type Admission,
  createCallLedger,
  type LedgerLink,
  MAX_UNACKNOWLEDGED_CALLS,
  RECORD_TTL_MS,
  RESUME_GRACE_MS,
} from '../../src/mcp/serving/call-ledger.ts'
import { MAX_KEPT_BYTES_PER_PEER, MAX_RECORDS_PER_PEER } from '../../src/mcp/serving/ledger-store.ts'
import { FakeClock } from './fake-clock.ts'

const PEER = 'cc'.repeat(32) as HolderId
const RUN = 'ab'.repeat(16) as InstanceId

function setUp() {
  const clock = new FakeClock()
  const ledger = createCallLedger(clock)
  return { clock, ledger, link: ledger.open(PEER) }
}

interface Tried {
  readonly admission: Admission
  readonly answers: string[]
  readonly stops: string[]
  readonly released: () => number
  readonly finish: (text: string) => void
  readonly cancel: () => void
}

function attempt(
  link: LedgerLink,
  sequence: number,
  more: Partial<CallTag> & { request?: string; idempotent?: boolean; refusal?: CtError } = {},
): Tried {
  const { request = `request ${sequence}`, idempotent = false, refusal, ...tag } = more
  const answers: string[] = []
  const stops: string[] = []
  let released = 0
  const admission = link.admit({
    tag: { instance: RUN, sequence, acknowledgedBelow: 1, resent: false, ...tag },
    request: encodeUtf8(request),
    isIdempotent: () => idempotent,
    refusal,
    answer: (text) => answers.push(text),
    release: () => {
      released += 1
    },
  })
  if (admission.kind === 'execute') {
    admission.execution.onStop(({ code }) => {
      stops.push(code)
      return `stopped ${code}`
    })
  }
  const execution = 'execution' in admission ? admission.execution : undefined
  return {
    admission,
    answers,
    stops,
    released: () => released,
    finish: (text) => execution?.finish(text),
    cancel: () => execution?.cancel(),
  }
}

function outcome({ admission }: Tried): string {
  if (admission.kind === 'replay') return `replay ${admission.text}`
  return admission.kind === 'refuse' ? admission.error.code : admission.kind
}

const UNKNOWN = 'ERR_CALL_OUTCOME_UNKNOWN'

describe('createCallLedger', () => {
  it('executes a call once and replays its answer, on any link of its peer', () => {
    const { ledger, link } = setUp()
    const first = attempt(link, 1)
    expect(outcome(first)).toBe('execute')
    first.finish('one')
    expect(first.answers).toEqual(['one'])
    link.close(false)
    const next = ledger.open(PEER)
    expect(outcome(attempt(next, 1, { resent: true }))).toBe('replay one')
    expect(outcome(attempt(next, 1))).toBe('replay one')
  })

  it('answers the newest link that asked', () => {
    const { ledger, link } = setUp()
    const first = attempt(link, 1)
    const newer = attempt(ledger.open(PEER), 1, { resent: true })
    expect(outcome(newer)).toBe('join')
    expect(first.released()).toBe(1)
    first.finish('one')
    expect([first.answers, newer.answers]).toEqual([[], ['one']])
  })

  it('lets no late copy on an older link take the answer away', () => {
    const { ledger, link } = setUp()
    const older = ledger.open(PEER)
    const newer = ledger.open(PEER)
    attempt(link, 1).finish('first')
    const running = attempt(newer, 2, { resent: true })
    expect(outcome(attempt(older, 2))).toBe('ignore')
    running.finish('two')
    expect(running.answers).toEqual(['two'])
  })

  it('keeps peers and runs apart', () => {
    const { ledger, link } = setUp()
    attempt(link, 1).finish('mine')
    expect(outcome(attempt(ledger.open('dd'.repeat(32) as HolderId), 1))).toBe('execute')
    expect(outcome(attempt(link, 1, { instance: 'ef'.repeat(16) as InstanceId }))).toBe('execute')
  })

  it('refuses a number that was used for a different request', () => {
    const { link } = setUp()
    attempt(link, 1).finish('one')
    expect(outcome(attempt(link, 1, { request: 'other' }))).toBe('ERR_CALL_INVALID')
  })

  it('forgets what is acknowledged and never executes it again', () => {
    const { link } = setUp()
    attempt(link, 1).finish('one')
    attempt(link, 2, { acknowledgedBelow: 2 }).finish('two')
    for (const resent of [true, false]) expect(outcome(attempt(link, 1, { resent }))).toBe(UNKNOWN)
    expect(outcome(attempt(link, 2, { resent: true }))).toBe('replay two')
  })

  it('stops a call that runs when its number is acknowledged', () => {
    const { link } = setUp()
    const running = attempt(link, 1)
    attempt(link, 5, { acknowledgedBelow: 5 })
    expect([running.stops, running.released()]).toEqual([['ERR_CALL_INTERRUPTED'], 1])
  })

  it('does not work longer for a mark far away', () => {
    const { link } = setUp()
    attempt(link, 1).finish('one')
    const far = Number.MAX_SAFE_INTEGER
    expect(outcome(attempt(link, far, { acknowledgedBelow: far }))).toBe('execute')
  })

  it('refuses a re-sent call it has no record of, unless executing it again is harmless', () => {
    const { ledger, link } = setUp()
    expect(outcome(attempt(link, 3, { resent: true }))).toBe(UNKNOWN)
    expect(outcome(attempt(link, 4, { resent: true, idempotent: true }))).toBe('execute')
    expect(outcome(attempt(ledger.open(PEER), 3))).toBe(UNKNOWN)
  })

  it('executes a re-sent call that got lost on its way to this record', () => {
    const { ledger, link } = setUp()
    attempt(link, 7)
    link.close(false)
    const next = ledger.open(PEER)
    expect(outcome(attempt(next, 8, { resent: true }))).toBe('execute')
    expect(outcome(attempt(next, 6, { resent: true }))).toBe(UNKNOWN)
  })

  it('lets calls go on for the grace time after a break, and no longer', () => {
    const { clock, ledger, link } = setUp()
    const kept = attempt(link, 1)
    const lost = attempt(link, 2)
    link.close(false)
    clock.advance(RESUME_GRACE_MS - 1)
    const next = ledger.open(PEER)
    const joined = attempt(next, 1, { resent: true })
    clock.advance(1)
    expect([kept.stops, lost.stops]).toEqual([[], ['ERR_CALL_INTERRUPTED']])
    kept.finish('one')
    lost.finish('ignored')
    expect(joined.answers).toEqual(['one'])
    expect(outcome(attempt(next, 2, { resent: true }))).toBe('replay stopped ERR_CALL_INTERRUPTED')
  })

  it('keeps the answer of a call that ends while no link is up', () => {
    const { ledger, link } = setUp()
    const running = attempt(link, 1)
    link.close(false)
    running.finish('one')
    expect(running.answers).toEqual([])
    expect(outcome(attempt(ledger.open(PEER), 1, { resent: true }))).toBe('replay one')
  })

  it('stops at once and forgets when the caller says goodbye', () => {
    const { clock, ledger, link } = setUp()
    const running = attempt(link, 1)
    link.close(true)
    expect(running.stops).toEqual(['ERR_CALL_INTERRUPTED'])
    expect(clock.timers).toBe(0)
    expect(outcome(attempt(ledger.open(PEER), 1, { resent: true }))).toBe(UNKNOWN)
  })

  it('remembers a cancelled call without answering it', () => {
    const { link } = setUp()
    const running = attempt(link, 1)
    running.cancel()
    running.finish('ignored')
    expect([running.answers, running.stops, running.released()]).toEqual([[], ['ERR_CALL_CANCELLED'], 1])
    expect(outcome(attempt(link, 1, { resent: true }))).toBe('replay stopped ERR_CALL_CANCELLED')
  })

  it('forgets a run some time after its last link, and then refuses rather than executes again', () => {
    const { clock, ledger, link } = setUp()
    attempt(link, 1).finish('one')
    link.close(false)
    clock.advance(RECORD_TTL_MS - 1)
    const next = ledger.open(PEER)
    expect(outcome(attempt(next, 1, { resent: true }))).toBe('replay one')
    next.close(false)
    clock.advance(RECORD_TTL_MS)
    expect(clock.timers).toBe(0)
    expect(outcome(attempt(ledger.open(PEER), 1, { resent: true }))).toBe(UNKNOWN)
  })

  it('bounds the calls of a run that are not acknowledged', () => {
    const { link } = setUp()
    for (let sequence = 1; sequence <= MAX_UNACKNOWLEDGED_CALLS; sequence += 1) attempt(link, sequence).finish('x')
    const next = MAX_UNACKNOWLEDGED_CALLS + 1
    expect(outcome(attempt(link, next))).toBe('ERR_PEER_BUSY')
    expect(outcome(attempt(link, next, { acknowledgedBelow: 2 }))).toBe('execute')
  })

  it('drops the oldest answers above the bound and never executes their calls again', () => {
    const { link } = setUp()
    const third = 'x'.repeat(MAX_KEPT_BYTES_PER_PEER / 6)
    for (let sequence = 1; sequence <= 4; sequence += 1) attempt(link, sequence).finish(third)
    expect(outcome(attempt(link, 1, { resent: true }))).toBe(UNKNOWN)
    expect(outcome(attempt(link, 1, { resent: true, idempotent: true }))).toBe('execute')
    expect(outcome(attempt(link, 2, { resent: true }))).toBe(`replay ${third}`)
  })

  it('bounds the runs of a peer, and gives up those without a link', () => {
    const { ledger, link } = setUp()
    const runs = Array.from({ length: MAX_RECORDS_PER_PEER + 1 }, (_, index) => {
      return index.toString(16).padStart(32, '0') as InstanceId
    })
    const short = ledger.open(PEER)
    for (const instance of runs.slice(0, 1)) attempt(short, 1, { instance }).finish('x')
    for (const instance of runs.slice(1, -1)) attempt(link, 1, { instance }).finish('x')
    const last = runs.slice(-1)
    for (const instance of last) expect(outcome(attempt(link, 1, { instance }))).toBe('ERR_PEER_BUSY')
    short.close(false)
    for (const instance of last) expect(outcome(attempt(link, 1, { instance }))).toBe('execute')
    for (const instance of runs.slice(0, 1))
      expect(outcome(attempt(link, 1, { instance, resent: true }))).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })

  it('starts nothing new when told so, but replays and joins', () => {
    const { link } = setUp()
    const refusal = new CtError('ERR_PEER_SHUTDOWN', 'x')
    attempt(link, 1).finish('one')
    attempt(link, 2)
    expect(outcome(attempt(link, 1, { resent: true, refusal }))).toBe('replay one')
    expect(outcome(attempt(link, 2, { resent: true, refusal }))).toBe('join')
    expect(outcome(attempt(link, 3, { refusal }))).toBe('ERR_PEER_SHUTDOWN')
    expect(outcome(attempt(link, 3))).toBe('execute')
  })

  for (const sequence of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
    it(`refuses the number ${sequence}`, () =>
      expect(outcome(attempt(setUp().link, sequence))).toBe('ERR_MESSAGE_INVALID'))
  }

  it('stops what runs for peers that are gone, with or without a link, and nothing else', () => {
    const { clock, ledger, link } = setUp()
    const broken = attempt(link, 1)
    link.close(false)
    const linked = attempt(ledger.open(PEER), 2)
    const other = attempt(ledger.open('dd'.repeat(32) as HolderId), 1)
    ledger.expel((peer) => peer === PEER)
    expect([broken.stops, linked.stops, other.stops]).toEqual([['ERR_CALL_INTERRUPTED'], ['ERR_CALL_INTERRUPTED'], []])
    expect(linked.released()).toBe(1)
    expect(outcome(attempt(ledger.open(PEER), 1, { resent: true }))).toBe(UNKNOWN)
    other.finish('done')
    expect(other.answers).toEqual(['done'])
    ledger.close()
    expect(clock.timers).toBe(0)
  })

  it('leaves no timer behind when it is closed', () => {
    const { clock, ledger, link } = setUp()
    const running = attempt(link, 1)
    link.close(false)
    ledger.close()
    expect(running.stops).toEqual(['ERR_CALL_INTERRUPTED'])
    expect(clock.timers).toBe(0)
  })
})
