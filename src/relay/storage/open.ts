/**
 * The database of the relay: a file of SQLite, or PostgreSQL for several relays at once.
 *
 * Holds on both: transactions are as if one came after another.
 *
 * @module
 */
import { CompiledQuery, type Dialect, Kysely, SqliteDialect, type Transaction } from 'kysely'
import { Migrator } from 'kysely/migration'
import { isBusy } from '../../core/database.ts'
import { CtError } from '../../core/errors.ts'
import { ensureOwnFile } from '../../core/secret-file.ts'
import { Backoff, pause } from '../../core/time.ts'
import { type DatabaseLocation, nameOf } from './location.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { isAway, isOvertaken, openPostgres } from './postgres.ts'
import { type Schema } from './schema.ts'
import { openSqliteFace } from './sqlite.ts'
import { type Bell, type Topic, type Wakes, wakesOf } from './wakes.ts'
import { type WithClock } from './with-clock.ts'

/** What queries run with, inside a transaction or outside. */
export type Sql = Kysely<Schema>

/** Tells who waits for a topic, when the transaction is over. */
export type Wake = (topic: Topic) => void

/** What the work of one transaction is done with. */
export interface Inside {
  readonly sql: Sql
  readonly wake: Wake
}

export interface Database {
  readonly sql: Sql
  readonly wakes: Wakes
  /**
   * All of `work` or nothing; what it throws is thrown on. It may be done again when others came between, so it does
   * nothing but read and write with the `sql` that it is handed, and say who is to be woken once all is kept.
   */
  readonly transaction: <Result>(work: (sql: Sql, wake: Wake) => Promise<Result>) => Promise<Result>
  /** Resolves when the database answers. */
  readonly check: () => Promise<void>
  readonly close: () => Promise<void>
}

/** So often is a transaction done again that others came between. */
const MAX_ATTEMPTS = 12
const OVERTAKEN = { baseMs: 2, capMs: 200, stableMs: Infinity }

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` when it cannot be used, or is of a newer version */
export async function openDatabase(location: DatabaseLocation, world: WithClock): Promise<Database> {
  try {
    const { dialect, bell } = await openEngine(location, world)
    const sql = new Kysely<Schema>({ dialect })
    await migrate(sql, location.kind).catch(async (error: unknown) => {
      await sql.destroy()
      throw error
    })
    const wakes = wakesOf(world.clock, bell)
    return {
      sql,
      wakes,
      transaction: async (work) => {
        let topics: Topic[] = []
        const result = await transact(sql, location.kind, world, (inside) => {
          topics = []
          return work(inside, (topic) => topics.push(topic))
        })
        for (const topic of new Set(topics)) wakes.wake(topic)
        return result
      },
      check: async () => {
        await sql.executeQuery(CompiledQuery.raw('select 1'))
      },
      close: async () => {
        await wakes.close()
        await sql.destroy()
      },
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CtError('ERR_STATE_UNAVAILABLE', `cannot use the database ${nameOf(location)}: ${reason}`, {
      cause: error,
    })
  }
}

async function openEngine(
  location: DatabaseLocation,
  world: WithClock,
): Promise<{ readonly dialect: Dialect; readonly bell?: Bell }> {
  if (location.kind === 'postgres') return openPostgres(location.url, world)
  ensureOwnFile(location.path)
  return { dialect: new SqliteDialect({ database: await openSqliteFace(location.path) }) }
}

async function transact<Result>(
  sql: Sql,
  kind: DatabaseLocation['kind'],
  { clock }: WithClock,
  work: (sql: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  if (kind === 'file') return sql.transaction().execute(work)
  const backoff = new Backoff(OVERTAKEN, Math.random)
  for (;;) {
    try {
      return await sql.transaction().setIsolationLevel('serializable').execute(work)
    } catch (error) {
      if (!isOvertaken(error) || backoff.failures >= MAX_ATTEMPTS) throw error
      await pause(clock, backoff.next(0))
    }
  }
}

/** True when the same request may be answered later. */
export function isUnavailable(error: unknown): boolean {
  return isBusy(error) || isAway(error) || isOvertaken(error)
}

async function migrate(sql: Sql, kind: DatabaseLocation['kind']): Promise<void> {
  const migrator = new Migrator({
    db: sql,
    provider: { getMigrations: () => Promise.resolve(MIGRATIONS) },
    ...(kind === 'postgres' ? { migrationTableSchema: await currentSchema(sql) } : {}),
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error))
}

/** Where tables are made: other schemas of the same database may hold another relay. */
async function currentSchema(sql: Sql): Promise<string> {
  const { rows } = await sql.executeQuery<{ name: string }>(CompiledQuery.raw('select current_schema() as name'))
  return rows[0]?.name ?? 'public'
}
