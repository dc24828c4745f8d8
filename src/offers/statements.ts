/**
 * SQL statements of one database, each compiled once.
 *
 * @module
 */
import { type DatabaseSync, type SQLInputValue } from 'node:sqlite'

export type Row = Readonly<Record<string, unknown>>

export class Statements {
  readonly #database: DatabaseSync
  /** As many as there are texts in the program. */
  readonly #compiled = new Map<string, ReturnType<DatabaseSync['prepare']>>()

  constructor(database: DatabaseSync) {
    this.#database = database
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

  #compile(sql: string): ReturnType<DatabaseSync['prepare']> {
    const known = this.#compiled.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    this.#compiled.set(sql, statement)
    return statement
  }
}
