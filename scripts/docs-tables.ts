/**
 * Tables and lists of the documentation that something else knows better: settings, error codes, measured figures.
 *
 * A document has `<!-- env-table -->` and `<!-- /env-table -->` around such a table. Run as a program, this rewrites
 * them; a test compares them.
 *
 * @module
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FINDINGS, type FindingFacts } from '../src/agent/doctor/catalogue.ts'
import { ALL_ENV_ROWS } from '../src/agent/env-tables.ts'
import { type EnvRow } from '../src/core/env.ts'
import { ERROR_CODES, type ErrorFacts } from '../src/core/errors.ts'
import { benchTable } from './bench-table.ts'
import { soakTable } from './soak-table.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export const TABLES: Readonly<Record<string, () => string>> = {
  'env-table': () =>
    tableOf(
      ['variable', 'flag', 'means', 'value', 'default'],
      ALL_ENV_ROWS.map((row) => [code(row.name), flagOf(row), row.about, row.expects, code(row.fallback)]),
    ),
  'blank-variables': () => {
    const names = ALL_ENV_ROWS.filter(({ keepBlank }) => keepBlank === true).map(({ name }) => code(name))
    return [
      'A variable that is set but blank counts as not set, except these, which may be empty:',
      `${names.join(', ')}.`,
    ].join('\n')
  },
  'doctor-table': () =>
    tableOf(
      ['code', 'status', 'what to do'],
      Object.entries<FindingFacts>(FINDINGS)
        .filter(([, { fix }]) => fix !== undefined)
        .map(([name, { status, fix = '' }]) => [code(name), status, fix]),
    ),
  'bench-table': () => benchTable(join(root, 'docs/benchmarks.json')),
  'soak-table': () => soakTable(join(root, 'docs/soak.json')),
  'error-table': () =>
    tableOf(
      ['code', 'exit', 'try again', 'what to do'],
      Object.entries<ErrorFacts>(ERROR_CODES).map(([name, { exit, retryable, hint }]) => [
        code(name),
        String(exit),
        retryable ? 'yes' : 'no',
        hint,
      ]),
    ),
}

/** Paths of all documents that may hold a table, relative to the repository. */
export function documents(): string[] {
  return globSync('{*,docs/*}.md', { cwd: root }).toSorted()
}

export function readDocument(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Names of the tables that a text has a place for. */
export function tablesIn(text: string): string[] {
  return Object.keys(TABLES).filter((name) => text.includes(`<!-- ${name} -->`))
}

/** The text with its tables as the code would have them. */
export function withTables(text: string): string {
  return tablesIn(text).reduce((result, name) => {
    const place = new RegExp(`(<!-- ${name} -->\n).*?(<!-- /${name} -->)`, 's')
    const table = TABLES[name]?.() ?? ''
    return result.replace(place, (_whole, before: string, after: string) => `${before}\n${table}\n\n${after}`)
  }, text)
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [lineOf(head), lineOf(head.map(() => '---')), ...rows.map(lineOf)].join('\n')
}

function flagOf({ flag }: EnvRow<unknown>): string {
  return flag === undefined ? '' : code(`--${flag}`)
}

function code(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `\`${text}\``
}

if (import.meta.main) {
  for (const path of documents()) {
    const before = readDocument(path)
    const after = withTables(before)
    if (after !== before) writeFileSync(join(root, path), after)
  }
}
