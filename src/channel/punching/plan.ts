/**
 * How two members that speak through a relay try to reach each other without it. Pure.
 *
 * Holds: an address is tried only when the broker sees the peer at that host, or when both are seen behind one address
 * and it belongs to a network of this machine; so neither the broker nor the peer can point a member at a third party.
 *
 * @module
 */
import { type Address, formatAddress } from '../address.ts'

/** What a member says of where it is. */
export interface Standing {
  /**
   * Where the broker sees it, at a local port that can be used again; port 0 when none can. Nothing when the broker has
   * not said.
   */
  readonly seen?: Address
  /** The broker sees it at an address of its own machine. */
  readonly isOpen: boolean
  /** Where it can be dialled, as far as it knows. */
  readonly at: readonly Address[]
}

/** `cross`: both dial at one moment, each from where it is seen. `receive`: both listen where they are seen, and dial. */
export type Round = 'cross' | 'receive'

const MIN_ROUND_MS = 500
/** What peers make each other try at most. */
export const MAX_ROUND_MS = 3_000
/** SYN, SYN of the other, handshake: in round trips, with one to spare. */
const ROUND_TRIPS = 5
/** A dial that was turned away at once is tried again this much later, give or take half of it; then twice as much. */
const REDIAL_MS = 20
const MAX_REDIAL_DOUBLINGS = 4

/** Rounds in the order in which they are tried; none where no address is known to dial. */
export function planRounds(caller: Standing, acceptor: Standing): readonly Round[] {
  const seen = [caller.seen, acceptor.seen].map((address) => (address?.port === 0 ? undefined : address))
  const [one, other] = seen
  if (one === undefined && other === undefined) return []
  if (one === undefined || other === undefined) return ['receive']
  if (isIpv6(one) !== isIpv6(other)) return []
  // A hole is of no use to whom no wall surrounds, and a symmetric wall leads only to a side that listens.
  return caller.isOpen || acceptor.isOpen ? ['receive', 'cross'] : ['cross', 'receive']
}

/** How long a round lasts. */
export function roundMs(roundTripMs: number): number {
  return Math.min(MAX_ROUND_MS, Math.round(MIN_ROUND_MS + ROUND_TRIPS * Math.max(0, roundTripMs)))
}

/** How much later than it speaks the caller begins, so that both begin at one moment. */
export function headStartMs(roundTripMs: number): number {
  return Math.min(MAX_ROUND_MS, Math.max(0, roundTripMs / 2))
}

/**
 * @param attempt the number of the dial that was turned away, from 1
 * @param random uniform in [0, 1)
 */
export function redialMs(attempt: number, random: number): number {
  return REDIAL_MS * 2 ** Math.min(attempt - 1, MAX_REDIAL_DOUBLINGS) * (0.5 + random)
}

export interface Vantage {
  /** Hosts at which the broker knows the peer. */
  readonly peerHosts: ReadonlySet<string>
  /** Where the broker sees this member. */
  readonly ownHost: string | undefined
  /** The address belongs to a network of this machine. */
  readonly isNeighbour: (host: string) => boolean
}

/** Those of the peer's addresses that are worth a dial, and harm nobody else. */
export function worthDialling(peer: Standing, { peerHosts, ownHost, isNeighbour }: Vantage): readonly Address[] {
  const sharesHost = ownHost !== undefined && peerHosts.has(ownHost)
  const fitting = peer.at.filter(
    ({ host, port }) => port > 0 && (peerHosts.has(host) || (sharesHost && isNeighbour(host))),
  )
  return [...new Map(fitting.map((address) => [formatAddress(address), address])).values()]
}

/** Where the peer says that it is seen, if the broker sees it at that host too. */
export function believedSeen({ seen }: Standing, peerHosts: ReadonlySet<string>): Address | undefined {
  return seen !== undefined && seen.port > 0 && peerHosts.has(seen.host) ? seen : undefined
}

function isIpv6({ host }: Address): boolean {
  return host.includes(':')
}
