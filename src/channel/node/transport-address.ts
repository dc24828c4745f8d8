/**
 * Addresses as the transport wants them.
 *
 * @module
 */
import { lookup } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { abortable } from '../../core/time.ts'
import { type Address } from '../address.ts'

/**
 * Transport addresses of a host; a name is looked up now, so that a changed record is honoured at every attempt.
 *
 * Rejects with the signal's reason when it aborts: the system's own lookup can take a minute and cannot be stopped.
 *
 * @throws {CtError} `ERR_PEER_UNREACHABLE` when the name has no address
 */
export async function resolveAddress({ host, port }: Address, signal: AbortSignal): Promise<readonly Multiaddr[]> {
  if (isIP(host) !== 0) return [ipMultiaddr(host, port)]
  signal.throwIfAborted()
  try {
    const found = await abortable(lookup(host, { all: true }), signal)
    return found.slice(0, MAX_ADDRESSES_PER_NAME).map(({ address }) => ipMultiaddr(address, port))
  } catch (error) {
    signal.throwIfAborted()
    throw new CtError('ERR_PEER_UNREACHABLE', `expected ${quote(host)} to have an address, found none`, {
      cause: error,
    })
  }
}

/**
 * The address to listen at; of a name the first of its addresses, so that port 0 is one port.
 *
 * @throws {CtError} `ERR_ADDRESS_UNAVAILABLE` when the name has no address
 */
export async function listeningAddress({ host, port }: Address): Promise<Address> {
  if (isIP(host) !== 0) return { host, port }
  try {
    return { host: (await lookup(host)).address, port }
  } catch (error) {
    throw new CtError('ERR_ADDRESS_UNAVAILABLE', `expected ${quote(host)} to have an address, found none`, {
      cause: error,
    })
  }
}

/** A name with more addresses than this gains nothing by trying them all. */
const MAX_ADDRESSES_PER_NAME = 8

export function ipMultiaddr(host: string, port: number): Multiaddr {
  return multiaddr(`/${isIPv6(host) ? 'ip6' : 'ip4'}/${host}/tcp/${port}`)
}

/** The `host:port` of a TCP multiaddr; `undefined` for any other. */
export function addressOf(address: Multiaddr): Address | undefined {
  const match = /^\/ip[46]\/([^/]+)\/tcp\/(\d+)/.exec(address.toString())
  return match?.[1] === undefined ? undefined : { host: match[1], port: Number(match[2]) }
}
