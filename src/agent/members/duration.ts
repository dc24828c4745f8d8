/**
 * Spans of time as people write them: a whole number and one letter for its unit.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'
import { SECONDS_PER_DAY } from '../../core/time.ts'
import { type U64, u64 } from '../../core/u64.ts'

const UNITS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', SECONDS_PER_DAY],
])

/** @param mostSeconds the longest span */
export function parseDuration(text: string, mostSeconds: number): Parsed<U64> {
  const [, digits = '', letter = ''] = /^(\d{1,9})([smhd])$/.exec(text.trim()) ?? []
  const seconds = Number(digits) * (UNITS.get(letter) ?? 0)
  if (seconds >= 1 && seconds <= mostSeconds) return { value: u64(seconds) }
  const most = mostSeconds / SECONDS_PER_DAY
  return { problem: `expected a time such as 30m, 24h or 7d, of at most ${most} days, found ${quote(text)}` }
}
