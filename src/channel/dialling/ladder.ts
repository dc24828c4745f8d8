/**
 * Which ways to a peer are tried, and when. Pure.
 *
 * Holds: an address that somebody else named is tried only when it is at least as public as the way to the broker, so a
 * broker on the internet cannot point a member at machines of the member's own network.
 *
 * @module
 */
import { type Address, formatAddress } from '../address.ts'

export type Rung = { readonly kind: 'direct'; readonly address: Address } | { readonly kind: 'relay' }

export interface PlannedRung {
  readonly rung: Rung
  /** Starts so long after the first, or as soon as all before it have failed. */
  readonly afterMs: number
}

export interface Ways {
  readonly addresses: readonly Address[]
  readonly relay: boolean
  /** The rung that led to this peer last, as `rungName` names it. */
  readonly lastGood?: string | undefined
  /** That rung broke just now: the relay is not held back for it. */
  readonly broke?: boolean | undefined
}

/** What a way that works needs at most on most networks, and what a person does not notice. */
export const STAGGER_MS = 250
const RELAY_NAME = 'relay'
/** From the least public to the most. */
const SCOPES = ['none', 'loopback', 'private', 'public'] as const
type Scope = (typeof SCOPES)[number]

/**
 * Last-good first, then the addresses in their order with the relay beside the first of them; one stagger apart.
 *
 * A broker names last where it sees the peer, which seldom is where the peer listens: with a relay at hand that one
 * comes after it.
 */
export function planRungs({ addresses, relay, lastGood, broke }: Ways): readonly PlannedRung[] {
  const rungs: Rung[] = addresses.map((address) => ({ kind: 'direct', address }))
  if (relay) rungs.splice(addresses.length > 1 ? 1 : 0, 0, { kind: 'relay' })
  const best = rungs.findIndex((rung) => rung.kind === 'direct' && rungName(rung) === lastGood)
  if (best > 0) rungs.unshift(...rungs.splice(best, 1))
  // Where the relay was needed the last time, nothing is gained by holding it back, nor by giving the others up.
  if (lastGood === RELAY_NAME && relay)
    rungs.unshift(
      ...rungs.splice(
        rungs.findIndex(({ kind }) => kind === 'relay'),
        1,
      ),
    )
  const shift = lastGood === RELAY_NAME && relay ? 1 : 0
  const planned = rungs.map((rung, index) => ({ rung, afterMs: Math.max(0, index - shift) * STAGGER_MS }))
  return broke === true ? planned.map((one) => (one.rung.kind === 'relay' ? { ...one, afterMs: 0 } : one)) : planned
}

export function rungName(rung: Rung): string {
  return rung.kind === 'relay' ? RELAY_NAME : `direct ${formatAddress(rung.address)}`
}

/**
 * Those worth naming to, or taking from, somebody who is reached at `via`; a `via` that is no IP address counts as public.
 *
 * Names are left out: what they stand for is known only when it is too late.
 */
export function reachableBeside(addresses: readonly Address[], via: string): readonly Address[] {
  const least = SCOPES.indexOf(isName(via) ? 'public' : scopeOf(via))
  return addresses.filter(({ host, port }) => {
    const scope = SCOPES.indexOf(scopeOf(host))
    return port > 0 && scope > 0 && scope >= least
  })
}

function scopeOf(host: string): Scope {
  const plain = host.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
  const [first = 0, second = 0] = /^\d+\.\d+\.\d+\.\d+$/.test(plain) ? plain.split('.').map(Number) : []
  if (first > 0) return scopeOfIpv4(first, second)
  return plain.includes(':') ? scopeOfIpv6(plain) : 'none'
}

function scopeOfIpv6(host: string): Scope {
  const url = URL.parse(`http://[${host}]`)
  // In the one form that each address has.
  const plain = url === null ? '' : url.hostname.slice(1, -1)
  if (plain === '::1') return 'loopback'
  if (/^(f[cd]..|fe[89ab].):/.test(plain)) return 'private'
  // Global unicast, but for what wraps an IPv4 address.
  return /^[23]...:/.test(plain) && !plain.startsWith('2002:') ? 'public' : 'none'
}

function isName(host: string): boolean {
  return !host.includes(':') && !/^\d+\.\d+\.\d+\.\d+$/.test(host)
}

function scopeOfIpv4(first: number, second: number): Scope {
  if (first === 127) return 'loopback'
  if (first >= 224) return 'none'
  const isPrivate =
    first === 10 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 169 && second === 254) ||
    (first === 100 && second >= 64 && second <= 127)
  return isPrivate ? 'private' : 'public'
}
