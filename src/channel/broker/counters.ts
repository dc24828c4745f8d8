/**
 * What a broker counts, and the text in which Prometheus reads it.
 *
 * @module
 */
import { expositionText } from '../../core/exposition.ts'

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
  revocations = 0
  cardsPublished = 0
  cardsRefused = 0
  cardsExpired = 0
  cardQueries = 0
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
  /** In the registry. */
  readonly cards: number
  readonly rssBytes: number
}

export interface BrokerMetrics extends BrokerState {
  readonly joins: number
  readonly pairings: number
  readonly expired: number
  readonly relayed: number
  readonly relayedBytes: number
  readonly revocations: number
  readonly cardsPublished: number
  readonly cardsRefused: number
  readonly cardsExpired: number
  readonly cardQueries: number
  readonly refusals: Readonly<Record<string, number>>
}

export function snapshot(state: BrokerState, counters: Counters): BrokerMetrics {
  const { joins, pairings, expired, relayed, relayedBytes, revocations, refusals } = counters
  const { cardsPublished, cardsRefused, cardsExpired, cardQueries } = counters
  const cards = { cardsPublished, cardsRefused, cardsExpired, cardQueries }
  return {
    ...state,
    joins,
    pairings,
    expired,
    relayed,
    relayedBytes,
    revocations,
    ...cards,
    refusals: Object.fromEntries(refusals),
  }
}

export function prometheusText(metrics: BrokerMetrics): string {
  const { refusals, ...plain } = metrics
  return expositionText([
    ...Object.entries(SHOWN).map(([key, [name, kind, about]]) => ({
      name,
      kind,
      about,
      samples: [{ value: plain[key as keyof typeof SHOWN] }],
    })),
    {
      name: 'ct_broker_refusals_total',
      kind: 'counter',
      about: 'Members refused',
      samples: Object.entries(refusals).map(([category, value]) => ({ labels: { category }, value })),
    },
  ])
}

const SHOWN = {
  rooms: ['ct_broker_rooms', 'gauge', 'Channels with a member present'],
  acceptors: ['ct_broker_acceptors', 'gauge', 'Members that accept'],
  initiators: ['ct_broker_initiators', 'gauge', 'Members that initiate, paired ones included'],
  waiting: ['ct_broker_initiators_waiting', 'gauge', 'Members that wait for an acceptor'],
  reservations: ['ct_broker_reservations', 'gauge', 'Relay reservations'],
  connections: ['ct_broker_connections', 'gauge', 'Connections of members and newcomers'],
  relayedNow: ['ct_broker_relayed_connections', 'gauge', 'Connections relayed at the moment'],
  cards: ['ct_broker_cards', 'gauge', 'Agent cards in the registry'],
  rssBytes: ['ct_broker_resident_memory_bytes', 'gauge', 'Memory of the process'],
  joins: ['ct_broker_joins_total', 'counter', 'Members admitted'],
  pairings: ['ct_broker_pairings_total', 'counter', 'Initiators sent to an acceptor'],
  expired: ['ct_broker_waits_expired_total', 'counter', 'Initiators that nobody came for in time'],
  relayed: ['ct_broker_relayed_connections_total', 'counter', 'Connections relayed since the start'],
  relayedBytes: ['ct_broker_relayed_bytes_total', 'counter', 'Bytes relayed, both ways'],
  revocations: ['ct_broker_revocation_lists_total', 'counter', 'Revocation lists that were news'],
  cardsPublished: ['ct_broker_cards_published_total', 'counter', 'Agent cards taken, anew or again'],
  cardsRefused: ['ct_broker_cards_refused_total', 'counter', 'Questions to the card registry that were refused'],
  cardsExpired: ['ct_broker_cards_expired_total', 'counter', 'Agent cards whose time was over'],
  cardQueries: ['ct_broker_card_queries_total', 'counter', 'Searches in the card registry'],
} as const satisfies Readonly<Record<string, readonly [string, 'gauge' | 'counter', string]>>
