/**
 * What an agent counts, as metrics.
 *
 * Holds: counters only grow. Labels are names of this side's own, and peers up to a bound: whoever comes after that is
 * counted as `other`.
 *
 * @module
 */
import { expositionText, type Metric, type Sample } from '../../core/exposition.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Observing } from './observing.ts'

/** Peers with a label of their own, the sessions that live longest first. */
const MAX_PEER_LABELS = 100
const OTHERS = 'other'

export interface MetricsFacts {
  readonly version: string
  readonly command: string
  readonly rssBytes: number
}

export function metricsText({ version, command, rssBytes }: MetricsFacts, observing: Observing): string {
  const { records, past, refusals, calls, began } = observing
  const sum = (key: 'bytesIn' | 'bytesOut'): number =>
    records.reduce((total, { session }) => total + session.vitals[key], past[key])
  return expositionText([
    gauge('info', 'Version and command of this agent', [{ labels: { version, command }, value: 1 }]),
    gauge('start_time_seconds', 'When this agent started, in seconds of Unix time', [{ value: began / 1_000 }]),
    gauge('resident_memory_bytes', 'Memory of the process', [{ value: rssBytes }]),
    gauge('sessions', 'Sessions at the moment', [{ value: records.length }]),
    counter('sessions_total', 'Sessions admitted', [{ value: past.sessions + records.length }]),
    counter('received_bytes_total', 'Bytes of sessions that came in', [{ value: sum('bytesIn') }]),
    counter('sent_bytes_total', 'Bytes of sessions that went out', [{ value: sum('bytesOut') }]),
    counter(
      'refusals_total',
      'Peers refused',
      refusals.counts.map(({ code, category = '', count }) => ({ labels: { code, category }, value: count })),
    ),
    gauge('calls_in_flight', 'Calls being executed', [
      { value: records.reduce((total, { inFlight }) => total + inFlight, 0) },
    ]),
    counter(
      'calls_total',
      'Calls that ended, and calls refused',
      calls.all.map((call) => ({ labels: callLabels(call), value: call.count })),
    ),
    counter(
      'call_seconds_total',
      'Time that these calls took',
      calls.all.map((call) => ({ labels: callLabels(call), value: call.ms / 1_000 })),
    ),
    ...peerMetrics(observing),
    ...brokerMetrics(observing),
    ...auditMetrics(observing),
  ])
}

function callLabels({ asked, outcome }: Observing['calls']['all'][number]): Record<string, string> {
  const { kind, name = '?' } = asked
  return { kind, name, outcome }
}

function peerMetrics({ records }: Observing): readonly Metric[] {
  const sessions = new Map<string, Sample>()
  const roundTrips = new Map<string, Sample>()
  const labelled = new Map<HolderId, string>()
  for (const { session } of records) {
    const { holder } = session.peer
    const peer = labelled.get(holder) ?? (labelled.size < MAX_PEER_LABELS ? shortId(holder) : OTHERS)
    if (peer !== OTHERS) labelled.set(holder, peer)
    const path = session.vitals.way?.kind ?? 'unknown'
    const key = `${peer} ${path}`
    sessions.set(key, { labels: { peer, path }, value: (sessions.get(key)?.value ?? 0) + 1 })
    const { roundTripMs } = session.vitals
    if (roundTripMs !== undefined && peer !== OTHERS) {
      roundTrips.set(key, { labels: { peer, path }, value: roundTripMs / 1_000 })
    }
  }
  return [
    gauge('peer_sessions', 'Sessions at the moment, by peer and path', [...sessions.values()]),
    gauge('peer_round_trip_seconds', 'Time to the peer and back, as last measured', [...roundTrips.values()]),
  ]
}

function brokerMetrics({ broker }: Observing): readonly Metric[] {
  if (broker === undefined) return []
  return [
    gauge('broker_joined', 'Whether this agent has its place at the broker', [
      { value: Number(broker.broker.state === 'joined') },
    ]),
    gauge('relay_reserved', 'Whether this agent can be reached through the relay', [
      { value: Number(broker.relay.state === 'reserved') },
    ]),
  ]
}

function auditMetrics({ audit }: Observing): readonly Metric[] {
  if (audit === undefined) return []
  const { written, dropped } = audit.state
  return [
    counter('audit_written_total', 'Lines written to the audit log', [{ value: written }]),
    counter('audit_dropped_total', 'Events that the audit log lost', [{ value: dropped }]),
  ]
}

function gauge(name: string, about: string, samples: readonly Sample[]): Metric {
  return { name: `ct_agent_${name}`, kind: 'gauge', about, samples }
}

function counter(name: string, about: string, samples: readonly Sample[]): Metric {
  return { name: `ct_agent_${name}`, kind: 'counter', about, samples }
}
