/**
 * The connection of a member to its broker, or to the relay.
 *
 * Holds: there is at most one, whoever asks for it; a broker that is pinned is that broker; when it is over, the next
 * one is made by the next who asks.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { CtError, isCtError } from '../../core/errors.ts'
import { abortable, type Clock, type Random } from '../../core/time.ts'
import { type BrokerPlace, brokerMultiaddr, formatBroker } from '../broker-address.ts'
import { type ChannelNode } from '../node/node.ts'
import { resolveAddress } from '../node/transport-address.ts'
import { dialFailure } from './dial-failure.ts'
import { STAGGER_MS } from './ladder.ts'
import { putAway } from './put-away.ts'
import { type Attempt, race } from './race.ts'

/** Ports that systems leave to programs. */
const FIRST_OWN_PORT = 49_152
const OWN_PORTS = 65_536 - FIRST_OWN_PORT
/** Time for all ways to the broker together. */
const CONNECT_TIMEOUT_MS = 8_000

export class BrokerLink {
  readonly #node: Pick<ChannelNode, 'dial'>
  readonly #places: readonly BrokerPlace[]
  readonly #clock: Clock
  readonly #random: Random | undefined
  readonly #ports = new WeakMap<Connection, number>()
  #connection: Connection | undefined
  #connecting: Promise<Connection> | undefined

  /**
   * @param places where the broker is, best first
   * @param random chooses the port to come from, so that it can be used again; without it, the system does
   */
  constructor(node: Pick<ChannelNode, 'dial'>, places: readonly BrokerPlace[], clock: Clock, random?: Random) {
    this.#node = node
    this.#places = places
    this.#clock = clock
    this.#random = random
  }

  /** The own port that the connection comes from, where it was chosen here. */
  portOf(connection: Connection): number | undefined {
    return this.#ports.get(connection)
  }

  /** The connection that is open. */
  get current(): Connection | undefined {
    return this.#connection?.status === 'open' ? this.#connection : undefined
  }

  /** @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_PEER_KEY_MISMATCH` when another than the pinned broker answers */
  connect(signal: AbortSignal): Promise<Connection> {
    const open = this.#connection
    if (open?.status === 'open') return Promise.resolve(open)
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    return abortable(this.#connecting, signal)
  }

  /** A connection that answers nothing any more is of no use to the next who asks. */
  drop(connection: Connection, reason: Error): void {
    connection.abort(reason)
    if (this.#connection === connection) this.#connection = undefined
  }

  async #open(): Promise<Connection> {
    const attempts = this.#places.map(
      (place, index): Attempt<Connection> => ({
        afterMs: index * STAGGER_MS,
        run: (signal) => this.#dial(place, signal),
      }),
    )
    const outcome = await race(attempts, {
      clock: this.#clock,
      signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS),
      discard: putAway,
    }).catch((cause: unknown) => {
      throw new CtError('ERR_PEER_UNREACHABLE', `the broker at ${this.#where()} does not answer`, { cause })
    })
    if ('failures' in outcome) throw this.#unreachable(outcome.failures)
    this.#connection = outcome.value
    return outcome.value
  }

  async #dial(place: BrokerPlace, signal: AbortSignal): Promise<Connection> {
    const failures: CtError[] = []
    for (const address of await addressesOf(place, signal)) {
      try {
        return await this.#dialFrom(place, address, signal)
      } catch (error) {
        signal.throwIfAborted()
        failures.push(dialFailure(formatBroker(place), error))
      }
    }
    throw failures[0] ?? new CtError('ERR_PEER_UNREACHABLE', `${formatBroker(place)} has no address`)
  }

  async #dialFrom({ transport }: BrokerPlace, address: Multiaddr, signal: AbortSignal): Promise<Connection> {
    if (this.#random === undefined || transport !== 'tcp') return this.#node.dial(address, signal)
    const localPort = FIRST_OWN_PORT + Math.floor(this.#random() * OWN_PORTS)
    try {
      const connection = await this.#node.dial(address, signal, { localPort })
      this.#ports.set(connection, localPort)
      return connection
    } catch (error) {
      if (!isTaken(error)) throw error
      return this.#node.dial(address, signal)
    }
  }

  #unreachable(failures: readonly CtError[]): CtError {
    const [first] = failures
    if (first !== undefined && failures.every((failure) => isCtError(failure, 'ERR_PEER_KEY_MISMATCH'))) {
      return new CtError('ERR_PEER_KEY_MISMATCH', `expected the pinned broker at ${this.#where()}, found another key`)
    }
    // Of one mistake that is there on every way, the one thing to do.
    const reasons = failures.map(({ message }) => message).join('; ')
    if (first !== undefined && failures.every(({ code }) => code === first.code && code.startsWith('ERR_CERT'))) {
      return new CtError(first.code, reasons, { detail: first.detail })
    }
    return new CtError('ERR_PEER_UNREACHABLE', `the broker does not answer (${reasons})`)
  }

  #where(): string {
    return this.#places.map(formatBroker).join(', ')
  }
}

/** Another program has the port. */
function isTaken(error: unknown): boolean {
  return error instanceof Error && /EADDRINUSE|EADDRNOTAVAIL|EACCES/.test(error.message)
}

/** Names behind TLS stay names, of which the certificate is. */
async function addressesOf(place: BrokerPlace, signal: AbortSignal): Promise<readonly Multiaddr[]> {
  const { transport, peer } = place
  const found = transport === 'tcp' ? await resolveAddress(place, signal) : [multiaddr(brokerMultiaddr(place))]
  if (peer === undefined) return found
  const pin = `/p2p/${pinOf(peer)}`
  return found.map((address) => address.encapsulate(pin))
}

/** @throws {CtError} `ERR_CONFIG_INVALID` for a name that only looks like one */
function pinOf(text: string): string {
  try {
    return peerIdFromString(text).toString()
  } catch (cause) {
    throw new CtError('ERR_CONFIG_INVALID', `expected the peer id of a broker, found ${text}`, { cause })
  }
}

/** The way to a member through the relay at the far end of a connection. */
export function throughRelay({ remoteAddr, remotePeer }: Connection, peer: string): Multiaddr {
  const relay = remoteAddr.toString().replace(/\/p2p\/[^/]+$/, '')
  return multiaddr(`${relay}/p2p/${remotePeer.toString()}/p2p-circuit/p2p/${peer}`)
}
