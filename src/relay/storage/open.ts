/**
 * The database of the relay: a file of SQLite.
 *
 * @module
 */
import { CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import { CtError } from '../../core/errors.ts'
import { ensureOwnFile } from '../../core/secret-file.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { type Schema } from './schema.ts'
import { openSqliteFace } from './sqlite.ts'

/** What queries run with, inside a transaction or outside. */
export type Sql = Kysely<Schema>

export interface Database {
  readonly sql: Sql
  /** All of `work` or nothing; what it throws is thrown on. Inside, only the `sql` that it is handed may be used. */
  readonly transaction: <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>
  /** Resolves when the database answers. */
  readonly check: () => Promise<void>
  readonly close: () => Promise<void>
}

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` when the file cannot be used, or is of a newer version */
export async function openDatabase(path: string): Promise<Database> {
  ensureOwnFile(path)
  try {
    const sql = new Kysely<Schema>({ dialect: new SqliteDialect({ database: await openSqliteFace(path) }) })
    await migrate(sql).catch(async (error: unknown) => {
      await sql.destroy()
      throw error
    })
    return {
      sql,
      transaction: (work) => sql.transaction().execute(work),
      check: async () => {
        await sql.executeQuery(CompiledQuery.raw('select 1'))
      },
      close: () => sql.destroy(),
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CtError('ERR_STATE_UNAVAILABLE', `cannot use the database ${path}: ${reason}`, { cause: error })
  }
}

async function migrate(sql: Sql): Promise<void> {
  const migrator = new Migrator({ db: sql, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error))
}
