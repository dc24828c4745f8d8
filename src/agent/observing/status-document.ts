/**
 * What `ct-agent status --json` says of one agent.
 *
 * @module
 */
import { type HolderId } from '../../core/ids.ts'
import { type Standing } from './broker-watch.ts'
import { type Observing } from './observing.ts'
import { type PeerRecord } from './peer-record.ts'

/** Sessions that are shown one by one, the oldest first. */
export const MAX_SHOWN_PEERS = 1_000

export interface AgentFacts {
  readonly version: string
  readonly command: string
  readonly pid: number
  readonly holder: HolderId
  readonly addresses: readonly string[]
  /** Where the metrics are. */
  readonly metrics: string | undefined
  /** What this side calls a peer. */
  readonly nameOf: (holder: HolderId) => string | undefined
}

export function statusOf(facts: AgentFacts, observing: Observing, now: number) {
  const { nameOf, ...plain } = facts
  const { records, refusals, calls, past, broker, audit, began } = observing
  const sum = (pick: (record: PeerRecord) => number): number => records.reduce((total, each) => total + pick(each), 0)
  return {
    ...plain,
    started_at: iso(began),
    uptime_seconds: Math.round((now - began) / 1_000),
    ...(broker === undefined
      ? {}
      : { broker: { ...standingOf(broker.broker), observed: broker.observed, relay: standingOf(broker.relay) } }),
    peers: records.slice(0, MAX_SHOWN_PEERS).map((record) => peerOf(record, observing, nameOf)),
    peers_total: records.length,
    sessions_ended: past.sessions,
    bytes_in: past.bytesIn + sum(({ session }) => session.vitals.bytesIn),
    bytes_out: past.bytesOut + sum(({ session }) => session.vitals.bytesOut),
    calls: {
      in_flight: sum(({ inFlight }) => inFlight),
      ended: calls.all.map(({ asked: { kind, name = '?' }, outcome, count, ms }) => ({
        [kind]: name,
        outcome,
        count,
        ms: Math.round(ms),
      })),
    },
    refusals: {
      total: refusals.counts.reduce((total, { count }) => total + count, 0),
      counts: refusals.counts,
      latest: refusals.peers.map(({ at, ...refused }) => ({ ...refused, name: nameOf(refused.holder), at: iso(at) })),
    },
    ...(audit === undefined ? {} : { audit: auditOf(audit.state) }),
  }
}

function peerOf(record: PeerRecord, { refusals }: Observing, nameOf: AgentFacts['nameOf']) {
  const { session, since, done, failed, inFlight, refusedCalls } = record
  const { way, roundTripMs, bytesIn, bytesOut } = session.vitals
  const { holder } = session.peer
  const last = record.lastRefusal ?? refusals.of(holder)
  return {
    holder,
    name: nameOf(holder),
    path: way?.kind,
    where: way?.where,
    since: iso(since),
    rtt_ms: roundTripMs === undefined ? undefined : Math.round(roundTripMs * 1_000) / 1_000,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    calls_done: done,
    calls_failed: failed,
    calls_in_flight: inFlight,
    calls_refused: refusedCalls,
    last_refusal: last === undefined ? undefined : { code: last.code, at: iso(last.at) },
  }
}

function standingOf({ state, since, code, reason }: Standing) {
  return { state, since: iso(since), code, reason }
}

function auditOf({ path, written, dropped, waiting, problem, last }: NonNullable<Observing['audit']>['state']) {
  return { path, written, dropped, waiting, problem: problem?.message, last_entry: last?.sequence, head: last?.hash }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
