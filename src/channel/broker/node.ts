/**
 * The libp2p node of a broker: a persistent identity, TCP and WebSocket listeners, and the circuit relay.
 *
 * Holds: it never dials. Whom it relays is the gate's decision, and the relay's limits are the ones it is given.
 *
 * @module
 */
import {
  type CircuitRelayServerComponents,
  type CircuitRelayService,
  circuitRelayServer,
} from '@libp2p/circuit-relay-v2'
import { privateKeyFromRaw } from '@libp2p/crypto/keys'
import { type Libp2p } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { type HolderKey, SecretKey } from '../../core/keys.ts'
import { type Clock } from '../../core/time.ts'
import { type Address } from '../address.ts'
import { windowedMuxer } from '../node/muxer.ts'
import { quietLogger } from '../node/node.ts'
import { NoiseKeyRecords, recordingNoise } from '../node/noise.ts'
import { ipMultiaddr } from '../node/transport-address.ts'
import { carryingRelay } from './carrying.ts'
import { Handshakes } from './handshakes.ts'
import { MAX_REQUESTS, type RelayGate } from './relay-gate.ts'
import { listeningWebSockets, type Tls } from './web-socket-listener.ts'

const INBOUND_UPGRADE_TIMEOUT_MS = 10_000
/** Handshakes under way at once. */
const MAX_PENDING_CONNECTIONS = 1_024
/** From one address; thousands of members may sit behind it, and all come back at once when the broker was away. */
const CONNECTIONS_PER_SECOND = 256
const LISTEN_BACKLOG = 1_024
/** Streams beyond those that are relayed: one for each room, and requests to the relay. */
const SPARE_STREAMS = 128
/** To answer one request to the relay, the other member's answer included. */
const HOP_TIMEOUT_MS = 15_000
const RESERVATION_TTL_MS = 3_600_000

export interface RelayLimits {
  readonly connections: number
  readonly reservations: number
  /** Of one member at once. */
  readonly peerRelayed: number
  /** Of one relayed connection. */
  readonly relayBytes: number
  readonly relaySeconds: number
}

export interface BrokerNodeOptions {
  readonly holder: HolderKey
  readonly listen: readonly Address[]
  readonly wsListen: readonly Address[]
  readonly tls?: Tls | undefined
  /** Multiaddrs to tell members instead of those found on this machine. */
  readonly advertise?: readonly string[] | undefined
  readonly limits: RelayLimits
  readonly gate: RelayGate
  readonly clock: Clock
}

export interface BrokerNode {
  readonly libp2p: Libp2p
  readonly noiseKeys: NoiseKeyRecords
  readonly reservations: () => number
  /** Where members reach it, without its identity. */
  readonly addresses: () => readonly Multiaddr[]
}

export async function createBrokerNode(options: BrokerNodeOptions): Promise<BrokerNode> {
  const { holder, listen, wsListen, tls, limits, gate, clock } = options
  const noiseKeys = new NoiseKeyRecords()
  const handshakes = new Handshakes()
  let components: CircuitRelayServerComponents | undefined
  const addresses = (): readonly Multiaddr[] =>
    options.advertise?.map((text) => multiaddr(text)) ?? foundAddresses(components)
  const libp2p = await createLibp2p<{ readonly relay: CircuitRelayService }>({
    privateKey: privateKeyFromRaw(Buffer.concat([holder.secret.reveal(), Buffer.from(holder.id, 'hex')])),
    addresses: {
      listen: [
        ...listen.map(({ host, port }) => ipMultiaddr(host, port).toString()),
        ...wsListen.map(
          ({ host, port }) => `${ipMultiaddr(host, port).toString()}${tls === undefined ? '' : '/tls'}/ws`,
        ),
      ],
    },
    transports: [tcp({ backlog: LISTEN_BACKLOG }), ...(wsListen.length === 0 ? [] : [listeningWebSockets(tls, clock)])],
    // Members pin the broker's identity; its Noise key means nothing and lives as long as the process.
    connectionEncrypters: [recordingNoise(SecretKey.generate(), noiseKeys)],
    // With the windows of a session: a relayed stream carries one.
    streamMuxers: [() => windowedMuxer(MAX_REQUESTS + SPARE_STREAMS, limits.peerRelayed + SPARE_STREAMS)],
    connectionManager: {
      maxConnections: limits.connections,
      maxIncomingPendingConnections: MAX_PENDING_CONNECTIONS,
      inboundConnectionThreshold: CONNECTIONS_PER_SECOND,
      inboundUpgradeTimeout: INBOUND_UPGRADE_TIMEOUT_MS,
      reconnectRetries: 0,
    },
    connectionMonitor: { enabled: false },
    connectionGater: {
      denyDialPeer: () => true,
      denyDialMultiaddr: () => true,
      denyInboundConnection: handshakes.refuses,
      denyInboundUpgradedConnection: handshakes.succeeded,
      denyInboundRelayReservation: gate.denyReservation,
      denyOutboundRelayedConnection: gate.denyRelayed,
    },
    services: {
      relay: (found: CircuitRelayServerComponents) => {
        components = found
        return relayOf(found, options, addresses)
      },
    },
    logger: quietLogger,
    start: false,
  })
  const { reservations } = libp2p.services.relay
  libp2p.addEventListener('peer:disconnect', ({ detail }) => {
    // The relay keeps reservations of members that are gone until they expire, and an old one's timer would then
    // end a newer one.
    reservations.get(detail)?.signal.clear()
    reservations.delete(detail)
    libp2p.peerStore.delete(detail).catch(() => {})
  })
  return { libp2p, noiseKeys, reservations: () => reservations.size, addresses }
}

function relayOf(
  components: CircuitRelayServerComponents,
  { limits, gate }: BrokerNodeOptions,
  addresses: () => readonly Multiaddr[],
): CircuitRelayService {
  const { registrar, peerStore, peerId, privateKey, connectionGater, logger } = components
  const relay = circuitRelayServer({
    hopTimeout: HOP_TIMEOUT_MS,
    maxInboundHopStreams: MAX_REQUESTS,
    maxOutboundStopStreams: limits.peerRelayed,
    reservations: {
      maxReservations: limits.reservations,
      reservationTtl: RESERVATION_TTL_MS,
      // In milliseconds, whatever the protocol says: the server sets a timer with it.
      defaultDurationLimit: limits.relaySeconds * 1_000,
      defaultDataLimit: BigInt(limits.relayBytes),
    },
  })
  const own = `/p2p/${peerId.toString()}`
  const guarded: typeof registrar.handle = (protocol, handler, handling) => {
    const guard: typeof handler = async (stream, connection) => {
      if (gate.allowsRequest(connection)) {
        // A member may ask for its seat and for the relay in one breath.
        await gate.isPlaced(connection)
        await handler(stream, connection)
      } else {
        stream.abort(new Error('too many requests to the relay'))
      }
    }
    return registrar.handle(protocol, guard, handling)
  }
  const running = relay({
    registrar: { handle: guarded, unhandle: registrar.unhandle.bind(registrar) } as typeof registrar,
    peerStore,
    peerId,
    privateKey,
    connectionGater,
    logger,
    // The relay asks it for nothing else. Left to itself it would take the oldest connection of a key, which may be
    // that of another process, or one that is dead and not yet known to be.
    connectionManager: { getConnections: gate.connectionsTo } as unknown as typeof components.connectionManager,
    addressManager: {
      getAddresses: () => addresses().map((address) => address.encapsulate(own)),
    } as typeof components.addressManager,
  })
  return carryingRelay(running, { maxBytes: limits.relayBytes, after: (ms, run) => void setTimeout(run, ms).unref() })
}

// With those that libp2p has not seen anybody dial: it takes no public address for one of its own before that.
function foundAddresses(components: CircuitRelayServerComponents | undefined): readonly Multiaddr[] {
  const found = components?.addressManager.getAddressesWithMetadata().map(({ multiaddr: address }) => address) ?? []
  const reachable = found.filter((address) => !LOOPBACK.test(address.toString()))
  return reachable.length > 0 ? reachable : found
}

const LOOPBACK = /^\/(ip4\/127\.|ip6\/::1\/)/
