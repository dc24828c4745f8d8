/**
 * What is to be in the audit log, and has not been written yet.
 *
 * Holds: nobody ever waits for the disk. What a disk that is full or slow does not take waits here, up to
 * {@link MAX_WAITING}; what is lost then is counted, and the log says so as soon as it can be written again.
 *
 * @module
 */
import { type CtError } from '../../../core/errors.ts'
import { type Log } from '../../../core/log.ts'
import { type Clock } from '../../../core/time.ts'
import { type AuditFile } from './audit-file.ts'
import { type AuditEntry, type AuditFacts } from './audit-line.ts'
import { AuditSeries } from './audit-series.ts'

/** Some seconds of a busy agent; about 4 MB. */
export const MAX_WAITING = 10_000
/** What comes within this time shares a write. */
const BATCH_MS = 50
const MAX_BATCH = 1_000
/** A disk that failed is not tried again before. */
const RETRY_MS = 1_000

export interface AuditState {
  readonly path: string
  readonly written: number
  readonly dropped: number
  readonly waiting: number
  /** Why nothing can be written at the moment. */
  readonly problem?: CtError
  /** Number and hash of the last line that this process wrote. */
  readonly last?: { readonly sequence: number; readonly hash: string }
}

export class AuditLog {
  readonly #file: AuditFile
  readonly #clock: Clock
  readonly #log: Log
  #waiting: AuditEntry[] = []
  readonly #series = new Set<AuditSeries>()
  /** Entries that were lost since the last that was written. */
  #lost = 0
  #written = 0
  #dropped = 0
  #problem: CtError | undefined
  #cancel: (() => void) | undefined
  #writing: Promise<void> | undefined
  #isClosing = false
  #lastBegan = Number.NEGATIVE_INFINITY

  constructor(file: AuditFile, clock: Clock, log: Log) {
    this.#file = file
    this.#clock = clock
    this.#log = log
  }

  get state(): AuditState {
    const { head, path } = this.#file
    return {
      path,
      written: this.#written,
      dropped: this.#dropped,
      waiting: this.#waiting.length,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
      ...(head === undefined ? {} : { last: head }),
    }
  }

  record(event: string, facts: AuditFacts): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1
      this.#dropped += 1
    } else {
      this.#waiting.push({ event, at: this.#clock.now(), facts })
    }
    this.#schedule(this.#problem === undefined ? BATCH_MS : RETRY_MS)
  }

  /** For events that somebody could flood the log with. */
  series(event: string, common: AuditFacts): AuditSeries {
    return new AuditSeries({
      clock: this.#clock,
      record: (facts) => this.record(event, { ...common, ...facts }),
      onOpen: (series) => this.#series.add(series),
      onDone: (series) => this.#series.delete(series),
    })
  }

  /** Writes what waits, as far as the disk takes it in this time. */
  async close(deadlineMs: number): Promise<void> {
    for (const series of [...this.#series]) series.settle()
    this.#isClosing = true
    this.#cancel?.()
    const late = Promise.withResolvers<void>()
    const cancel = this.#clock.after(deadlineMs, late.resolve)
    await Promise.race([late.promise, this.#finish()])
    cancel()
    this.#file.close()
  }

  /** Two writes at once would write the same entries. */
  async #finish(): Promise<void> {
    await this.#writing
    while (this.#waiting.length > 0 && this.#problem === undefined) await this.#write()
  }

  // What comes alone is written at once.
  #schedule(withinMs: number): void {
    if (this.#cancel !== undefined || this.#writing !== undefined || this.#isClosing) return
    const delayMs = Math.max(0, this.#lastBegan + withinMs - this.#clock.monotonic())
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#cancel = undefined
      this.#lastBegan = this.#clock.monotonic()
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
        if (this.#waiting.length > 0) this.#schedule(this.#problem === undefined ? BATCH_MS : RETRY_MS)
      })
    })
  }

  async #write(): Promise<void> {
    const lost = this.#lost
    const notes = lost === 0 ? [] : [{ event: 'dropped', at: this.#clock.now(), facts: { count: lost } }]
    // What waits is older than what was lost.
    const batch = this.#waiting.slice(0, MAX_BATCH)
    const isAll = batch.length === this.#waiting.length
    const entries = isAll ? [...batch, ...notes] : batch
    const { written, failure } = await this.#file.append(entries)
    this.#waiting = this.#waiting.slice(Math.min(written, batch.length))
    this.#written += written
    if (isAll && written > batch.length) this.#lost -= lost
    this.#tell(failure)
  }

  #tell(failure: CtError | undefined): void {
    if (failure !== undefined && this.#problem === undefined) {
      this.#log.warn('audit.not_written', { path: this.#file.path, reason: failure.message })
    }
    if (failure === undefined && this.#problem !== undefined) this.#log.warn('audit.written_again', {})
    this.#problem = failure
  }
}
