/**
 * The book of sales as a file: a SQLite database, since its transactions hold between processes and over a crash.
 *
 * Holds: an update that returned is on the disk. Amounts are texts of decimal digits: SQLite's integers have 63 bits.
 *
 * @module
 */
import { type DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { CtError } from '../core/errors.ts'
import { type Hash, type HolderId } from '../core/ids.ts'
import { ensureOwnFile } from '../core/secret-file.ts'
import { type U64, type UnixSeconds, u64 } from '../core/u64.ts'
import { type BookPage, type KeptOffer, type Sale, type SalesBook } from './book.ts'

/** Another process holds the file for one update at a time, which takes milliseconds. */
const BUSY_TIMEOUT_MS = 5_000

const SCHEMA_VERSION = 1
const SCHEMA = `
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE sales (
  number INTEGER PRIMARY KEY,
  bid TEXT NOT NULL UNIQUE,
  match_ref TEXT NOT NULL UNIQUE,
  match TEXT NOT NULL,
  units TEXT NOT NULL,
  expires_at TEXT NOT NULL
) STRICT;
CREATE TABLE bids (peer TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;
CREATE TABLE receipts (receipt TEXT PRIMARY KEY, match_ref TEXT NOT NULL, units TEXT NOT NULL) STRICT;
CREATE INDEX receipts_of_match ON receipts (match_ref);
PRAGMA user_version = ${SCHEMA_VERSION};
`

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
    return new FileBook(database)
  } catch (error) {
    database?.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new CtError('ERR_STATE_UNAVAILABLE', `cannot use the book of sales ${path}: ${reason}`, {
      cause: error,
      detail: { path },
    })
  }
}

function prepare(database: DatabaseSync): void {
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
  database.exec('BEGIN IMMEDIATE')
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (found !== 0 && found !== SCHEMA_VERSION) {
    throw new Error(`expected layout ${SCHEMA_VERSION}, found ${found}; update ct-agent`)
  }
  if (found === 0) database.exec(SCHEMA)
  // What is not as expected shall show at the start, not at the first bid.
  for (const sql of COLUMNS) database.prepare(sql)
  database.exec('COMMIT')
}

const COLUMNS = [
  'SELECT name, value FROM facts',
  'SELECT number, bid, match_ref, match, units, expires_at FROM sales',
  'SELECT peer, count FROM bids',
  'SELECT receipt, match_ref, units FROM receipts',
] as const

type Row = Readonly<Record<string, unknown>>

class FileBook implements SalesBook, BookPage {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  update<Result>(work: (page: BookPage) => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = work(this)
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#database.close()
  }

  offer(): KeptOffer | undefined {
    const [offer, terms] = [this.#fact('offer'), this.#fact('terms')]
    return offer === undefined || terms === undefined ? undefined : { offer, terms }
  }

  keepOffer({ offer, terms }: KeptOffer): void {
    this.#setFact('offer', offer)
    this.#setFact('terms', terms)
  }

  sold(): U64 {
    return u64(BigInt(this.#fact('sold') ?? '0'))
  }

  findByBid(bid: Hash): Sale | undefined {
    return saleOf(this.#get('SELECT * FROM sales WHERE bid = ?', bid))
  }

  findByMatch(matchRef: Hash): Sale | undefined {
    return saleOf(this.#get('SELECT * FROM sales WHERE match_ref = ?', matchRef))
  }

  addSale({ bid, matchRef, match, units, expiresAt }: Sale): void {
    this.#run(
      'INSERT INTO sales (bid, match_ref, match, units, expires_at) VALUES (?, ?, ?, ?, ?)',
      bid,
      matchRef,
      match,
      units.toString(),
      sortable(expiresAt),
    )
    this.#setFact('sold', (this.sold() + units).toString())
  }

  countSales(): number {
    return Number(this.#get('SELECT count(*) AS count FROM sales')?.['count'])
  }

  forgetSale(expiredAt: U64): boolean {
    const oldest = this.#get(
      'SELECT number, match_ref FROM sales WHERE expires_at <= ? ORDER BY number LIMIT 1',
      sortable(expiredAt),
    )
    if (oldest === undefined) return false
    this.#run('DELETE FROM sales WHERE number = ?', Number(oldest['number']))
    this.#run('DELETE FROM receipts WHERE match_ref = ?', String(oldest['match_ref']))
    return true
  }

  latestSales(most: number): readonly Sale[] {
    const rows = this.#prepared('SELECT * FROM sales ORDER BY number DESC LIMIT ?').all(most)
    return rows.flatMap((row) => saleOf(row) ?? [])
  }

  clear(): void {
    this.#run('DELETE FROM sales')
    this.#run('DELETE FROM receipts')
    this.#run("DELETE FROM facts WHERE name IN ('offer', 'terms', 'sold')")
  }

  countBid(peer: HolderId, windowBegan: UnixSeconds, maxPeers: number): number | undefined {
    const kept = BigInt(this.#fact('window') ?? '-1')
    // A clock that was set back begins no window anew, and one that had been far ahead locks nobody out until then.
    if (windowBegan > kept) this.#run('DELETE FROM bids')
    if (windowBegan !== kept) this.#setFact('window', windowBegan.toString())
    const count = this.#get('SELECT count FROM bids WHERE peer = ?', peer)?.['count']
    if (count === undefined && Number(this.#get('SELECT count(*) AS peers FROM bids')?.['peers']) >= maxPeers) {
      return undefined
    }
    const next = Number(count ?? 0) + 1
    this.#run('INSERT INTO bids VALUES (?, ?) ON CONFLICT (peer) DO UPDATE SET count = excluded.count', peer, next)
    return next
  }

  hasReceipt(receipt: Hash): boolean {
    return this.#get('SELECT 1 FROM receipts WHERE receipt = ?', receipt) !== undefined
  }

  receiptsOf(matchRef: Hash): { readonly count: number; readonly units: bigint } {
    const rows = this.#prepared('SELECT units FROM receipts WHERE match_ref = ?').all(matchRef)
    return { count: rows.length, units: rows.reduce((sum, { units }) => sum + BigInt(String(units)), 0n) }
  }

  addReceipt(receipt: Hash, matchRef: Hash, units: U64): void {
    this.#run('INSERT INTO receipts VALUES (?, ?, ?)', receipt, matchRef, units.toString())
  }

  #fact(name: string): string | undefined {
    const row = this.#get('SELECT value FROM facts WHERE name = ?', name)
    return row === undefined ? undefined : String(row['value'])
  }

  #setFact(name: string, value: string): void {
    this.#run('INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value', name, value)
  }

  #get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values)
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#prepared(sql).run(...values)
  }

  #prepared(sql: string): ReturnType<DatabaseSync['prepare']> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

function saleOf(row: Row | undefined): Sale | undefined {
  if (row === undefined) return undefined
  return {
    bid: row['bid'] as Hash,
    matchRef: row['match_ref'] as Hash,
    match: String(row['match']),
    units: u64(BigInt(String(row['units']))),
    expiresAt: u64(BigInt(String(row['expires_at']))),
  }
}

/** Digits of one length, so that texts are in order as the numbers are. */
function sortable(value: U64): string {
  return value.toString().padStart(U64_DIGITS, '0')
}

const U64_DIGITS = 20
