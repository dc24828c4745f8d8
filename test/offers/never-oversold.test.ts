import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { u64 } from '../../src/core/u64.ts'
import { openOffer } from '../../src/offers/offer.ts'
import { bidOf, Selling, START, terms } from './selling.ts'
import { buyer, stranger } from './signed.ts'

const UNITS = 20
const TTL = 100

/** What must be true of a seller, computed from its answers alone. */
interface Model {
  /** Units by the name of the match. */
  readonly matches: Map<string, bigint>
  /** Match by the bid that got it. */
  readonly answers: Map<string, string>
  /** The most units that were ever on sale. */
  most: bigint
  units: number
}

type Step = (selling: Selling, model: Model) => Promise<void> | void

const lasting = { expiresAt: u64(2 ** 40), totalPrice: u64(100) }

/** A few bids by a few buyers, so that the same bid comes often. */
const bids = [1, 2, 3, 5, 7, 11, 20, 21].flatMap((units) =>
  [buyer, stranger].flatMap((key) =>
    [0, 1].map((issued) => bidOf({ ...lasting, units: u64(units), issuedAt: u64(issued) }, key)),
  ),
)

const bid = fc.nat({ max: bids.length - 1 }).map((index): [string, Step] => [
  `bid ${index}`,
  (selling, model) => {
    const wanted = bids[index] ?? bidOf()
    const before = selling.sold()
    const outcome = selling.bid(wanted)
    const earlier = model.answers.get(String(index))
    if ('matchRef' in outcome) {
      expect(earlier ?? outcome.matchRef).toBe(outcome.matchRef)
      expect(outcome).toMatchObject({ units: wanted.body.units, consumer: wanted.body.bidder })
      model.answers.set(String(index), outcome.matchRef)
      model.matches.set(outcome.matchRef, outcome.units)
    } else {
      expect(earlier).toBeUndefined()
      expect(selling.sold()).toBe(before)
      expect(wanted.body.units).toBeGreaterThan(BigInt(model.units) - before)
      expect(['sold_out', 'too_many_units']).toContain(outcome.reason)
    }
  },
])

const restart = fc.constant<[string, Step]>([
  'restart',
  async (selling, { units }) => {
    await selling.restart(settings(units))
  },
])

const reconfigure = fc.integer({ min: 1, max: 30 }).map((units): [string, Step] => [
  `${units} units`,
  async (selling, model) => {
    model.units = units
    if (units > model.most) model.most = BigInt(units)
    await selling.restart(settings(units))
  },
])

const tick = fc.integer({ min: -TTL, max: 2 * TTL }).map((seconds): [string, Step] => [
  `${seconds} s`,
  (selling) => {
    selling.now += seconds
  },
])

const look = fc.constant<[string, Step]>([
  'look',
  (selling, { units }) => {
    const { body } = openOffer(selling.offer(), { now: u64(selling.now), skewSeconds: 0 })
    expect(body.units).toBeLessThanOrEqual(BigInt(units))
  },
])

function settings(units: number) {
  return { terms: { ...terms, units: u64(units) }, ttlSeconds: u64(TTL), maxBids: 1_000 }
}

describe('a seller', () => {
  it('never sells a unit twice and answers a bid always alike, whatever bids, restarts, changes and clocks come', {
    timeout: 60_000,
  }, async () => {
    const steps = fc.array(fc.oneof({ weight: 5, arbitrary: bid }, restart, reconfigure, tick, look), {
      minLength: 1,
      maxLength: 30,
    })
    let sales = 0
    let repeats = 0
    await fc.assert(
      fc.asyncProperty(steps, async (drawn) => {
        const selling = await Selling.open(settings(UNITS))
        const model: Model = { matches: new Map(), answers: new Map(), most: BigInt(UNITS), units: UNITS }
        selling.now = START
        for (const [, step] of drawn) {
          const matched = model.answers.size
          await step(selling, model)
          const sum = [...model.matches.values()].reduce((total, units) => total + units, 0n)
          expect(selling.sold()).toBe(sum)
          expect(sum).toBeLessThanOrEqual(model.most)
          expect(model.matches.size).toBe(model.answers.size)
          sales += model.answers.size - matched
        }
        const again = [...model.answers]
        repeats += again.length
        for (const [index, matchRef] of again) {
          expect(selling.bid(bids[Number(index)] ?? bidOf())).toMatchObject({ matchRef })
        }
        selling.stop()
      }),
      { numRuns: 60 },
    )
    expect(sales).toBeGreaterThan(50)
    expect(repeats).toBe(sales)
  })
})
