/**
 * One session and what its peer asks on it.
 *
 * @module
 */
import { type Session } from '../../channel/index.ts'
import { type ErrorCode } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { type Asked, type CallObserver } from '../../mcp/index.ts'
import { type AuditLog } from './audit/audit-log.ts'
import { type AuditSeries } from './audit/audit-series.ts'
import { type CallCount, type CallCounts } from './call-counts.ts'

/** Calls of one kind that ended alike. */
interface Line {
  readonly count: CallCount
  readonly series: AuditSeries | undefined
}

export interface PeerRecordDeps {
  readonly clock: Clock
  readonly counts: CallCounts
  readonly audit: AuditLog | undefined
}

export class PeerRecord implements CallObserver {
  readonly session: Session
  /** Unix time in milliseconds. */
  readonly since: number
  inFlight = 0
  done = 0
  /** Of those that are done. */
  failed = 0
  refusedCalls = 0
  lastRefusal: { readonly code: string; readonly at: number } | undefined
  readonly #deps: PeerRecordDeps
  /** Of calls that went well, which are most. */
  readonly #well = new Map<string, Line>()
  readonly #others = new Map<string, Line>()

  constructor(session: Session, deps: PeerRecordDeps) {
    this.session = session
    this.since = deps.clock.now()
    this.#deps = deps
  }

  began(): number {
    this.inFlight += 1
    return this.#deps.clock.monotonic()
  }

  ended(began: number, asked: Asked, outcome: ErrorCode | 'ok'): void {
    const now = this.#deps.clock.monotonic()
    const ms = now - began
    this.inFlight -= 1
    this.done += 1
    if (outcome !== 'ok') this.failed += 1
    const { count, series } = this.#lineOf(asked, outcome)
    count.count += 1
    count.ms += ms
    series?.add(now, {}, ms)
  }

  refused(asked: Asked, code: ErrorCode): void {
    this.refusedCalls += 1
    this.lastRefusal = { code, at: this.#deps.clock.now() }
    const { count, series } = this.#lineOf(asked, code, 'call_refused')
    count.count += 1
    series?.add(this.#deps.clock.monotonic(), {})
  }

  #lineOf(asked: Asked, outcome: ErrorCode | 'ok', event: 'call' | 'call_refused' = 'call'): Line {
    const lines = outcome === 'ok' && asked.kind === 'tool' ? this.#well : this.#others
    const key = lines === this.#well ? (asked.name ?? '') : `${event} ${outcome} ${asked.kind} ${asked.name ?? ''}`
    const known = lines.get(key)
    if (known !== undefined) return known
    const { counts, audit } = this.#deps
    const facts = { peer: this.session.peer.holder, [asked.kind]: asked.name ?? '?', outcome }
    const made = { count: counts.of(asked, outcome), series: audit?.series(event, facts) }
    lines.set(key, made)
    return made
  }
}
