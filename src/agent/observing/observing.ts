/**
 * What an agent that runs sees of itself and its peers: for `ct-agent status`, the metrics and the audit log.
 *
 * Holds: watching never fails what is watched, and never waits for anything.
 *
 * @module
 */
import { type BrokerOptions, type BrokerState, type RelayState, type Session, type Way } from '../../channel/index.ts'
import { type CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type CallObserver } from '../../mcp/index.ts'
import { type AuditFacts } from './audit/audit-line.ts'
import { type AuditLog } from './audit/audit-log.ts'
import { type AuditSeries } from './audit/audit-series.ts'
import { BrokerWatch } from './broker-watch.ts'
import { CallCounts } from './call-counts.ts'
import { PeerRecord } from './peer-record.ts'
import { categoryOf, isRefusal, Refusals } from './refusals.ts'

/** What sessions that are over went through. */
interface Past {
  sessions: number
  bytesIn: number
  bytesOut: number
}

export class Observing {
  readonly began: number
  readonly calls = new CallCounts()
  readonly refusals = new Refusals()
  readonly past: Past = { sessions: 0, bytesIn: 0, bytesOut: 0 }
  readonly audit: AuditLog | undefined
  /** None where there is no broker. */
  broker: BrokerWatch | undefined
  readonly #clock: Clock
  readonly #records = new Map<Session, PeerRecord>()
  readonly #series = new Map<string, AuditSeries>()

  constructor(clock: Clock, audit?: AuditLog) {
    this.#clock = clock
    this.began = clock.now()
    this.audit = audit
  }

  /** Of the sessions that live, the oldest first. */
  get records(): readonly PeerRecord[] {
    return [...this.#records.values()]
  }

  /** An admitted session; what is returned watches what its peer asks. */
  opened(session: Session): CallObserver {
    const record = new PeerRecord(session, { clock: this.#clock, counts: this.calls, audit: this.audit })
    this.#records.set(session, record)
    const { holder, membership } = session.peer
    this.#note('admitted', { peer: holder, ...placeOf(session.vitals.way), rights: membership?.rights })
    void session.closed.then(({ reason }) => this.#ended(record, reason))
    return record
  }

  notAdmitted(peer: HolderId, reason: CtError, way: Way | undefined): void {
    if (!isRefusal(reason)) return
    this.refusals.add(peer, reason, this.#clock.now())
    this.#note('refused', { peer, code: reason.code, category: categoryOf(reason), ...placeOf(way) })
  }

  /** The same broker, with this watching as well. */
  watching(options: BrokerOptions): BrokerOptions {
    const watch = new BrokerWatch(this.#clock.now())
    this.broker = watch
    return {
      ...options,
      onState: (told: BrokerState | RelayState) => {
        watch.tell(told, this.#clock.now())
        options.onState(told)
      },
    }
  }

  brokerRefused(reason: CtError): void {
    this.broker?.refused(reason, this.#clock.now())
    this.record('broker_refused', { code: reason.code, category: categoryOf(reason) })
  }

  /** For events that happen when this side wants them to. */
  record(event: string, facts: AuditFacts): void {
    this.audit?.record(event, facts)
  }

  #ended(record: PeerRecord, { code, detail }: CtError): void {
    const { session, since, done } = record
    const { bytesIn, bytesOut } = session.vitals
    this.#records.delete(session)
    this.past.sessions += 1
    this.past.bytesIn += bytesIn
    this.past.bytesOut += bytesOut
    this.#note('ended', {
      peer: session.peer.holder,
      code,
      by_peer: detail['byPeer'] === true,
      seconds: Math.round((this.#clock.now() - since) / 1_000),
      bytes_in: bytesIn,
      bytes_out: bytesOut,
      calls: done,
    })
  }

  /** Strangers decide how often. */
  #note(event: string, facts: AuditFacts): void {
    if (this.audit === undefined) return
    const series = this.#series.get(event) ?? this.audit.series(event, {})
    this.#series.set(event, series)
    series.add(this.#clock.monotonic(), facts)
  }
}

function placeOf(way: Way | undefined): AuditFacts {
  return way === undefined ? {} : { path: way.kind, where: way.where }
}
