/**
 * Whom a request came from, as far as that can be known.
 *
 * @module
 */
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Context } from 'hono'

/**
 * Of a proxy that is trusted, what it says; so many proxies stand in front of the relay. Of an address of IPv6 the part
 * that one customer has.
 *
 * @returns the same for the same client; one text for all whose address is not known
 */
export function clientAddress(context: Context, trustedHops: number): string {
  const direct = getConnInfo(context).remote.address ?? 'unknown'
  if (trustedHops === 0) return network(direct)
  const said = (context.req.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim())
  // Each proxy adds whom it heard at the end, so what a client made up stands before that.
  return network(said.at(-trustedHops) || direct)
}

const GROUPS_OF_NETWORK = 4
const MAX_ADDRESS_CHARS = 64

function network(address: string): string {
  const plain = address.slice(0, MAX_ADDRESS_CHARS).replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::')
  const groups = head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length
  const whole = tail === undefined ? groups : [...groups, ...Array.from({ length: missing }, () => '0')]
  return `${whole.slice(0, GROUPS_OF_NETWORK).join(':')}::/64`
}
