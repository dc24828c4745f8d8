/**
 * JSON values in words, for messages.
 *
 * @module
 */
import { quote } from './env.ts'
import { isRawInteger } from './exact-json.ts'

/** What kind of value it is; nothing of the value itself. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'string') return 'a string'
  if (typeof value === 'boolean') return 'a boolean'
  if (typeof value === 'number' || isRawInteger(value)) return 'a number'
  return 'an object'
}

/** The value itself where it is short, cut where it is a long text, else its kind. */
export function valueInWords(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  return typeof value === 'object' ? kindOf(value) : String(value)
}
