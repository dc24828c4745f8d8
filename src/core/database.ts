/**
 * A SQLite file that belongs to this user alone, and that several processes use at once.
 *
 * Holds: a change that returned is on the disk, whole; of one that failed nothing is. Nobody waits for another process
 * for longer than was said.
 *
 * @module
 */
import { type DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { CtError } from './errors.ts'
import { ensureOwnFile } from './secret-file.ts'

export interface DatabaseLayout {
  /** What is kept, for messages: `the list of members`. */
  readonly name: string
  readonly version: number
  /** Statements that make an empty file one of this version. */
  readonly schema: string
  /** Statements that only compile where tables and columns are as expected: what is not shall show when it is opened. */
  readonly columns?: readonly string[]
}

export type Row = Readonly<Record<string, unknown>>

/** What the work of one transaction is done with. */
export interface Sql {
  readonly get: (sql: string, ...values: SQLInputValue[]) => Row | undefined
  readonly all: (sql: string, ...values: SQLInputValue[]) => readonly Row[]
  readonly run: (sql: string, ...values: SQLInputValue[]) => void
}

/** Nobody waits for an answer yet. */
const OPENING_TIMEOUT_MS = 5_000

/**
 * Opens the file, or begins one.
 *
 * @param patienceMs how long a transaction waits for other processes
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export async function openDatabase(path: string, layout: DatabaseLayout, patienceMs: number): Promise<Database> {
  ensureOwnFile(path)
  let sqlite: DatabaseSync | undefined
  try {
    sqlite = await openSqlite(path)
    prepare(sqlite, layout)
    const database = new Database(sqlite, path, layout.name)
    database.waitFor(patienceMs)
    return database
  } catch (error) {
    sqlite?.close()
    throw unusable(path, layout.name, error)
  }
}

/** The file, or a new one: what was committed is on the disk, and another process is waited for. */
export async function openSqlite(path: string): Promise<DatabaseSync> {
  const { DatabaseSync: Sqlite } = await import('node:sqlite')
  const sqlite = new Sqlite(path)
  try {
    sqlite.exec(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

function prepare(sqlite: DatabaseSync, { version, schema, columns = [] }: DatabaseLayout): void {
  sqlite.exec('BEGIN IMMEDIATE')
  const found = Number(sqlite.prepare('PRAGMA user_version').get()?.['user_version'])
  if (found !== 0 && found !== version) throw new Error(`expected layout ${version}, found ${found}; update ct-agent`)
  if (found === 0) sqlite.exec(`${schema}; PRAGMA user_version = ${version}`)
  for (const sql of columns) sqlite.prepare(sql)
  sqlite.exec('COMMIT')
}

export class Database implements Sql {
  readonly #sqlite: DatabaseSync
  readonly #path: string
  readonly #name: string
  /** As many as there are texts in the program. */
  readonly #compiled = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  #seen: unknown
  #patienceMs = OPENING_TIMEOUT_MS

  constructor(sqlite: DatabaseSync, path: string, name: string) {
    this.#sqlite = sqlite
    this.#path = path
    this.#name = name
    this.#seen = this.#dataVersion()
  }

  /** What is read in one go is all of one moment. @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY` */
  read<Result>(work: () => Result): Result {
    return this.#transaction('BEGIN', work)
  }

  /** @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY` when others have it for too long; what `work` throws */
  update<Result>(work: () => Result): Result {
    return this.#transaction('BEGIN IMMEDIATE', work)
  }

  /** So long a transaction waits for other processes from now on. */
  waitFor(patienceMs: number): void {
    if (this.#patienceMs !== patienceMs) this.#sqlite.exec(`PRAGMA busy_timeout = ${patienceMs}`)
    this.#patienceMs = patienceMs
  }

  /** True when somebody else has changed the file since this was asked the last time. */
  changedElsewhere(): boolean {
    const before = this.#seen
    this.#seen = this.#dataVersion()
    return this.#seen !== before
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#compile(sql).get(...values)
  }

  all(sql: string, ...values: SQLInputValue[]): readonly Row[] {
    return this.#compile(sql).all(...values)
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#compile(sql).run(...values)
  }

  close(): void {
    if (this.#sqlite.isOpen) this.#sqlite.close()
  }

  #dataVersion(): unknown {
    try {
      return this.get('PRAGMA data_version')?.['data_version']
    } catch (error) {
      throw unusable(this.#path, this.#name, error)
    }
  }

  #compile(sql: string): ReturnType<DatabaseSync['prepare']> {
    const known = this.#compiled.get(sql)
    if (known !== undefined) return known
    const statement = this.#sqlite.prepare(sql)
    this.#compiled.set(sql, statement)
    return statement
  }

  #transaction<Result>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => Result): Result {
    try {
      this.#sqlite.exec(begin)
      const result = work()
      this.#sqlite.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#sqlite.isOpen && this.#sqlite.isTransaction) this.#sqlite.exec('ROLLBACK')
      throw sqliteCode(error) === undefined ? error : unusable(this.#path, this.#name, error)
    }
  }
}

function unusable(path: string, name: string, error: unknown): CtError {
  const options = { cause: error, detail: { path } }
  if (isBusy(error)) {
    return new CtError('ERR_PEER_BUSY', `another process has been writing ${name} for too long`, options)
  }
  const reason = error instanceof Error ? error.message : String(error)
  return new CtError('ERR_STATE_UNAVAILABLE', `cannot use ${name} ${path}: ${reason}`, options)
}

/** True when another process has the file for itself. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY
}

/** The primary result code of an error of SQLite. @see https://www.sqlite.org/rescode.html */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

const SQLITE_BUSY = 5
