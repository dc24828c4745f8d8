/**
 * The book of sales as a file: a SQLite database, since its transactions hold between processes and over a crash.
 *
 * Holds: an update that returned is on the disk; one that changed nothing writes nothing. While a seller serves, no other
 * process keeps its event loop waiting for longer than a moment: it rather refuses.
 *
 * @module
 */
import { type DatabaseSync } from 'node:sqlite'
import { CtError, isCtError } from '../core/errors.ts'
import { ensureOwnFile } from '../core/secret-file.ts'
import { type BookPage, type BookView, type SalesBook } from './book.ts'
import { COLUMNS, FilePage, SCHEMA } from './book-page.ts'
import { Statements } from './statements.ts'

/** Another process holds the file for one update at a time, which takes milliseconds; longer than this is a fault. */
const BUSY_TIMEOUT_MS = 250
/** After such a fault, until an update succeeds: many bids that wait one after the other would add up. */
const FAULTY_TIMEOUT_MS = 10
/** Nobody waits for an answer yet. */
const OPENING_TIMEOUT_MS = 5_000

const SCHEMA_VERSION = 1

/**
 * Opens the book, or begins one.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export async function openBook(path: string): Promise<SalesBook> {
  ensureOwnFile(path)
  const { DatabaseSync: Database } = await import('node:sqlite')
  let database: DatabaseSync | undefined
  try {
    database = new Database(path)
    prepare(database)
    return new FileBook(database, path)
  } catch (error) {
    database?.close()
    throw unusable(path, error)
  }
}

function prepare(database: DatabaseSync): void {
  database.exec(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
  database.exec('BEGIN IMMEDIATE')
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (found !== 0 && found !== SCHEMA_VERSION) {
    throw new Error(`expected layout ${SCHEMA_VERSION}, found ${found}; update ct-agent`)
  }
  if (found === 0) database.exec(`${SCHEMA}; PRAGMA user_version = ${SCHEMA_VERSION}`)
  for (const sql of COLUMNS) database.prepare(sql)
  database.exec('COMMIT')
}

class FileBook implements SalesBook {
  readonly #database: DatabaseSync
  readonly #path: string
  readonly #page: FilePage
  #patience = OPENING_TIMEOUT_MS

  constructor(database: DatabaseSync, path: string) {
    this.#database = database
    this.#path = path
    this.#page = new FilePage(new Statements(database))
    this.#wait(BUSY_TIMEOUT_MS)
  }

  read<Result>(work: (page: BookView) => Result): Result {
    return this.#transaction('BEGIN', work)
  }

  update<Result>(work: (page: BookPage) => Result): Result {
    try {
      const result = this.#transaction('BEGIN IMMEDIATE', work)
      this.#wait(BUSY_TIMEOUT_MS)
      return result
    } catch (error) {
      if (isCtError(error, 'ERR_PEER_BUSY')) this.#wait(FAULTY_TIMEOUT_MS)
      throw error
    }
  }

  close(): void {
    this.#database.close()
  }

  #wait(forMs: number): void {
    if (this.#patience !== forMs) this.#database.exec(`PRAGMA busy_timeout = ${forMs}`)
    this.#patience = forMs
  }

  #transaction<Result>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: (page: BookPage) => Result): Result {
    try {
      this.#database.exec(begin)
      const result = work(this.#page)
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw sqliteCode(error) === undefined ? error : unusable(this.#path, error)
    }
  }
}

function unusable(path: string, error: unknown): CtError {
  const options = { cause: error, detail: { path } }
  if (sqliteCode(error) === SQLITE_BUSY) {
    return new CtError('ERR_PEER_BUSY', 'another process has been writing the book of sales for too long', options)
  }
  const reason = error instanceof Error ? error.message : String(error)
  return new CtError('ERR_STATE_UNAVAILABLE', `cannot use the book of sales ${path}: ${reason}`, options)
}

/** The primary result code of an error of SQLite. @see https://www.sqlite.org/rescode.html */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

const SQLITE_BUSY = 5
