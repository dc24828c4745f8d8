/**
 * What the doctor found, for people and for programs.
 *
 * @module
 */
import { escapeUnprintable, printable } from '../../core/printable.ts'
import { type Status } from './catalogue.ts'
import { type Checked } from './run-checks.ts'

/** Causes repeat what peers and programs say. */
const MAX_MESSAGE_CHARS = 1_000
const WORDS: Readonly<Record<Status, string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL', skipped: '–   ' }
const COLOURS: Readonly<Record<Status, string>> = { ok: '32', warn: '33', fail: '31', skipped: '2' }

export function isWell(checked: readonly Checked[]): boolean {
  return checked.every(({ status }) => status !== 'fail')
}

export function reportJson(checked: readonly Checked[]): string {
  const checks = checked.map(({ check, code, status, message, fix, error }) => ({
    check,
    status,
    code,
    message: printable(message, MAX_MESSAGE_CHARS),
    ...(fix === undefined ? {} : { fix }),
    ...(error === undefined ? {} : { error }),
  }))
  return escapeUnprintable(JSON.stringify({ ok: isWell(checked), checks }))
}

/** A line for each finding, and below it what to do. */
export function reportText(checked: readonly Checked[], isColoured: boolean): string {
  const width = Math.max(...checked.map(({ check }) => check.length))
  const lines = checked.flatMap(({ check, code, status, message, fix }) => {
    const word = isColoured ? `\u001b[${COLOURS[status]}m${WORDS[status]}\u001b[0m` : WORDS[status]
    const line = `${word}  ${check.padEnd(width)}  ${printable(message, MAX_MESSAGE_CHARS)}`
    const isTold = status === 'warn' || status === 'fail'
    return isTold
      ? [`${line} (${code})`, ...(fix === undefined ? [] : [`${' '.repeat(6 + width + 2)}→ ${fix}`])]
      : [line]
  })
  return [...lines, '', summary(checked)].join('\n')
}

function summary(checked: readonly Checked[]): string {
  const count = (wanted: Status): number => checked.filter(({ status }) => status === wanted).length
  const [fails, warns] = [count('fail'), count('warn')]
  const hints = warns === 0 ? '' : `, ${warns} to look at`
  return fails === 0 ? `nothing is wrong${hints}` : `${fails} ${fails === 1 ? 'thing is' : 'things are'} wrong${hints}`
}
