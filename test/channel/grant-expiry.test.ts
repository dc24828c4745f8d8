import { describe, expect, it } from 'vitest'
import { type Membership } from '../../src/channel/membership/credentials.ts'
import { whenItIs } from '../../src/channel/session/expiry.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { lost } from '../../src/channel/session/session-end.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { type Clock } from '../../src/core/time.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { pair } from './session-pair.ts'
import { settle } from './test-wire.ts'

function membership(expiresAt: bigint): Membership {
  return { rights: 'rw', expiresAt: u64(expiresAt), chain: ['aa'.repeat(32) as HolderId] }
}

/** Codes of why the session ended, as soon as it has. */
function endsOf(session: Session): string[] {
  const codes: string[] = []
  void session.closed.then(({ reason }) => codes.push(reason.code))
  return codes
}

/** A clock whose wall time can be set, and which notes the delays asked for. */
function settableClock() {
  const timers = new FakeClock()
  const delays: number[] = []
  let offsetMs = 0
  const clock: Clock = {
    monotonic: () => timers.monotonic(),
    now: () => timers.now() + offsetMs,
    after: (ms, run) => {
      delays.push(ms)
      return timers.after(ms, run)
    },
  }
  return {
    clock,
    timers,
    delays,
    jump: (ms: number) => {
      offsetMs += ms
    },
  }
}

describe('a session of a member', () => {
  it('ends by itself when the grant expires, for both sides, and not before', async () => {
    const { caller, server, serverClock } = pair({ admit: () => membership(100n) })
    const ends = endsOf(server)
    await caller.ready
    serverClock.advance(99_999)
    await settle()
    expect(ends).toEqual([])
    serverClock.advance(1)
    const { reason, final } = await server.closed
    expect([reason.code, final]).toEqual(['ERR_GRANT_EXPIRED', true])
    const heard = await caller.closed
    expect(heard.final).toBe(true)
    expect(heard.reason).toMatchObject({
      code: 'ERR_GRANT_EXPIRED',
      detail: { byPeer: true, category: 'grant-verify' },
    })
  })

  it('keeps no timer when it ends before', async () => {
    const { caller, server, serverClock } = pair({ admit: () => membership(100n) })
    await caller.ready
    server.end(lost(undefined))
    await settle()
    expect(serverClock.timers).toBe(0)
  })

  it('that was admitted without a membership does not end so', async () => {
    const { caller, server, serverClock } = pair()
    const ends = endsOf(server)
    await caller.ready
    serverClock.advance(10 * 3_600_000)
    await settle()
    expect(ends).not.toContain('ERR_GRANT_EXPIRED')
  })
})

describe('whenItIs', () => {
  it('never asks for a delay that a timer cannot count, however far the end is', () => {
    const { clock, timers, delays } = settableClock()
    let ran = 0
    const cancel = whenItIs(U64_MAX, clock, () => {
      ran += 1
    })
    timers.advance(30_000)
    expect(ran).toBe(0)
    expect(delays.length).toBeGreaterThan(25)
    expect(Math.max(...delays)).toBeLessThanOrEqual(1_000)
    cancel()
    expect(timers.timers).toBe(0)
  })

  it('notices within a second that the clock was set past it, or that the machine slept', () => {
    const { clock, timers, jump } = settableClock()
    let ran = 0
    whenItIs(u64(1_000_000), clock, () => {
      ran += 1
    })
    timers.advance(5_000)
    jump(2_000_000_000)
    timers.advance(1_000)
    expect([ran, timers.timers]).toEqual([1, 0])
  })

  it('waits on when the clock is set back', () => {
    const { clock, timers, jump } = settableClock()
    jump(100_000)
    let ran = 0
    whenItIs(u64(110), clock, () => {
      ran += 1
    })
    timers.advance(9_000)
    jump(-60_000)
    timers.advance(60_000)
    expect(ran).toBe(0)
    timers.advance(1_000)
    expect(ran).toBe(1)
  })

  it('runs once, and not before it returns, for a second that is over', () => {
    const { clock, timers } = settableClock()
    let ran = 0
    whenItIs(u64(0), clock, () => {
      ran += 1
    })
    expect(ran).toBe(0)
    timers.advance(0)
    timers.advance(10_000)
    expect(ran).toBe(1)
  })
})
