/**
 * The networks of this machine.
 *
 * @module
 */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'

export interface OwnNetworks {
  /** The address is one of this machine's, not its loopback. */
  readonly has: (host: string) => boolean
  /** The address belongs to a private network that this machine is in. */
  readonly isNeighbour: (host: string) => boolean
}

/** @param interfaces as `os.networkInterfaces` lists them */
export function ownNetworks(interfaces = networkInterfaces()): OwnNetworks {
  const own = new Set<string>()
  const networks = new BlockList()
  for (const { address, cidr, internal } of Object.values(interfaces).flatMap((list) => list ?? [])) {
    if (internal) continue
    own.add(address)
    const bits = Number(cidr?.split('/')[1])
    // Networks wider than any home or office has would let a peer name half the world.
    if (bits >= (isIPv4(address) ? MIN_IPV4_BITS : MIN_IPV6_BITS)) networks.addSubnet(address, bits, family(address))
  }
  return {
    has: (host) => own.has(host),
    isNeighbour: (host) => isIP(host) !== 0 && !own.has(host) && networks.check(host, family(host)),
  }
}

const MIN_IPV4_BITS = 16
const MIN_IPV6_BITS = 64

function family(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}
