/**
 * At most one execution of a call across reconnects: what every caller's run has asked for, what came of it, and who waits for it.
 *
 * Holds: a sequence number of a run is executed at most once, unless executing it again is harmless. A result is kept,
 * link or no link, until the caller acknowledges it; the answer goes to the newest link that asked. Forgetting never
 * leads to a second execution: a dropped result leaves its number behind, an acknowledged one lies below the mark, and
 * a re-sent call that this run of the program cannot account for is refused with `ERR_CALL_OUTCOME_UNKNOWN`.
 *
 * Relies on callers to send no call for the first time after one with a higher number, and to mark as re-sent whatever
 * they may have sent before. In which order calls arrive does not matter: one that is not marked has never been sent to
 * an earlier run of this program, hence neither has any with a higher number. A caller that lies harms only its own calls.
 *
 * @module
 */
import { hash } from 'node:crypto'
import { CtError } from '../../core/errors.ts'
import { type HolderId, type InstanceId } from '../../core/ids.ts'
import { type CallTag } from '../../core/link.ts'
import { type Clock } from '../../core/time.ts'
import { type LedgerEntry, type LedgerRecord, type LedgerRun, LedgerStore, type LedgerWaiter } from './ledger-store.ts'

/** A broken link may come back this long before the calls it carried are stopped. */
export const RESUME_GRACE_MS = 10_000
/** A run without any link is remembered this long. */
export const RECORD_TTL_MS = 600_000
/** Calls of one run that it has not acknowledged; callers keep within it by waiting. */
export const MAX_UNACKNOWLEDGED_CALLS = 1_024

/** What one call is, as far as the ledger cares. */
export interface LedgerCall {
  readonly tag: CallTag
  /** The request exactly as sent; a number must not be used for two different requests. */
  readonly request: Uint8Array
  /** True when executing the call a second time is harmless. */
  readonly isIdempotent: () => boolean
  /** Why nothing new may start now. */
  readonly refusal?: CtError | undefined
  /** The response for the caller. */
  readonly answer: (text: string) => void
  /** Nothing will be answered here: the call was cancelled, or a newer link asked for it. */
  readonly release: () => void
  /** Tells the caller something before the response, best effort. */
  readonly notify?: (text: string) => void
}

/** A call that runs, seen by the side that runs it or waits for it. */
export interface Execution {
  /** Says how to stop the call: abort it, and return the response to remember. */
  readonly onStop: (stop: (reason: CtError) => string) => void
  /** The response; ignored when the call was stopped before. */
  readonly finish: (text: string) => void
  /** Tells whoever waits now something before the response; nobody once it is there. */
  readonly notify: (text: string) => void
  /** The caller wants no answer. */
  readonly cancel: () => void
}

export type Admission =
  | { readonly kind: 'execute'; readonly execution: Execution }
  | { readonly kind: 'join'; readonly execution: Execution }
  | { readonly kind: 'replay'; readonly text: string }
  | { readonly kind: 'refuse'; readonly error: CtError }
  /** A late copy from a link older than the one that waits: answer nothing. */
  | { readonly kind: 'ignore' }

/** One link of one peer. */
export interface LedgerLink {
  readonly admit: (call: LedgerCall) => Admission
  /** @param final the peer will not come back by itself */
  readonly close: (final: boolean) => void
}

export interface CallLedger {
  /** @param freshRun the peer's run, if it has sent no tagged call before this link: whatever it re-sends is then known here */
  readonly open: (peer: HolderId, freshRun?: InstanceId) => LedgerLink
  /** Stops all that runs for these peers, with or without a link, and forgets what they asked. */
  readonly expel: (isGone: (peer: HolderId) => boolean) => void
  /** Stops all that runs and forgets everything. */
  readonly close: () => void
}

export function createCallLedger(clock: Clock): CallLedger {
  const store = new LedgerStore()
  let links = 0
  return {
    open: (peer, freshRun) => {
      links += 1
      const link = new Link(store, clock, peer, links)
      if (freshRun !== undefined) link.begin(freshRun)
      return link
    },
    expel: (isGone) => store.expel(isGone, EXPELLED),
    close: () => store.clear(stopped('the serving side is shutting down')),
  }
}

class Link implements LedgerLink {
  readonly #store: LedgerStore
  readonly #clock: Clock
  readonly #peer: HolderId
  /** Grows with every link, so that a late message of an old link cannot take an answer from a newer one. */
  readonly #ordinal: number
  readonly #records = new Set<LedgerRecord>()

  constructor(store: LedgerStore, clock: Clock, peer: HolderId, ordinal: number) {
    this.#store = store
    this.#clock = clock
    this.#peer = peer
    this.#ordinal = ordinal
  }

  /** From here on, a call of this run that is not in its record has never arrived. */
  begin(run: InstanceId): void {
    const record = this.#store.find(this.#peer, run) ?? this.#store.create(this.#peer, run, NOT_RESUMED)
    if (record === undefined) return
    if (record.entries.size === 0) record.firstFresh = Math.min(record.firstFresh, record.acknowledgedBelow)
    this.#attach(record)
  }

  admit(call: LedgerCall): Admission {
    const { instance, sequence, acknowledgedBelow, resent } = call.tag
    if (!isCount(sequence) || !isCount(acknowledgedBelow)) {
      return refuse('ERR_MESSAGE_INVALID', 'expected call numbers from 1 to 2^53 − 1')
    }
    let record = this.#store.find(this.#peer, instance)
    const digest = hash('sha256', call.request, 'base64')
    if (record !== undefined) {
      this.#attach(record)
      this.#store.acknowledge(record, acknowledgedBelow, GIVEN_UP)
    }
    if (sequence < Math.max(acknowledgedBelow, record?.acknowledgedBelow ?? 1)) {
      return unknown('its result was acknowledged before')
    }
    const known = record?.entries.get(sequence)
    if (record !== undefined && known !== undefined) {
      if (known.digest !== digest) {
        return refuse('ERR_CALL_INVALID', `call number ${sequence} was used for a different request`)
      }
      if (known.run !== undefined) return this.#join(record, known, known.run, call)
      if (known.text !== undefined) return { kind: 'replay', text: known.text }
      if (!call.isIdempotent()) return unknown('its result is no longer kept')
    }
    const accounted = known !== undefined || (record !== undefined && sequence >= record.firstFresh)
    const outcomeUnknown = resent && !accounted && !call.isIdempotent()
    if (call.refusal !== undefined && !outcomeUnknown) return { kind: 'refuse', error: call.refusal }
    record ??= this.#create(call)
    if (record === undefined || record.entries.size >= MAX_UNACKNOWLEDGED_CALLS) {
      if (outcomeUnknown) return unknown(NO_RECORD)
      return refuse('ERR_PEER_BUSY', 'too many calls are kept until their results are acknowledged')
    }
    if (outcomeUnknown) {
      // The number stays taken, or a late first copy of the call would still be executed.
      record.entries.set(sequence, { digest, run: undefined, text: undefined })
      return unknown(NO_RECORD)
    }
    if (!resent) record.firstFresh = Math.min(record.firstFresh, sequence)
    const run: LedgerRun = { waiter: this.#waiter(call), stop: undefined, cancelGrace: undefined }
    const entry: LedgerEntry = { digest, run, text: undefined }
    record.entries.set(sequence, entry)
    return { kind: 'execute', execution: this.#execution(record, entry) }
  }

  close(final: boolean): void {
    for (const record of this.#records) {
      record.links -= 1
      for (const entry of record.entries.values()) {
        const { run } = entry
        if (run === undefined || run.waiter?.link !== this.#ordinal) continue
        run.waiter = undefined
        if (final) this.#store.stop(record, entry, LEFT)
        else run.cancelGrace = this.#clock.after(RESUME_GRACE_MS, () => this.#store.stop(record, entry, NOT_RESUMED))
      }
      if (record.links > 0) continue
      if (final) this.#store.drop(record, LEFT)
      else record.cancelExpiry = this.#clock.after(RECORD_TTL_MS, () => this.#store.drop(record, NOT_RESUMED))
    }
    this.#records.clear()
  }

  #attach(record: LedgerRecord): void {
    if (this.#records.has(record)) return
    this.#records.add(record)
    record.links += 1
    record.cancelExpiry?.()
    record.cancelExpiry = undefined
  }

  #create({ tag }: LedgerCall): LedgerRecord | undefined {
    const record = this.#store.create(this.#peer, tag.instance, NOT_RESUMED)
    if (record === undefined) return undefined
    record.acknowledgedBelow = tag.acknowledgedBelow
    this.#attach(record)
    return record
  }

  #join(record: LedgerRecord, entry: LedgerEntry, run: LedgerRun, call: LedgerCall): Admission {
    if (run.waiter !== undefined && run.waiter.link > this.#ordinal) return { kind: 'ignore' }
    run.cancelGrace?.()
    run.cancelGrace = undefined
    run.waiter?.release()
    run.waiter = this.#waiter(call)
    return { kind: 'join', execution: this.#execution(record, entry) }
  }

  #waiter({ answer, release, notify }: LedgerCall): LedgerWaiter {
    return { link: this.#ordinal, answer, release, notify }
  }

  #execution(record: LedgerRecord, entry: LedgerEntry): Execution {
    return {
      onStop: (stop) => {
        if (entry.run !== undefined) entry.run.stop = stop
      },
      finish: (text) => this.#store.finish(record, entry, text),
      notify: (text) => entry.run?.waiter?.notify?.(text),
      cancel: () => this.#store.stop(record, entry, CANCELLED),
    }
  }
}

const NO_RECORD = 'the serving side has no record of it'
const CANCELLED = new CtError('ERR_CALL_CANCELLED', 'the caller cancelled the call')
const GIVEN_UP = stopped('the caller gave it up')
const LEFT = stopped('the caller left')
const EXPELLED = stopped('the caller was removed')
const NOT_RESUMED = stopped('the link broke and was not resumed in time')

function stopped(why: string): CtError {
  return new CtError('ERR_CALL_INTERRUPTED', `the call was stopped: ${why}`)
}

function unknown(why: string): Admission {
  return refuse('ERR_CALL_OUTCOME_UNKNOWN', `the call may or may not have run: ${why}`)
}

function refuse(code: CtError['code'], message: string): Admission {
  return { kind: 'refuse', error: new CtError(code, message) }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}
