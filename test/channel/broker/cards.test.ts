import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CardRegistry, type ListedCard, MAX_CARD_TERMS, MAX_STAY_SECONDS } from '../../../src/channel/broker/cards.ts'
import {
  encodeCardAnswer,
  MAX_CARD_ANSWER_BYTES,
  MAX_CARD_BYTES,
  MAX_PAGE_CARDS,
} from '../../../src/channel/card-registry/messages.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { type UnixSeconds, u64 } from '../../../src/core/u64.ts'

const holder = (index: number): HolderId => index.toString(16).padStart(64, '0') as HolderId

function card(index: number, changes: Partial<ListedCard> = {}): ListedCard {
  return { holder: holder(index), roles: [], skills: [], issuedAt: u64(0), expiresAt: u64(1_000), ...changes }
}

interface Put {
  readonly text?: string
  readonly source?: string
  readonly now?: number
}

function put(
  registry: CardRegistry,
  listed: ListedCard,
  { text = 'card', source = 'a', now = 0 }: Put = {},
): UnixSeconds | CtError {
  return registry.publish(listed, { text, source, now: u64(now) })
}

/** Everything that fits, page by page. */
function all(registry: CardRegistry, query: { role?: string; skill?: string } = {}, limit = 3, now = 0): string[] {
  const found: string[] = []
  let after: HolderId | undefined
  do {
    const page = registry.find({ ...query, limit, after }, u64(now))
    expect(page.cards.length).toBeLessThanOrEqual(limit)
    found.push(...page.cards)
    after = page.next
  } while (after !== undefined)
  return found
}

const LIMITS = { cards: 4, perSource: 2 }

const step = fc.oneof(
  fc.record({
    do: fc.constant('publish' as const),
    who: fc.nat({ max: 7 }),
    issued: fc.nat({ max: 60 }),
    life: fc.integer({ min: 1, max: 40 }),
    source: fc.constantFrom('a', 'b', 'c'),
    role: fc.constantFrom('x', 'y'),
  }),
  fc.record({ do: fc.constant('withdraw' as const), who: fc.nat({ max: 7 }) }),
  fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ do: fc.constant('sweep' as const) }),
)

describe('CardRegistry', () => {
  it('holds its bounds, has the newest card of each holder and none that has expired, whatever is done', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const registry = new CardRegistry(LIMITS)
        const model = new Map<number, { issued: number; until: number; source: string; role: string; text: string }>()
        let now = 0
        for (const [index, action] of steps.entries()) {
          if (action.do === 'wait') now += action.seconds
          if (action.do === 'sweep') registry.sweep(u64(now))
          if (action.do === 'withdraw') {
            const known = model.get(action.who)
            // One that has expired may be there or not, and nobody sees it.
            const found = registry.withdraw(holder(action.who))
            if (known !== undefined && known.until > now) expect(found).toBe(true)
            if (known === undefined) expect(found).toBe(false)
            model.delete(action.who)
          }
          if (action.do === 'publish') {
            const { who, issued, life, source, role } = action
            const until = issued + life
            const text = `card ${index}`
            const known = model.get(who)
            const listed = card(who, { roles: [role], issuedAt: u64(issued), expiresAt: u64(until) })
            const taken = put(registry, listed, { text, source, now })
            if (!(taken instanceof CtError)) {
              expect(taken).toBe(u64(until))
              if (known !== undefined) expect(issued).toBeGreaterThanOrEqual(known.issued)
              model.set(who, { issued, until, source, role, text })
            } else {
              const live = [...model].filter(([other, entry]) => other !== who && entry.until > now)
              const isFull = live.length >= LIMITS.cards
              const isFullSource = live.filter(([, entry]) => entry.source === source).length >= LIMITS.perSource
              const isOld = known !== undefined && issued < known.issued
              expect(isFull || isFullSource || isOld || until <= now).toBe(true)
            }
          }
          const live = [...model].filter(([, { until }]) => until > now).sort(([one], [other]) => one - other)
          expect(registry.size).toBeLessThanOrEqual(LIMITS.cards)
          for (const source of ['a', 'b', 'c']) {
            expect(live.filter(([, entry]) => entry.source === source).length).toBeLessThanOrEqual(LIMITS.perSource)
          }
          expect(all(registry, {}, 2, now)).toEqual(live.map(([, { text }]) => text))
          const wanted = live.filter(([, { role }]) => role === 'x').map(([, { text }]) => text)
          expect(all(registry, { role: 'x' }, 1, now)).toEqual(wanted)
        }
        registry.sweep(u64(now))
        expect(registry.size).toBe([...model.values()].filter(({ until }) => until > now).length)
      }),
    )
  })

  it('finds by role and by skill to the letter, and by both', () => {
    const registry = new CardRegistry({ cards: 10, perSource: 10 })
    put(registry, card(1, { roles: ['planner', 'reviewer'], skills: ['plan'] }), { text: 'one' })
    put(registry, card(2, { roles: ['planner'], skills: ['review', 'plan'] }), { text: 'two' })
    put(registry, card(3, { roles: ['Planner'], skills: [''] }), { text: 'three' })
    expect(all(registry, { role: 'planner' })).toEqual(['one', 'two'])
    expect(all(registry, { skill: 'plan' })).toEqual(['one', 'two'])
    expect(all(registry, { role: 'planner', skill: 'review' })).toEqual(['two'])
    expect(all(registry, { role: 'plan' })).toEqual([])
    expect(all(registry, { skill: '' })).toEqual(['three'])
    expect(all(registry)).toEqual(['one', 'two', 'three'])
  })

  it('goes on after the page before, though the card it ended with is gone and others came', () => {
    const registry = new CardRegistry({ cards: 10, perSource: 10 })
    for (const index of [1, 3, 5, 7]) put(registry, card(index), { text: String(index) })
    const first = registry.find({ limit: 2 }, u64(0))
    expect(first).toEqual({ cards: ['1', '3'], next: holder(3) })
    registry.withdraw(holder(3))
    for (const index of [2, 6]) put(registry, card(index), { text: String(index) })
    expect(registry.find({ limit: 9, after: first.next }, u64(0))).toEqual({ cards: ['5', '6', '7'] })
  })

  it('ends a page before it grows larger than an answer may be', () => {
    const registry = new CardRegistry({ cards: 100, perSource: 100 })
    const text = 'é'.repeat(MAX_CARD_BYTES / 2)
    for (let index = 0; index < 20; index += 1) put(registry, card(index), { text })
    const page = registry.find({ limit: MAX_PAGE_CARDS }, u64(0))
    const size = encodeCardAnswer({ kind: 'found', ...page }).length
    expect(size).toBeLessThanOrEqual(MAX_CARD_ANSWER_BYTES)
    expect(size).toBeGreaterThan(MAX_CARD_ANSWER_BYTES - 2 * MAX_CARD_BYTES)
    expect(all(registry, {}, MAX_PAGE_CARDS)).toHaveLength(20)
  })

  it('keeps a card for a week at most when nobody publishes it again', () => {
    const registry = new CardRegistry(LIMITS)
    const eternal = card(1, { expiresAt: u64(1e15) })
    expect(put(registry, eternal)).toBe(u64(MAX_STAY_SECONDS))
    expect(put(registry, eternal, { now: 100 })).toBe(u64(MAX_STAY_SECONDS + 100))
    expect(all(registry, {}, 3, MAX_STAY_SECONDS + 99)).toHaveLength(1)
    expect(all(registry, {}, 3, MAX_STAY_SECONDS + 100)).toEqual([])
  })

  it('takes of two cards of one second the one that comes later, and then no older one', () => {
    const registry = new CardRegistry(LIMITS)
    put(registry, card(1, { issuedAt: u64(5) }), { text: 'first' })
    put(registry, card(1, { issuedAt: u64(5) }), { text: 'second' })
    expect(put(registry, card(1, { issuedAt: u64(4) }), { text: 'old' })).toMatchObject({
      code: 'ERR_PEER_REFUSED',
      detail: { category: 'stale' },
    })
    expect(all(registry)).toEqual(['second'])
  })

  it('makes room of what has expired before it turns anybody away, and says when to come again', () => {
    const registry = new CardRegistry(LIMITS)
    for (const index of [1, 2]) put(registry, card(index, { expiresAt: u64(10) }), { source: 'a' })
    expect(put(registry, card(3), { source: 'a' })).toMatchObject({
      code: 'ERR_PEER_BUSY',
      detail: { retryAfterMs: expect.any(Number) },
    })
    expect(put(registry, card(3), { source: 'a', now: 10 })).toBe(u64(1_000))
    for (const [index, source] of [
      [4, 'a'],
      [5, 'b'],
      [6, 'c'],
    ] as const) {
      put(registry, card(index), { source, now: 10 })
    }
    expect(registry.size).toBe(4)
    expect(put(registry, card(7), { source: 'd', now: 10 })).toMatchObject({ code: 'ERR_PEER_BUSY' })
    expect(put(registry, card(3, { issuedAt: u64(11) }), { source: 'd', now: 10 })).toBe(u64(1_000))
  })

  const refused: readonly (readonly [string, ListedCard, Put])[] = [
    ['a card that is too large', card(1), { text: 'x'.repeat(MAX_CARD_BYTES + 1) }],
    ['a card of too many roles', card(1, { roles: Array.from({ length: MAX_CARD_TERMS + 1 }, String) }), {}],
    ['a card of too many skills', card(1, { skills: Array.from({ length: MAX_CARD_TERMS + 1 }, String) }), {}],
    ['an expired card', card(1), { now: 1_000 }],
  ]
  for (const [name, listed, how] of refused) {
    it(`refuses ${name}`, () => {
      const registry = new CardRegistry(LIMITS)
      expect(put(registry, listed, how)).toBeInstanceOf(CtError)
      expect(registry.size).toBe(0)
    })
  }
})
