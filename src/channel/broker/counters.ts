/**
 * What a broker counts, and the text in which Prometheus reads it.
 *
 * @module
 */

/** As the original program names them; `busy` is ours, for what later may succeed. */
const CATEGORIES = [
  'len-oob',
  'malformed',
  'endpoint',
  'not-member',
  'grant-verify',
  'possession',
  'pairing',
  'busy',
] as const

export class Counters {
  joins = 0
  pairings = 0
  expired = 0
  relayed = 0
  relayedBytes = 0
  readonly #refusals = new Map<string, number>(CATEGORIES.map((category) => [category, 0]))

  get refusals(): ReadonlyMap<string, number> {
    return this.#refusals
  }

  refused(category: string): void {
    const known = this.#refusals.has(category) ? category : 'malformed'
    this.#refusals.set(known, (this.#refusals.get(known) ?? 0) + 1)
  }
}

/** What is true at the moment. */
export interface BrokerState {
  readonly rooms: number
  readonly acceptors: number
  readonly initiators: number
  readonly waiting: number
  readonly reservations: number
  readonly connections: number
  readonly relayedNow: number
  readonly rssBytes: number
}

export interface BrokerMetrics extends BrokerState {
  readonly joins: number
  readonly pairings: number
  readonly expired: number
  readonly relayed: number
  readonly relayedBytes: number
  readonly refusals: Readonly<Record<string, number>>
}

export function snapshot(state: BrokerState, counters: Counters): BrokerMetrics {
  const { joins, pairings, expired, relayed, relayedBytes, refusals } = counters
  return { ...state, joins, pairings, expired, relayed, relayedBytes, refusals: Object.fromEntries(refusals) }
}

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export function prometheusText(metrics: BrokerMetrics): string {
  const { refusals, ...plain } = metrics
  const lines = Object.entries(SHOWN).flatMap(([key, [name, kind, about]]) => [
    `# HELP ${name} ${about}`,
    `# TYPE ${name} ${kind}`,
    `${name} ${plain[key as keyof typeof SHOWN]}`,
  ])
  const refused = Object.entries(refusals).map(([category, count]) => `${REFUSALS}{category="${category}"} ${count}`)
  return [...lines, `# HELP ${REFUSALS} Members refused`, `# TYPE ${REFUSALS} counter`, ...refused, ''].join('\n')
}

const REFUSALS = 'ct_broker_refusals_total'

const SHOWN = {
  rooms: ['ct_broker_rooms', 'gauge', 'Channels with a member present'],
  acceptors: ['ct_broker_acceptors', 'gauge', 'Members that accept'],
  initiators: ['ct_broker_initiators', 'gauge', 'Members that initiate, paired ones included'],
  waiting: ['ct_broker_initiators_waiting', 'gauge', 'Members that wait for an acceptor'],
  reservations: ['ct_broker_reservations', 'gauge', 'Relay reservations'],
  connections: ['ct_broker_connections', 'gauge', 'Connections of members and newcomers'],
  relayedNow: ['ct_broker_relayed_connections', 'gauge', 'Connections relayed at the moment'],
  rssBytes: ['ct_broker_resident_memory_bytes', 'gauge', 'Memory of the process'],
  joins: ['ct_broker_joins_total', 'counter', 'Members admitted'],
  pairings: ['ct_broker_pairings_total', 'counter', 'Initiators sent to an acceptor'],
  expired: ['ct_broker_waits_expired_total', 'counter', 'Initiators that nobody came for in time'],
  relayed: ['ct_broker_relayed_connections_total', 'counter', 'Connections relayed since the start'],
  relayedBytes: ['ct_broker_relayed_bytes_total', 'counter', 'Bytes relayed, both ways'],
} as const satisfies Readonly<Record<string, readonly [string, 'gauge' | 'counter', string]>>
