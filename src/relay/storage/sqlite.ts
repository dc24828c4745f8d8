/**
 * A file of SQLite behind the face that the query builder asks for.
 *
 * Holds: what a transaction committed is on the disk.
 *
 * @module
 */

import { type SQLInputValue, type StatementSync } from 'node:sqlite'
import { type SqliteDatabase } from 'kysely'

/** Statements that are kept ready; more would be texts made up on the way. */
const MAX_PREPARED = 512
const BUSY_TIMEOUT_MS = 5_000

export async function openSqlite(path: string): Promise<SqliteDatabase> {
  const { DatabaseSync } = await import('node:sqlite')
  const file = new DatabaseSync(path, { enableForeignKeyConstraints: true })
  file.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
  const prepared = new Map<string, StatementSync>()
  const prepare = (text: string): StatementSync => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    if (prepared.size >= MAX_PREPARED) prepared.clear()
    const statement = file.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  return {
    close: () => file.close(),
    prepare: (text) => {
      // One that begins to read and then writes would fail where another process wrote in between.
      const statement = prepare(text === 'begin' ? 'begin immediate' : text)
      return {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...(values as SQLInputValue[])),
        run: (values) => statement.run(...(values as SQLInputValue[])),
        iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
      }
    },
  }
}
