/**
 * How far a handler says it is, made into what the caller is told.
 *
 * Holds: what a handler says of it that is malformed is left out, and never the end of a call. A message without a number
 * is partial output: it counts as one step.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { type Progress } from '../wire/progress.ts'

/** Takes `{"progress":…,"total":…,"message":…}` of one call. */
export function createProgressReader(tell: (progress: Progress) => void): (value: JsonValue) => void {
  let last = 0
  return (value) => {
    if (!isJsonObject(value)) return
    const { progress = last + 1, total, message } = value
    if (typeof progress !== 'number' || (value['progress'] === undefined && typeof message !== 'string')) return
    last = Math.max(last, progress)
    tell({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    })
  }
}
