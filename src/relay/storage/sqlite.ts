/**
 * A file of SQLite behind the face that the query builder asks for.
 *
 * @module
 */
import { type SQLInputValue } from 'node:sqlite'
import { type SqliteDatabase, type SqliteStatement } from 'kysely'
import { openSqlite } from '../../core/database.ts'

/** Statements that are kept ready; more would be texts made up on the way. */
const MAX_PREPARED = 512

export async function openSqliteFace(path: string): Promise<SqliteDatabase> {
  const file = await openSqlite(path)
  const prepared = new Map<string, SqliteStatement>()
  const prepare = (text: string): SqliteStatement => {
    // One that begins to read and then writes would fail where another process wrote in between.
    const statement = file.prepare(text === 'begin' ? 'begin immediate' : text)
    return {
      reader: statement.columns().length > 0,
      all: (values) => statement.all(...(values as SQLInputValue[])),
      run: (values) => statement.run(...(values as SQLInputValue[])),
      iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
    }
  }
  return {
    close: () => file.close(),
    prepare: (text) => {
      const known = prepared.get(text)
      if (known !== undefined) return known
      if (prepared.size >= MAX_PREPARED) prepared.clear()
      const statement = prepare(text)
      prepared.set(text, statement)
      return statement
    },
  }
}
