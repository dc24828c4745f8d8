/**
 * The tables of a book of sales.
 *
 * Holds: amounts and times are texts of decimal digits, since SQLite's integers have 63 bits; where they are compared,
 * all have the same number of digits.
 *
 * @module
 */

import { type Row, type Sql } from '../core/database.ts'
import { type Hash, type HolderId } from '../core/ids.ts'
import { type U64, type UnixSeconds, u64 } from '../core/u64.ts'
import { BidCounts } from './bid-counts.ts'
import { type BidWindow, type BookPage, type KeptOffer, type NewSale, type Sale } from './book.ts'

export const SCHEMA = `
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE sales (
  number INTEGER PRIMARY KEY,
  bid TEXT NOT NULL UNIQUE,
  match_ref TEXT NOT NULL UNIQUE,
  consumer TEXT NOT NULL,
  match TEXT NOT NULL,
  service TEXT,
  units TEXT NOT NULL,
  issued_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  receipts INTEGER NOT NULL DEFAULT 0,
  units_receipted TEXT NOT NULL DEFAULT '0'
) STRICT;
CREATE INDEX sales_by_end ON sales (expires_at, number);
CREATE INDEX sales_by_consumer ON sales (consumer);
CREATE TABLE windows (seconds TEXT NOT NULL UNIQUE, began TEXT NOT NULL, peers INTEGER NOT NULL) STRICT;
CREATE TABLE bids (
  seconds TEXT NOT NULL,
  peer TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (seconds, peer)
) STRICT, WITHOUT ROWID;
CREATE TABLE receipts (receipt TEXT PRIMARY KEY, match_ref TEXT NOT NULL) STRICT;
CREATE INDEX receipts_of_match ON receipts (match_ref);
`

/** What is not as expected shall show at the start, not at the first bid. */
export const COLUMNS = [
  'SELECT name, value FROM facts',
  `SELECT number, bid, match_ref, consumer, match, service, units, issued_at, expires_at, receipts, units_receipted
   FROM sales`,
  'SELECT seconds, began, peers FROM windows',
  'SELECT seconds, peer, count FROM bids',
  'SELECT receipt, match_ref FROM receipts',
] as const

export class FilePage implements BookPage {
  readonly #sql: Sql
  readonly #counts: BidCounts

  constructor(sql: Sql) {
    this.#sql = sql
    this.#counts = new BidCounts(sql)
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
    return saleOf(this.#sql.get('SELECT * FROM sales WHERE bid = ?', bid))
  }

  findByMatch(matchRef: Hash): Sale | undefined {
    return saleOf(this.#sql.get('SELECT * FROM sales WHERE match_ref = ?', matchRef))
  }

  addSale({ bid, matchRef, consumer, match, service, units, issuedAt, expiresAt }: NewSale): void {
    this.#sql.run(
      `INSERT INTO sales (bid, match_ref, consumer, match, service, units, issued_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[bid, matchRef, consumer, match, service ?? null],
      ...[units.toString(), issuedAt.toString(), sortable(expiresAt)],
    )
    this.#setFact('sold', (this.sold() + units).toString())
    this.#setFact('sales', String(this.countSales() + 1))
  }

  countSales(): number {
    return Number(this.#fact('sales') ?? '0')
  }

  hasBuyer(peer: HolderId): boolean {
    return this.#sql.get('SELECT 1 FROM sales WHERE consumer = ? LIMIT 1', peer) !== undefined
  }

  forgetSale(expiredAt: UnixSeconds): boolean {
    const first = this.#sql.get(
      'SELECT number, match_ref FROM sales WHERE expires_at <= ? ORDER BY expires_at, number LIMIT 1',
      sortable(expiredAt),
    )
    if (first === undefined) return false
    this.#sql.run('DELETE FROM sales WHERE number = ?', Number(first['number']))
    this.#sql.run('DELETE FROM receipts WHERE match_ref = ?', String(first['match_ref']))
    this.#setFact('sales', String(this.countSales() - 1))
    return true
  }

  latestSales(most: number): readonly Sale[] {
    const rows = this.#sql.all('SELECT * FROM sales ORDER BY number DESC LIMIT ?', most)
    return rows.flatMap((row) => saleOf(row) ?? [])
  }

  clear(): void {
    this.#sql.run('DELETE FROM sales')
    this.#sql.run('DELETE FROM receipts')
    this.#sql.run("DELETE FROM facts WHERE name IN ('offer', 'terms', 'sold', 'sales')")
  }

  bidsOf(peer: HolderId, window: BidWindow): number | undefined {
    return this.#counts.bidsOf(peer, window)
  }

  countBid(peer: HolderId, window: BidWindow): number | undefined {
    return this.#counts.countBid(peer, window)
  }

  hasReceipt(receipt: Hash): boolean {
    return this.#sql.get('SELECT 1 FROM receipts WHERE receipt = ?', receipt) !== undefined
  }

  addReceipt(receipt: Hash, matchRef: Hash, units: U64): void {
    this.#sql.run('INSERT INTO receipts VALUES (?, ?)', receipt, matchRef)
    const receipted = (this.findByMatch(matchRef)?.unitsReceipted ?? 0n) + units
    this.#sql.run(
      'UPDATE sales SET receipts = receipts + 1, units_receipted = ? WHERE match_ref = ?',
      receipted.toString(),
      matchRef,
    )
  }

  #fact(name: string): string | undefined {
    const row = this.#sql.get('SELECT value FROM facts WHERE name = ?', name)
    return row === undefined ? undefined : String(row['value'])
  }

  #setFact(name: string, value: string): void {
    this.#sql.run(
      'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      name,
      value,
    )
  }
}

function saleOf(row: Row | undefined): Sale | undefined {
  if (row === undefined) return undefined
  const amount = (column: string): U64 => u64(BigInt(String(row[column])))
  return {
    bid: row['bid'] as Hash,
    matchRef: row['match_ref'] as Hash,
    consumer: row['consumer'] as HolderId,
    match: String(row['match']),
    service: row['service'] === null ? undefined : String(row['service']),
    units: amount('units'),
    issuedAt: amount('issued_at'),
    expiresAt: amount('expires_at'),
    receipts: Number(row['receipts']),
    unitsReceipted: amount('units_receipted'),
  }
}

/** Digits of one length, so that texts are in order as the numbers are. */
function sortable(value: U64): string {
  return value.toString().padStart(U64_DIGITS, '0')
}

const U64_DIGITS = 20
