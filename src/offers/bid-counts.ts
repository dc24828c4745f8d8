/**
 * How many bids each peer submitted, in the tables `windows` and `bids` of the book.
 *
 * Holds: processes whose windows differ in length never begin each other's windows anew. Each bid is counted in the
 * windows of all lengths, so that none gives a peer more than its own limit, and a new length goes on from the others.
 *
 * @module
 */

import { type Row, type Sql } from '../core/database.ts'
import { type HolderId } from '../core/ids.ts'
import { type U64, u64 } from '../core/u64.ts'
import { type BidWindow } from './book.ts'

/** Lengths of windows that a book knows, the latest; no operator has more processes on one book. */
const MAX_LENGTHS = 8

/** The windows of one length, of which the one that began then is counted. */
interface KeptWindow {
  readonly seconds: U64
  readonly began: bigint
  readonly peers: number
}

export class BidCounts {
  readonly #sql: Sql

  constructor(sql: Sql) {
    this.#sql = sql
  }

  bidsOf(peer: HolderId, { now, seconds, maxPeers }: BidWindow): number | undefined {
    const own = this.#window(seconds)
    // Only what counts a bid begins a window, or goes on with another.
    if (own?.began !== beginning(now, seconds)) return 0
    const count = this.#count(peer, seconds)
    return count === undefined && own.peers >= maxPeers ? undefined : (count ?? 0)
  }

  countBid(peer: HolderId, window: BidWindow): number | undefined {
    const { now, seconds, maxPeers } = window
    for (const kept of this.#windows()) this.#moveTo(beginning(now, kept.seconds), kept)
    if (this.#window(seconds) === undefined) this.#begin(window)
    if (this.bidsOf(peer, window) === undefined) return undefined
    for (const kept of this.#windows()) {
      const count = this.#count(peer, kept.seconds)
      if (count === undefined && kept.peers >= maxPeers) continue
      this.#setCount(peer, kept.seconds, (count ?? 0) + 1)
      if (count === undefined) this.#setPeers(kept.seconds, kept.peers + 1)
    }
    return this.#count(peer, seconds)
  }

  /** Begins windows of a length that no process had so far, with the counts of those that are known. */
  #begin({ now, seconds }: BidWindow): void {
    const length = seconds.toString()
    const known = this.#windows()
    const [oldest] = known
    if (oldest !== undefined && known.length >= MAX_LENGTHS) this.#forget(oldest.seconds)
    this.#sql.run('INSERT INTO bids SELECT ?, peer, max(count) FROM bids GROUP BY peer', length)
    const peers = Number(this.#sql.get('SELECT count(*) AS peers FROM bids WHERE seconds = ?', length)?.['peers'])
    this.#sql.run('INSERT INTO windows VALUES (?, ?, ?)', length, beginning(now, seconds).toString(), peers)
  }

  #forget(seconds: U64): void {
    this.#sql.run('DELETE FROM bids WHERE seconds = ?', seconds.toString())
    this.#sql.run('DELETE FROM windows WHERE seconds = ?', seconds.toString())
  }

  /** A clock that was set back begins no window anew, and one that had been far ahead locks nobody out until then. */
  #moveTo(began: bigint, kept: KeptWindow): void {
    if (began === kept.began) return
    const length = kept.seconds.toString()
    this.#sql.run('UPDATE windows SET began = ? WHERE seconds = ?', began.toString(), length)
    if (began < kept.began) return
    this.#sql.run('DELETE FROM bids WHERE seconds = ?', length)
    this.#setPeers(kept.seconds, 0)
  }

  #windows(): readonly KeptWindow[] {
    return this.#sql.all('SELECT seconds, began, peers FROM windows ORDER BY rowid').map(windowOf)
  }

  #window(seconds: U64): KeptWindow | undefined {
    const row = this.#sql.get('SELECT seconds, began, peers FROM windows WHERE seconds = ?', seconds.toString())
    return row === undefined ? undefined : windowOf(row)
  }

  #count(peer: HolderId, seconds: U64): number | undefined {
    const row = this.#sql.get('SELECT count FROM bids WHERE seconds = ? AND peer = ?', seconds.toString(), peer)
    return row === undefined ? undefined : Number(row['count'])
  }

  #setCount(peer: HolderId, seconds: U64, count: number): void {
    this.#sql.run('INSERT OR REPLACE INTO bids VALUES (?, ?, ?)', seconds.toString(), peer, count)
  }

  #setPeers(seconds: U64, peers: number): void {
    this.#sql.run('UPDATE windows SET peers = ? WHERE seconds = ?', peers, seconds.toString())
  }
}

function windowOf(row: Row): KeptWindow {
  return {
    seconds: u64(BigInt(String(row['seconds']))),
    began: BigInt(String(row['began'])),
    peers: Number(row['peers']),
  }
}

/** By its beginning and not by its number. */
function beginning(now: U64, seconds: U64): bigint {
  return seconds === 0n ? 0n : now - (now % seconds)
}
