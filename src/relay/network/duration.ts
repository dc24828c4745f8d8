/**
 * Lengths of time as people write them: seconds, or `90s`, `15m`, `24h`, `7d`.
 *
 * @module
 */
import { z } from 'zod'

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const LONGEST_SECS = 3_650 * 86_400

/** Inside, seconds. */
export const duration = z
  .union([z.int(), z.string()])
  .transform((given, context) => {
    const seconds = typeof given === 'number' ? given : read(given)
    if (seconds !== undefined && seconds >= 1 && seconds <= LONGEST_SECS) return seconds
    context.addIssue('expected seconds, or a number and s, m, h or d, such as 7d')
    return z.NEVER
  })
  .meta({ description: 'Seconds, or a number and s, m, h or d', examples: [3_600, '7d'] })

function read(text: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,9})\s?([smhd])?$/.exec(text.trim()) ?? []
  return digits === undefined ? undefined : Number(digits) * (SECONDS[unit] ?? 1)
}
