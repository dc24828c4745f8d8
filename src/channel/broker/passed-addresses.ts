/**
 * Which of a member's addresses the other is told.
 *
 * Holds: nobody can point its partner at a machine of somebody else: an address is passed on when the broker saw the
 * member at it, or when it can only be one of the network that both are seen to share.
 *
 * @module
 */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { type Address } from '../address.ts'
import { MAX_ADDRESSES } from '../rendezvous/fields.ts'

export interface Located {
  /** Where the broker sees the member. */
  readonly observed: Address
  /** Where the member says it can be dialled. */
  readonly advertised: readonly Address[]
}

/** Addresses of `member` for `reader`: those it named that hold, then the one at which it is seen. */
export function passedAddresses({ observed, advertised }: Located, reader: Located): readonly Address[] {
  const fitting = advertised.filter(
    (address) => address.port !== 0 && isPassedOn(address.host, observed.host, reader.observed.host),
  )
  const all = new Map([...fitting, observed].map((address) => [`${address.host} ${address.port}`, address]))
  return [...all.values()].slice(0, MAX_ADDRESSES)
}

function isPassedOn(host: string, seen: string, readerSeen: string): boolean {
  if (host === seen) return true
  if (isIP(host) === 0 || seen !== readerSeen) return false
  // A loopback address is the reader's own machine, unless both are on the broker's.
  return inList(LOOPBACK, host) ? inList(LOOPBACK, seen) : inList(PRIVATE, host)
}

function inList(list: BlockList, host: string): boolean {
  return list.check(host, isIPv4(host) ? 'ipv4' : 'ipv6')
}

function listOf(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, isIPv4(network) ? 'ipv4' : 'ipv6')
  return list
}

const LOOPBACK = listOf([
  ['127.0.0.0', 8],
  ['::1', 128],
])
/** Addresses that have a meaning within one network only; link-local ones are left out: they need a zone. */
const PRIVATE = listOf([
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['fc00::', 7],
])

/** The same address whether it came over an IPv6 socket or not. */
export function plainHost(host: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host)
  return mapped?.[1] ?? host
}
