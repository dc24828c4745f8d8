/**
 * Fields of artefacts for people: whatever their words, one line each, and nothing in it that steers a terminal.
 *
 * @module
 */
import { printable } from '../../core/printable.ts'
import { type UnixSeconds } from '../../core/u64.ts'

/** A label and its values, one a line. */
export type Field = readonly [label: string, ...values: readonly string[]]

/** The fields below each other, their values in one column. */
export function fieldLines(fields: readonly Field[]): readonly string[] {
  const width = Math.max(...fields.map(([label]) => label.length))
  return fields.flatMap(([label, ...values]) =>
    (values.length === 0 ? [NONE] : values).map((value, index) => {
      const shown = value.trim() === '' ? NONE : printable(value, MAX_VALUE_CHARS)
      return `  ${(index === 0 ? label : '').padEnd(width)}  ${shown}`
    }),
  )
}

/** As a date where there is one; the last seconds that can be counted are beyond every calendar. */
export function shownTime(seconds: UnixSeconds): string {
  const milliseconds = Number(seconds) * 1_000
  if (milliseconds > LAST_DATE_MS) return seconds.toString()
  return `${new Date(milliseconds).toISOString().replace('.000Z', 'Z')} (${seconds})`
}

/** The texts as the original program's lines have them: `["a", "b"]`. */
export function debugTexts(texts: readonly string[]): string {
  return `[${texts.map(debugText).join(', ')}]`
}

/** In quotes, everything that does not print escaped. */
export function debugText(text: string): string {
  const escaped = text.replace(/["\\\0\t\n\r]|[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (found) => {
    return SHORT_ESCAPES[found] ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
  })
  return `"${escaped}"`
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\0': '\\0',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

/** The last moment that a `Date` can hold. */
const LAST_DATE_MS = 8.64e15
const MAX_VALUE_CHARS = 2_000
const NONE = '–'
