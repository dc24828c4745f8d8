/**
 * A lock between processes that ends with the process that holds it. The system's own file locks do that, and SQLite is
 * the way to them here: nothing is ever written to its file.
 *
 * @module
 */
import { type DatabaseSync } from 'node:sqlite'
import { isBusy } from '../../../core/database.ts'
import { ensureOwnFile } from '../../../core/secret-file.ts'
import { type Clock, pause } from '../../../core/time.ts'

const RETRY_MS = 10

export class FileLock {
  readonly #database: DatabaseSync

  /** @throws {CtError} `ERR_STATE_UNAVAILABLE` */
  static async open(path: string): Promise<FileLock> {
    ensureOwnFile(path)
    const { DatabaseSync: Database } = await import('node:sqlite')
    const database = new Database(path)
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY')
    return new FileLock(database)
  }

  private constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** False while another one holds it. Never waits. */
  take(): boolean {
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }

  /** False when another one still holds it after that time. */
  async takeWithin(ms: number, clock: Clock): Promise<boolean> {
    for (let tries = ms / RETRY_MS; tries > 0; tries -= 1) {
      if (this.take()) return true
      await pause(clock, RETRY_MS)
    }
    return false
  }

  release(): void {
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
  }

  close(): void {
    this.#database.close()
  }
}
