import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Heartbeat } from '../../src/channel/session/heartbeat.ts'
import { IDLE_CHECK_MS, Liveness, WATCHED_CHECK_MS } from '../../src/channel/session/liveness.ts'
import { FakeClock } from '../mcp/fake-clock.ts'

const WATCHED_VERDICT_MS = 5_000

interface Beat {
  readonly clock: FakeClock
  readonly heartbeat: Heartbeat
  /** Since the last look. */
  readonly events: string[]
}

interface BeatOptions {
  readonly idleSeconds?: number
  /** How long the peer takes to answer a ping; `undefined` for a peer that never does. */
  readonly answersMs?: number
  /** From when on it answers no more. */
  readonly frozenMs?: number
}

function beat({ idleSeconds = 0, answersMs, frozenMs = Number.POSITIVE_INFINITY }: BeatOptions = {}): Beat {
  const clock = new FakeClock()
  const events: string[] = []
  const heartbeat = new Heartbeat({
    clock,
    idleSeconds,
    onAsk: () => {
      events.push('ask')
      if (answersMs === undefined || clock.monotonic() + answersMs >= frozenMs) return
      clock.after(answersMs, () => heartbeat.heard())
    },
    onSilence: () => {
      events.push('silence')
      heartbeat.stop()
    },
    onIdle: () => {
      events.push('idle')
      heartbeat.stop()
    },
  })
  return { clock, heartbeat, events }
}

describe('a watched peer', () => {
  it('is given up within 5 s, whenever it freezes and whenever the wait for it begins', () => {
    fc.assert(
      fc.property(fc.nat(60_000), fc.nat(90_000), fc.nat(800), (frozenMs, watched, answersMs) => {
        // Later than this, a frozen peer is given up unwatched.
        const watchedMs = Math.min(watched, frozenMs + 15_000)
        const { clock, heartbeat, events } = beat({ answersMs, frozenMs })
        clock.after(watchedMs, () => heartbeat.watch(true))
        clock.advance(Math.max(frozenMs, watchedMs))
        expect(events).not.toContain('silence')
        clock.advance(WATCHED_VERDICT_MS)
        expect(events).toContain('silence')
      }),
    )
  })

  it('is kept as long as it answers, even slowly', () => {
    for (const answersMs of [0, 100, 900, 1_700]) {
      const { clock, heartbeat, events } = beat({ answersMs })
      clock.advance(7_300)
      heartbeat.watch(true)
      clock.advance(600_000)
      expect(events).not.toContain('silence')
    }
  })

  it('is kept without a question while anything comes from it', () => {
    const { clock, heartbeat, events } = beat()
    heartbeat.watch(true)
    for (let count = 0; count < 100; count += 1) {
      clock.advance(800)
      heartbeat.heard()
    }
    expect(events).toEqual([])
  })

  it('is given up although each wait for it is shorter than the verdict', () => {
    const { clock, heartbeat, events } = beat()
    for (let count = 0; count < 10 && !events.includes('silence'); count += 1) {
      heartbeat.watch(true)
      clock.advance(1_900)
      heartbeat.watch(false)
      clock.advance(100)
    }
    expect(events).toContain('silence')
    expect(clock.monotonic()).toBeLessThanOrEqual(2 * WATCHED_VERDICT_MS)
  })

  it('has time to answer when the wait begins long after it was last heard', () => {
    const { clock, heartbeat, events } = beat({ answersMs: 1_500 })
    clock.advance(IDLE_CHECK_MS - 1)
    heartbeat.watch(true)
    clock.advance(60_000)
    expect(events).not.toContain('silence')
  })
})

describe('an idle peer', () => {
  it('is asked now and then, and kept while it answers', () => {
    const { clock, events } = beat({ answersMs: 50 })
    clock.advance(600_000)
    expect(events.every((event) => event === 'ask')).toBe(true)
    expect(events.length).toBeGreaterThanOrEqual(10)
    expect(events.length).toBeLessThanOrEqual(30)
  })

  it('is given up when it does not answer', () => {
    const { clock, events } = beat()
    clock.advance(120_000)
    expect(events).toEqual(['ask', 'silence'])
  })
})

describe('a pause of this process', () => {
  for (const watched of [true, false]) {
    it(`is not held against a ${watched ? 'watched' : 'idle'} peer`, () => {
      const liveness = new Liveness(0)
      liveness.watch(watched, 0)
      liveness.heard(500)
      expect(liveness.check(3_600_000)).toBe('ask')
      liveness.heard(3_600_100)
      expect(liveness.check(3_600_900)).toBe('alive')
    })

    it(`still lets a ${watched ? 'watched' : 'idle'} peer be given up that does not answer after it`, () => {
      const liveness = new Liveness(0)
      liveness.watch(watched, 0)
      let now = 3_600_000
      const verdicts = [liveness.check(now)]
      while (verdicts.at(-1) !== 'give-up' && verdicts.length < 10) {
        now += liveness.checkMs
        verdicts.push(liveness.check(now))
      }
      expect(verdicts.at(-1)).toBe('give-up')
      expect(now - 3_600_000).toBeLessThanOrEqual(watched ? WATCHED_VERDICT_MS : 60_000)
    })
  }

  it('is not held against the peer when a wait ends or begins before the next check', () => {
    const liveness = new Liveness(0)
    liveness.watch(true, 0)
    liveness.watch(false, 3_600_000)
    expect(liveness.check(3_600_001)).not.toBe('give-up')
    liveness.watch(true, 7_200_000)
    expect(liveness.check(7_200_001)).not.toBe('give-up')
  })
})

describe('an unused session', () => {
  it('ends at its limit, however often the peer answers', () => {
    for (const idleSeconds of [1, 5, 30, 300]) {
      const { clock, events } = beat({ idleSeconds, answersMs: 10 })
      clock.advance(idleSeconds * 1_000 - 1)
      expect(events).not.toContain('idle')
      clock.advance(1)
      expect(events).toContain('idle')
    }
  })

  it('does not end while it is used or watched, nor with a limit of 0', () => {
    const used = beat({ idleSeconds: 5, answersMs: 10 })
    for (let count = 0; count < 20; count += 1) {
      used.clock.advance(4_000)
      used.heartbeat.used()
    }
    const watched = beat({ idleSeconds: 5, answersMs: 10 })
    watched.heartbeat.watch(true)
    watched.clock.advance(100_000)
    const unlimited = beat({ answersMs: 10 })
    unlimited.clock.advance(1_000_000)
    for (const { events } of [used, watched, unlimited]) expect(events).not.toContain('idle')
  })

  it('counts from the end of the last wait', () => {
    const { clock, heartbeat, events } = beat({ idleSeconds: 5, answersMs: 10 })
    heartbeat.watch(true)
    clock.advance(60_000)
    heartbeat.watch(false)
    clock.advance(4_999)
    expect(events).not.toContain('idle')
    clock.advance(WATCHED_CHECK_MS)
    expect(events).toContain('idle')
  })
})

describe('a heartbeat', () => {
  it('has one timer, also after a thousand waits', () => {
    const { clock, heartbeat } = beat({ idleSeconds: 300 })
    let armed = 0
    const after = clock.after.bind(clock)
    clock.after = (ms, run) => {
      armed += 1
      return after(ms, run)
    }
    for (let count = 0; count < 1_000; count += 1) {
      heartbeat.watch(true)
      heartbeat.watch(false)
    }
    expect(clock.timers).toBe(1)
    expect(armed).toBeLessThanOrEqual(1)
  })

  it('has no timer once it is stopped, whatever comes after', () => {
    const { clock, heartbeat, events } = beat()
    heartbeat.stop()
    heartbeat.watch(true)
    heartbeat.heard()
    clock.advance(100_000)
    expect([clock.timers, events]).toEqual([0, []])
  })
})
