import { describe, expect, it } from 'vitest'
import { standBy } from '../../src/channel/dialling/standby.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { FakeClock } from '../mcp/fake-clock.ts'

/** A direct session on which the test says what is heard, and how the other way is opened. */
function standing() {
  const clock = new FakeClock()
  const vitals = { bytesIn: 0, bytesOut: 0, roundTripMs: 20, measure: async () => {} }
  const closed = Promise.withResolvers<void>()
  const opened: { readonly signal: AbortSignal; readonly yields: () => void; readonly ended: string[] }[] = []
  const taken: unknown[] = []
  let awaiting: (awaits: boolean) => void = () => {}
  const session = {
    vitals,
    closed: closed.promise,
    onAwaiting: (listener: typeof awaiting) => {
      awaiting = listener
    },
  }
  standBy({
    session: session as unknown as Session,
    open: (signal) => {
      const { promise, resolve } = Promise.withResolvers<{ readonly session: Session }>()
      const ended: string[] = []
      const other = { end: ({ code }: { readonly code: string }) => ended.push(code) }
      opened.push({ signal, ended, yields: () => resolve({ session: other as unknown as Session }) })
      return promise
    },
    onBetter: (other) => taken.push(other),
    clock,
  })
  /** Looks every so often, as time does. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 50) clock.advance(50)
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  return { vitals, opened, taken, pass, clock, awaits: (now: boolean) => awaiting(now), end: closed.resolve }
}

describe('another way for a session that falls silent', () => {
  it('is opened soon, and taken when the peer answers there alone', async () => {
    const { opened, taken, pass, awaits, clock } = standing()
    awaits(true)
    await pass(300)
    expect(opened).toHaveLength(0)
    await pass(300)
    expect(opened).toHaveLength(1)
    opened[0]?.yields()
    await pass(0)
    expect([taken.length, opened[0]?.ended, clock.timers]).toEqual([1, [], 0])
  })

  it('is given up when the peer is heard again', async () => {
    const { vitals, opened, taken, pass, awaits } = standing()
    awaits(true)
    await pass(600)
    vitals.bytesIn += 1
    await pass(300)
    expect(opened[0]?.signal.aborted).toBe(true)
    opened[0]?.yields()
    await pass(0)
    expect([taken.length, opened[0]?.ended]).toEqual([0, ['ERR_LINK_CLOSED']])
  })

  it('is not opened while what was written may still be on its way out', async () => {
    const { vitals, opened, pass, awaits } = standing()
    awaits(true)
    vitals.bytesOut += 160_000
    await pass(9_500)
    expect(opened).toHaveLength(0)
    await pass(1_000)
    expect(opened).toHaveLength(1)
  })

  it('is opened as soon as ever when what was written had been answered before', async () => {
    const { vitals, opened, pass, awaits } = standing()
    awaits(true)
    vitals.bytesOut += 160_000
    await pass(5_000)
    vitals.bytesIn += 100
    await pass(250)
    vitals.bytesOut += 100
    await pass(600)
    expect(opened).toHaveLength(1)
  })

  it('is of no use once nothing is awaited, or the session is over', async () => {
    const idle = standing()
    idle.awaits(true)
    idle.awaits(false)
    await idle.pass(5_000)
    const over = standing()
    over.awaits(true)
    await over.pass(600)
    over.end()
    await over.pass(0)
    over.opened[0]?.yields()
    await over.pass(5_000)
    expect([idle.opened.length, over.opened[0]?.signal.aborted, over.taken.length]).toEqual([0, true, 0])
  })
})
