/**
 * Randomness that a seed repeats.
 *
 * @module
 */
import { type Random } from '../../src/core/time.ts'

/** Mulberry32: enough for schedules, nothing for secrets. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** @throws {RangeError} when there is nothing to pick from */
export function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new RangeError('expected something to pick from')
  return value
}

export function between(random: Random, [least, most]: readonly [number, number]): number {
  return Math.round(least + random() * (most - least))
}
