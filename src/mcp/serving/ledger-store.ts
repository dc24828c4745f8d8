/**
 * The memory of the call ledger: records of runs, their calls, and the bounds on both.
 *
 * Holds: kept results and records are bounded for each peer and for all together, and the peer that keeps most gives
 * way first, so one peer cannot push out what is kept for the others. A dropped result leaves its call `forgotten`.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type HolderId, type InstanceId } from '../../core/ids.ts'

/** Results kept for one peer: two of the largest messages, or many thousand usual ones. */
export const MAX_KEPT_BYTES_PER_PEER = 16 * 1_048_576
/** Results kept for all peers. */
export const MAX_KEPT_BYTES = 64 * 1_048_576
/** Runs of one peer; each one-shot call of a shell script that does not say goodbye is one. */
export const MAX_RECORDS_PER_PEER = 64
/** Runs of all peers. */
export const MAX_RECORDS = 4_096

export interface LedgerWaiter {
  /** Ordinal of the link that waits. */
  readonly link: number
  readonly answer: (text: string) => void
  readonly release: () => void
  readonly notify: ((text: string) => void) | undefined
}

export interface LedgerRun {
  /** Absent while the link that waited is broken. */
  waiter: LedgerWaiter | undefined
  /** Aborts the call and yields the response to remember. */
  stop: ((reason: CtError) => string) | undefined
  cancelGrace: (() => void) | undefined
}

export interface LedgerEntry {
  readonly digest: string
  /** Present while the call runs. */
  run: LedgerRun | undefined
  /** The response while it is kept. Neither running nor kept means forgotten. */
  text: string | undefined
}

export interface LedgerRecord {
  readonly peer: HolderId
  readonly instance: InstanceId
  readonly entries: Map<number, LedgerEntry>
  /** The caller will not ask for calls below this number again. */
  acknowledgedBelow: number
  /** From this number on, a call that is not in the record has never reached this program, before its start or after. */
  firstFresh: number
  /** Links that carried calls of this run and are up. */
  links: number
  cancelExpiry: (() => void) | undefined
}

interface Peer {
  /** Oldest first. */
  readonly records: Map<InstanceId, LedgerRecord>
  /** Entries with a kept response, oldest first. */
  readonly kept: Set<LedgerEntry>
  keptBytes: number
}

export class LedgerStore {
  readonly #peers = new Map<HolderId, Peer>()
  #records = 0
  #keptBytes = 0

  find(holder: HolderId, instance: InstanceId): LedgerRecord | undefined {
    return this.#peers.get(holder)?.records.get(instance)
  }

  /** A new record, at the cost of an old one if need be; `undefined` when all of them are in use. */
  create(holder: HolderId, instance: InstanceId, reason: CtError): LedgerRecord | undefined {
    const peer = this.#peers.get(holder)
    if (peer !== undefined && peer.records.size >= MAX_RECORDS_PER_PEER && !this.#evict(peer, reason)) return undefined
    if (this.#records >= MAX_RECORDS) {
      const largest = this.#largest(({ records }) => records.size)
      if (largest === undefined || !this.#evict(largest, reason)) return undefined
    }
    const record: LedgerRecord = {
      peer: holder,
      instance,
      entries: new Map(),
      acknowledgedBelow: 1,
      firstFresh: Number.POSITIVE_INFINITY,
      links: 0,
      cancelExpiry: undefined,
    }
    const owner = this.#peers.get(holder) ?? { records: new Map(), kept: new Set(), keptBytes: 0 }
    owner.records.set(instance, record)
    this.#peers.set(holder, owner)
    this.#records += 1
    return record
  }

  /** Ends a run with its response; does nothing when it was stopped before. */
  finish(record: LedgerRecord, entry: LedgerEntry, text: string): void {
    const { run } = entry
    if (run === undefined) return
    entry.run = undefined
    run.cancelGrace?.()
    this.#keep(record, entry, text)
    run.waiter?.answer(text)
  }

  /** Ends a run without waiting for it; whoever waits gets no answer here. */
  stop(record: LedgerRecord, entry: LedgerEntry, reason: CtError): void {
    const { run } = entry
    if (run === undefined) return
    entry.run = undefined
    run.cancelGrace?.()
    const text = run.stop?.(reason)
    if (text !== undefined) this.#keep(record, entry, text)
    run.waiter?.release()
  }

  /** Forgets the calls below the mark; those that still run have nobody who wants them. */
  acknowledge(record: LedgerRecord, below: number, reason: CtError): void {
    if (below <= record.acknowledgedBelow) return
    // The peer chooses the mark, so the distance to it is no bound for the work.
    const from = record.acknowledgedBelow
    record.acknowledgedBelow = below
    if (below - from <= record.entries.size) {
      for (let sequence = from; sequence < below; sequence += 1) this.#forget(record, sequence, reason)
      return
    }
    for (const sequence of [...record.entries.keys()]) if (sequence < below) this.#forget(record, sequence, reason)
  }

  /** Stops what runs in the record and forgets it. */
  drop(record: LedgerRecord, reason: CtError): void {
    const peer = this.#peers.get(record.peer)
    if (peer?.records.get(record.instance) !== record) return
    record.cancelExpiry?.()
    for (const entry of record.entries.values()) {
      this.stop(record, entry, reason)
      this.#release(record.peer, entry)
    }
    peer.records.delete(record.instance)
    this.#records -= 1
    if (peer.records.size === 0) this.#peers.delete(record.peer)
  }

  expel(isGone: (holder: HolderId) => boolean, reason: CtError): void {
    for (const [holder, { records }] of this.#peers) {
      if (isGone(holder)) for (const record of records.values()) this.drop(record, reason)
    }
  }

  clear(reason: CtError): void {
    for (const { records } of this.#peers.values()) for (const record of records.values()) this.drop(record, reason)
  }

  #forget(record: LedgerRecord, sequence: number, reason: CtError): void {
    const entry = record.entries.get(sequence)
    if (entry === undefined) return
    this.stop(record, entry, reason)
    this.#release(record.peer, entry)
    record.entries.delete(sequence)
  }

  #keep(record: LedgerRecord, entry: LedgerEntry, text: string): void {
    const peer = this.#peers.get(record.peer)
    // A call may end after its record was dropped.
    if (peer === undefined || peer.records.get(record.instance) !== record) return
    entry.text = text
    peer.kept.add(entry)
    peer.keptBytes += sizeOf(text)
    this.#keptBytes += sizeOf(text)
    while (peer.keptBytes > MAX_KEPT_BYTES_PER_PEER) this.#releaseOldest(record.peer, peer)
    while (this.#keptBytes > MAX_KEPT_BYTES) {
      const largest = this.#largest(({ keptBytes }) => keptBytes)
      const holder = largest?.records.values().next().value?.peer
      if (largest === undefined || holder === undefined) break
      this.#releaseOldest(holder, largest)
    }
  }

  #releaseOldest(holder: HolderId, { kept }: Peer): void {
    for (const entry of kept) {
      this.#release(holder, entry)
      return
    }
  }

  #release(holder: HolderId, entry: LedgerEntry): void {
    const peer = this.#peers.get(holder)
    if (peer === undefined || entry.text === undefined || !peer.kept.delete(entry)) return
    peer.keptBytes -= sizeOf(entry.text)
    this.#keptBytes -= sizeOf(entry.text)
    entry.text = undefined
  }

  /** Drops the peer's oldest record that no link uses. */
  #evict(peer: Peer, reason: CtError): boolean {
    for (const record of peer.records.values()) {
      if (record.links > 0) continue
      this.drop(record, reason)
      return true
    }
    return false
  }

  #largest(size: (peer: Peer) => number): Peer | undefined {
    let largest: Peer | undefined
    for (const peer of this.#peers.values()) {
      if (largest === undefined || size(peer) > size(largest)) largest = peer
    }
    return largest
  }
}

/** Upper bound of the memory a text takes. */
function sizeOf(text: string): number {
  return text.length * 2
}
