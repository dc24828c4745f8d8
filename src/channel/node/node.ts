/**
 * The libp2p node of a member: its holder key is the libp2p identity, so the Noise handshake proves possession of it.
 *
 * Only the session protocol is spoken: no identify, no peer discovery, no routing.
 *
 * @module
 */
import { privateKeyFromRaw, publicKeyFromRaw } from '@libp2p/crypto/keys'
import {
  type ComponentLogger,
  type Connection,
  type Libp2p,
  type Logger,
  type PeerId,
  type Transport,
  type Upgrader,
} from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { type Multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { toHex } from '../../core/bytes.ts'
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type HolderKey, type NoiseKey } from '../../core/keys.ts'
import { type Clock } from '../../core/time.ts'
import { type Address, formatAddress } from '../address.ts'
import { memberMuxer } from './muxer.ts'
import { NOISE_PROTOCOL, NoiseKeyRecords, recordingNoise } from './noise.ts'
import { connectingAhead } from './optimistic-select.ts'
import { type Reservations } from './relaying.ts'
import { addressOf, ipMultiaddr } from './transport-address.ts'
import { type WebSocketTrust } from './web-socket.ts'

/** Name of the session protocol; see docs/protocol.md. */
export const SESSION_PROTOCOL = '/ct-agent/session/1'
/** Time for one address to answer, handshake included. */
const ADDRESS_DIAL_TIMEOUT_MS = 4_000
/** Three round trips of the slowest links. */
const INBOUND_UPGRADE_TIMEOUT_MS = 5_000
/** Handshakes under way at once; each costs two key exchanges and some kilobytes. */
const MAX_PENDING_CONNECTIONS = 512
/** Connections per second from one address: many members may sit behind one. */
const CONNECTIONS_PER_SECOND = 100
/** libp2p waits for connections to close, some of which never do. */
const STOP_TIMEOUT_MS = 3_000
/** Connections beyond those in session: newcomers, and refusals, which need one to be told on. */
const SPARE_CONNECTIONS = 128
/** Of these, how many may not be admitted yet; fewer than there are, so that libp2p itself never turns one away. */
export const MAX_NEWCOMERS = 96

export interface NodeOptions {
  readonly holder: HolderKey
  readonly noise: NoiseKey
  readonly listen: readonly Address[]
  /** Connections in session at once. */
  readonly maxSessions: number
  /** Speaks with a broker, and with others through its relay. */
  readonly brokered?: { readonly webSocket: WebSocketTrust | false } | undefined
}

/** What a dial does otherwise than usual. */
export interface DialHow {
  /** Where it comes from; other connections of this process may come from there as well. */
  readonly localPort?: number | undefined
  /** False for the side that answers when both dial each other. */
  readonly initiator?: boolean
}

export interface ChannelNode {
  readonly libp2p: Libp2p
  readonly noiseKeys: NoiseKeyRecords
  /**
   * A connection of its own, whatever else goes to the same peer or address; bounded in time.
   *
   * libp2p's own dial would give parallel dials to one peer one connection.
   */
  readonly dial: (address: Multiaddr, signal: AbortSignal, how?: DialHow) => Promise<Connection>
  /** Takes connections at this port too, until the returned function is called; those that came stay. */
  readonly receiveAt: (address: Address) => Promise<() => void>
  /** Connections that a hole was punched for. */
  readonly punched: WeakSet<Connection>
  /** Where it listens, public addresses of this machine included that nobody has dialled yet. */
  readonly addresses: () => readonly Address[]
  /** Places at relays; only of a brokered node. */
  readonly reservations?: Reservations
}

/** Of libp2p's inner parts, the one that dials, the one that makes connections, and the one that knows every address. */
interface InnerParts {
  readonly addressManager: { readonly getAddressesWithMetadata: () => readonly { readonly multiaddr: Multiaddr }[] }
  readonly transportManager: {
    readonly dial: (address: Multiaddr, options: DialHow & { readonly signal: AbortSignal }) => Promise<Connection>
    readonly getTransports: () => readonly Transport[]
  }
  readonly upgrader: Upgrader
}

export async function createNode(options: NodeOptions): Promise<ChannelNode> {
  const { holder, noise, listen, maxSessions } = options
  const noiseKeys = new NoiseKeyRecords()
  const brokered = options.brokered && (await loadRelaying(options.brokered.webSocket, maxSessions + SPARE_CONNECTIONS))
  const libp2p = await createLibp2p({
    // libp2p's form of an Ed25519 private key: secret and public half.
    privateKey: privateKeyFromRaw(Buffer.concat([holder.secret.reveal(), Buffer.from(holder.id, 'hex')])),
    addresses: { listen: listen.map(({ host, port }) => ipMultiaddr(host, port).toString()) },
    transports: [tcp(), ...(brokered?.transports ?? [])],
    services: {
      inner: ({ transportManager, addressManager, upgrader }: InnerParts) => ({
        dial: (address: Multiaddr, signal: AbortSignal, how: DialHow) =>
          transportManager.dial(address, { ...how, signal }),
        receiveAt: (address: Multiaddr) => receiveAt(transportManager.getTransports(), upgrader, address),
        addresses: () => addressManager.getAddressesWithMetadata().map(({ multiaddr }) => multiaddr),
      }),
    },
    connectionProtector: connectingAhead(NOISE_PROTOCOL),
    connectionEncrypters: [recordingNoise(noise.secret, noiseKeys)],
    streamMuxers: [memberMuxer(brokered && maxSessions + SPARE_CONNECTIONS)],
    connectionManager: {
      maxConnections: maxSessions + SPARE_CONNECTIONS,
      maxIncomingPendingConnections: MAX_PENDING_CONNECTIONS,
      inboundConnectionThreshold: CONNECTIONS_PER_SECOND,
      inboundUpgradeTimeout: INBOUND_UPGRADE_TIMEOUT_MS,
      addressDialTimeout: ADDRESS_DIAL_TIMEOUT_MS,
      reconnectRetries: 0,
    },
    // The session has its own signs of life; a second opinion would only close connections behind its back.
    connectionMonitor: { enabled: false },
    connectionGater: { denyDialMultiaddr: () => false },
    logger: quietLogger,
    start: false,
  })
  // libp2p would remember every stranger for ever.
  libp2p.addEventListener('peer:disconnect', ({ detail }) => {
    libp2p.peerStore.delete(detail).catch(() => {})
  })
  const dial: ChannelNode['dial'] = async (address, signal, how = {}) => {
    signal.throwIfAborted()
    // Let go of afterwards: libp2p ends a connection whose dial is aborted, also when it has long been made.
    const dialling = new AbortController()
    const abort = (): void => dialling.abort(signal.reason)
    const timer = setTimeout(
      () => dialling.abort(new CtError('ERR_TIMEOUT', 'no answer in time')),
      ADDRESS_DIAL_TIMEOUT_MS,
    )
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await libp2p.services.inner.dial(address, dialling.signal, how)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }
  const addresses = (): readonly Address[] =>
    distinct(libp2p.services.inner.addresses().flatMap((found) => addressOf(found) ?? []))
  return {
    libp2p,
    noiseKeys,
    dial,
    receiveAt: ({ host, port }) => libp2p.services.inner.receiveAt(ipMultiaddr(host, port)),
    punched: new WeakSet(),
    addresses,
    ...(brokered === undefined ? {} : { reservations: brokered.reservations }),
  }
}

/** libp2p's own listeners end what came by them when they close; one that pauses for good lets it be. */
async function receiveAt(
  transports: readonly Transport[],
  upgrader: Upgrader,
  address: Multiaddr,
): Promise<() => void> {
  const transport = transports.find((one) => one.listenFilter([address]).length > 0)
  const listener = transport?.createListener({ upgrader })
  if (listener === undefined || !('pause' in listener) || typeof listener.pause !== 'function') {
    throw new TypeError('expected a listener that can pause')
  }
  const pauseForGood: (permanent: boolean) => void = listener.pause.bind(listener)
  await listener.listen(address)
  return () => pauseForGood(true)
}

function distinct(addresses: readonly Address[]): readonly Address[] {
  return [...new Map(addresses.map((address) => [formatAddress(address), address])).values()]
}

/** What only members of a brokered channel load. */
async function loadRelaying(webSocket: WebSocketTrust | false, maxRelayed: number) {
  const [{ relayTransport }, sockets] = await Promise.all([
    import('./relaying.ts'),
    webSocket ? import('./web-socket.ts') : undefined,
  ])
  const { transport, reservations } = relayTransport(maxRelayed)
  return {
    transports: [transport, ...(sockets === undefined || !webSocket ? [] : [sockets.diallingWebSockets(webSocket)])],
    reservations,
  }
}

/** Stops the node; what does not end in time is left to the end of the process. */
export async function stopNode(libp2p: Libp2p, clock: Clock): Promise<void> {
  const late = Promise.withResolvers<void>()
  const cancel = clock.after(STOP_TIMEOUT_MS, late.resolve)
  await Promise.race([libp2p.stop(), late.promise])
  cancel()
}

/** The libp2p name of a member. */
export function peerIdOf(holder: HolderId): PeerId {
  return peerIdFromPublicKey(publicKeyFromRaw(Buffer.from(holder, 'hex')))
}

/** The member behind a libp2p name; `undefined` for a name that is not made of an Ed25519 key. */
export function holderOf(peer: PeerId): HolderId | undefined {
  return peer.type === 'Ed25519' ? (toHex(peer.publicKey.raw) as HolderId) : undefined
}

// libp2p formats its trace lines even when nobody reads them; what matters is reported by the session.
const quiet: Logger = Object.assign(() => {}, {
  error: () => {},
  trace: () => {},
  enabled: false,
  newScope: () => quiet,
})
export const quietLogger: ComponentLogger = { forComponent: () => quiet }
