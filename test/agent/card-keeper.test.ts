import { describe, expect, it } from 'vitest'
import { EVERY_MS, keepCardListed } from '../../src/agent/registry/card-keeper.ts'
import { sealCard } from '../../src/cards/index.ts'
import { lifetime } from '../../src/core/artefact.ts'
import { CtError, type ErrorCode } from '../../src/core/errors.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { settle } from '../channel/test-wire.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { ALICE } from './artefact-files.ts'

function keeper({ ttlSeconds = 86_400, failing = [] as readonly (CtError | undefined)[] } = {}) {
  const clock = new FakeClock()
  const leaving = new AbortController()
  const cards: { readonly issued: number; readonly at: number }[] = []
  const states: (ErrorCode | undefined)[] = []
  let opened = 0
  let closed = 0
  const over = keepCardListed(
    {
      sign: () => {
        const life = lifetime(unixSeconds(clock), u64(ttlSeconds))
        return sealCard(
          { holder: ALICE.id, roleTags: ['a'], skills: [], cells: [], channels: [], ...life },
          ALICE.secret,
        )
      },
      open: () => {
        const failure = failing[opened]
        opened += 1
        return Promise.resolve({
          publish: (text) => {
            if (failure !== undefined) return Promise.reject(failure)
            cards.push({ issued: Number(JSON.parse(text).issued_at), at: clock.monotonic() / 1_000 })
            return Promise.resolve({ kind: 'published', until: u64(1) })
          },
          close: () => {
            closed += 1
            return Promise.resolve()
          },
        })
      },
      clock,
      random: () => 1,
      onState: (trouble) => states.push(trouble?.code),
    },
    leaving.signal,
  )
  const advance = async (ms: number): Promise<void> => {
    await settle()
    clock.advance(ms)
    await settle()
  }
  return { advance, cards, states, leaving, over, counts: () => ({ opened, closed }) }
}

describe('keepCardListed', () => {
  it('publishes a fresh card at once and again and again, and leaves nothing open', async () => {
    const { advance, cards, states, leaving, over, counts } = keeper()
    await advance(EVERY_MS)
    await advance(EVERY_MS - 1)
    expect(cards).toEqual([
      { issued: 0, at: 0 },
      { issued: 300, at: 300 },
    ])
    expect(states).toEqual([undefined, undefined])
    leaving.abort()
    await over
    expect(counts()).toEqual({ opened: 2, closed: 2 })
  })

  it('renews a card of a short life in good time', async () => {
    const { advance, cards } = keeper({ ttlSeconds: 60 })
    await advance(30_000)
    await advance(30_000)
    expect(cards.map(({ at }) => at)).toEqual([0, 30, 60])
  })

  it('tries again ever less often while the broker is away, and no sooner than it asks for', async () => {
    const away = new CtError('ERR_PEER_UNREACHABLE', 'away')
    const full = new CtError('ERR_PEER_BUSY', 'full', { detail: { retryAfterMs: 60_000 } })
    const { advance, cards, states } = keeper({ failing: [away, away, full] })
    await advance(2_000)
    await advance(4_000)
    expect(states).toEqual(['ERR_PEER_UNREACHABLE', 'ERR_PEER_UNREACHABLE', 'ERR_PEER_BUSY'])
    await advance(59_999)
    expect(cards).toEqual([])
    await advance(1)
    expect(cards.map(({ at }) => at)).toEqual([66])
  })

  it('asks a broker that keeps no cards once', async () => {
    const { over, states } = keeper({ failing: [new CtError('ERR_PROTOCOL', 'none')] })
    await over
    expect(states).toEqual(['ERR_PROTOCOL'])
  })
})
