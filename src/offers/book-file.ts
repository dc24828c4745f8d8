/**
 * The book of sales as a file.
 *
 * Holds: an update that returned is on the disk; one that changed nothing writes nothing. While a seller serves, no other
 * process keeps its event loop waiting for longer than a moment: it rather refuses.
 *
 * @module
 */
import { type Database, openDatabase } from '../core/database.ts'
import { isCtError } from '../core/errors.ts'
import { type BookPage, type BookView, type SalesBook } from './book.ts'
import { COLUMNS, FilePage, SCHEMA } from './book-page.ts'

/** Another process holds the file for one update at a time, which takes milliseconds; longer than this is a fault. */
const BUSY_TIMEOUT_MS = 250
/** After such a fault, until an update succeeds: many bids that wait one after the other would add up. */
const FAULTY_TIMEOUT_MS = 10

const LAYOUT = { name: 'the book of sales', version: 1, schema: SCHEMA, columns: COLUMNS } as const

/**
 * Opens the book, or begins one.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export async function openBook(path: string): Promise<SalesBook> {
  return new FileBook(await openDatabase(path, LAYOUT, BUSY_TIMEOUT_MS))
}

class FileBook implements SalesBook {
  readonly #database: Database
  readonly #page: FilePage

  constructor(database: Database) {
    this.#database = database
    this.#page = new FilePage(database)
  }

  read<Result>(work: (page: BookView) => Result): Result {
    return this.#database.read(() => work(this.#page))
  }

  update<Result>(work: (page: BookPage) => Result): Result {
    try {
      const result = this.#database.update(() => work(this.#page))
      this.#database.waitFor(BUSY_TIMEOUT_MS)
      return result
    } catch (error) {
      if (isCtError(error, 'ERR_PEER_BUSY')) this.#database.waitFor(FAULTY_TIMEOUT_MS)
      throw error
    }
  }

  close(): void {
    this.#database.close()
  }
}
