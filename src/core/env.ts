/**
 * Settings as tables: one row a variable, with its meaning, default and parser. The same rows read the environment,
 * print `ct-agent help env`, name the flags and are compared with README by a test.
 *
 * Holds: absent is not malformed. A malformed value is a problem that names the variable, what was expected and what
 * was found; the value of a secret is never repeated. All problems are reported together.
 *
 * @module
 */
import { CtError } from './errors.ts'
import { type Parsed } from './ids.ts'
import { escapeUnprintable } from './printable.ts'

export type Env = Readonly<Record<string, string | undefined>>

export interface EnvRow<Value> {
  readonly name: string
  /** One sentence for people, without a full stop. */
  readonly about: string
  /** What a good value looks like, such as `host:port`. */
  readonly expects: string
  readonly parse: (text: string) => Parsed<Value>
  /** Text that is parsed when the variable is absent; also what the documentation shows. */
  readonly fallback?: string
  /** Long name of the equivalent flag, without dashes. */
  readonly flag?: string
  /** The value must never be shown. */
  readonly secret?: true
  /** A set but blank variable is handed to the parser instead of counting as absent. */
  readonly keepBlank?: true
}

export type EnvTable = Readonly<Record<string, EnvRow<unknown>>>

/** What a table yields: a row with a fallback always has a value. */
export type EnvValues<Table extends EnvTable> = {
  readonly [Key in keyof Table]: Table[Key] extends EnvRow<infer Value>
    ? Table[Key] extends { readonly fallback: string }
      ? Value
      : Value | undefined
    : never
}

export interface EnvProblem {
  readonly name: string
  /** A whole sentence that begins with the variable's name. */
  readonly message: string
}

/**
 * Reads every row of a table. Rows with problems read as absent; the problems are appended to `problems`, so that
 * several tables and the checks across them can be reported at once.
 */
export function readEnv<const Table extends EnvTable>(
  table: Table,
  env: Env,
  problems: EnvProblem[],
): EnvValues<Table> {
  const values: Record<string, unknown> = {}
  for (const [key, row] of Object.entries(table)) values[key] = readRow(row, env, problems)
  return values as EnvValues<Table>
}

function readRow(row: EnvRow<unknown>, env: Env, problems: EnvProblem[]): unknown {
  const given = env[row.name]
  const present = given !== undefined && (row.keepBlank === true || given.trim() !== '')
  const text = present ? given : row.fallback
  if (text === undefined) return undefined
  const parsed = row.parse(text)
  if ('value' in parsed) return parsed.value
  const problem =
    row.secret === true && showsPartOf(text, parsed.problem) ? `found ${text.length} characters` : parsed.problem
  problems.push({ name: row.name, message: `${row.name} invalid (${row.expects}): ${problem}` })
  return undefined
}

// Parsers know nothing of secrets: one that says what it found must not give a key away.
function showsPartOf(secret: string, message: string): boolean {
  if (secret.length < TELLING_CHARS) return secret !== '' && message.includes(secret)
  for (let start = 0; start + TELLING_CHARS <= secret.length; start += 1) {
    if (message.includes(secret.slice(start, start + TELLING_CHARS))) return true
  }
  return false
}

/** So many characters of a secret in a row are too many to show. */
const TELLING_CHARS = 8

/** The problem of a required variable that is not set. */
export function missing(row: EnvRow<unknown>): EnvProblem {
  return { name: row.name, message: `${row.name} required (${row.expects})` }
}

/** The problem of a variable whose value parses, and still will not do. */
export function invalid({ name, expects }: EnvRow<unknown>, problem: string): EnvProblem {
  return { name, message: `${name} invalid (${expects}): ${problem}` }
}

/** @throws {CtError} `ERR_CONFIG_INVALID` with all problems, when there are any */
export function refuseProblems(problems: readonly EnvProblem[]): void {
  if (problems.length === 0) return
  throw new CtError('ERR_CONFIG_INVALID', problems.map(({ message }) => message).join('\n'), {
    detail: { variables: problems.map(({ name }) => name) },
  })
}

/** Text as it stands. */
export function parseText(text: string): Parsed<string> {
  return { value: text }
}

/** The one reading of switches: `1 true yes on` and `0 false no off`, in any case. */
export function parseSwitch(text: string): Parsed<boolean> {
  const word = text.trim().toLowerCase()
  if (['1', 'true', 'yes', 'on'].includes(word)) return { value: true }
  if (['0', 'false', 'no', 'off'].includes(word)) return { value: false }
  return { problem: `found ${quote(text)}` }
}

/** Whole numbers within bounds, written in plain decimal digits. */
export function parseInteger(minimum: number, maximum: number): (text: string) => Parsed<number> {
  return (text) => {
    const digits = text.trim()
    const value = Number(digits)
    if (!/^\d+$/.test(digits) || value < minimum || value > maximum) {
      return { problem: `expected a whole number from ${minimum} to ${maximum}, found ${quote(text)}` }
    }
    return { value }
  }
}

/** Comma list: blanks trimmed, empty entries skipped. */
export function parseList(text: string): Parsed<readonly string[]> {
  return { value: splitList(text) }
}

/** A comma list of at least one entry, all of which parse; the first bad one is named by its position. */
export function parseListOf<Value>(parse: (text: string) => Parsed<Value>): (text: string) => Parsed<readonly Value[]> {
  return (text) => {
    const entries = splitList(text)
    if (entries.length === 0) return { problem: `expected at least one entry, found ${quote(text)}` }
    const values: Value[] = []
    for (const [index, entry] of entries.entries()) {
      const parsed = parse(entry)
      if ('problem' in parsed) return { problem: `entry ${index + 1}: ${parsed.problem}` }
      values.push(parsed.value)
    }
    return { value: values }
  }
}

/** One of a few words, in any case; each word may stand for another. */
export function parseChoice<const Value extends string>(
  words: Readonly<Record<string, Value>>,
): (text: string) => Parsed<Value> {
  return (text) => {
    const word = text.trim().toLowerCase()
    if (Object.hasOwn(words, word)) {
      const value = words[word]
      if (value !== undefined) return { value }
    }
    return { problem: `expected ${Object.keys(words).join('|')}, found ${quote(text)}` }
  }
}

/** A found value for a message: quoted, cut short, and with everything escaped that could move a cursor or hide text. */
export function quote(text: string): string {
  const cut = text.length > QUOTE_MAX_CHARS ? `${text.slice(0, QUOTE_MAX_CHARS)}…` : text
  return escapeUnprintable(JSON.stringify(cut))
}

/** Enough to recognise a value, too little to flood a terminal. */
const QUOTE_MAX_CHARS = 60

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
