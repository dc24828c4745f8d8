/**
 * Handshakes under way at a broker, and how many of them one address may have.
 *
 * Holds: whoever opens connections and says nothing on them takes no more than its share of the handshakes that are
 * possible at once.
 *
 * @module
 */
import { type MultiaddrConnection, type PeerId } from '@libp2p/interface'
import { addressOf } from '../node/transport-address.ts'
import { plainHost } from './passed-addresses.ts'
import { sourceOf } from './quota.ts'

/** Thousands of members may sit behind one address; each needs a fraction of a second. */
export const MAX_HANDSHAKES_OF_SOURCE = 256

export class Handshakes {
  readonly #sources = new Map<string, number>()
  readonly #underWay = new WeakMap<MultiaddrConnection, string>()

  /** True for one too many; a handshake that is let in counts until it is over. For libp2p's `denyInboundConnection`. */
  readonly refuses = (connection: MultiaddrConnection): boolean => {
    const source = sourceOf(plainHost(addressOf(connection.remoteAddr)?.host ?? ''))
    const count = this.#sources.get(source) ?? 0
    if (count >= MAX_HANDSHAKES_OF_SOURCE) return true
    this.#sources.set(source, count + 1)
    this.#underWay.set(connection, source)
    connection.addEventListener('close', () => this.#over(connection), { once: true })
    return false
  }

  /** The handshake succeeded. For libp2p's `denyInboundUpgradedConnection`, and refuses nobody. */
  readonly succeeded = (_: PeerId, connection: MultiaddrConnection): boolean => {
    this.#over(connection)
    return false
  }

  #over(connection: MultiaddrConnection): void {
    const source = this.#underWay.get(connection)
    if (source === undefined) return
    this.#underWay.delete(connection)
    const left = (this.#sources.get(source) ?? 0) - 1
    if (left > 0) this.#sources.set(source, left)
    else this.#sources.delete(source)
  }
}
