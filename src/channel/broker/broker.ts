/**
 * A broker: members find each other here and, where nothing else works, are relayed.
 *
 * Nobody has to trust it: members prove their keys to each other and check each other's credentials end to end.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { isCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type HolderKey } from '../../core/keys.ts'
import { listenError } from '../../core/listen-error.ts'
import { type Log } from '../../core/log.ts'
import { type Clock, pause } from '../../core/time.ts'
import { type Address, formatAddress } from '../address.ts'
import { CARDS_PROTOCOL } from '../card-registry/messages.ts'
import { holderOf, stopNode } from '../node/node.ts'
import { type NoiseKeyRecords } from '../node/noise.ts'
import { addressOf, listeningAddress } from '../node/transport-address.ts'
import { RENDEZVOUS_PROTOCOL } from '../rendezvous/messages.ts'
import { streamWire } from '../session/stream-wire.ts'
import { type StatusServer, serveStatus } from '../status-pages/http.ts'
import { Arrivals } from './arrivals.ts'
import { CardServer, type ReadCard } from './card-server.ts'
import { type CardLimits, CardRegistry } from './cards.ts'
import { Connections } from './connections.ts'
import { type BrokerMetrics, Counters, prometheusText, snapshot } from './counters.ts'
import { type MemberPeer, type MemberWire } from './member-link.ts'
import { createBrokerNode, type RelayLimits } from './node.ts'
import { plainHost } from './passed-addresses.ts'
import { RelayGate } from './relay-gate.ts'
import { RendezvousServer } from './rendezvous-server.ts'
import { Rooms } from './rooms.ts'
import { type Tls } from './web-socket-listener.ts'

/** Rooms of one connection; a member with more opens another. */
const MAX_STREAMS = 64
/** Questions to the card registry on one connection at once. */
const MAX_CARD_STREAMS = 8
/** How often a draining broker looks whether it is still needed. */
const DRAIN_STEP_MS = 100

export interface OperatorLimits {
  readonly rooms: number
  readonly seats: number
  /** Relayed in a day. */
  readonly bytes: number
}

export interface BrokerOptions {
  /** Its identity, which members pin. */
  readonly holder: HolderKey
  readonly listen: readonly Address[]
  readonly wsListen?: readonly Address[] | undefined
  readonly tls?: Tls | undefined
  /** Multiaddrs to tell members instead of those found on this machine. */
  readonly advertise?: readonly string[] | undefined
  readonly httpListen?: Address | undefined
  /** The only operators whose members are admitted; any without it. */
  readonly operators?: ReadonlySet<HolderId> | undefined
  readonly limits: RelayLimits
  readonly operatorLimits: OperatorLimits
  /** The card registry; none without it. */
  readonly cards?: (CardLimits & { readonly read: ReadCard }) | undefined
  readonly clock: Clock
  readonly log: Log
}

export interface Broker {
  /** Multiaddrs with its identity. */
  readonly addresses: readonly string[]
  /** The one string for CT_CHANNEL_BROKER. */
  readonly ticketLine: string
  readonly httpAddress?: Address
  readonly metrics: () => BrokerMetrics
  /** Admits nobody any more, tells everybody, and waits until nothing is relayed, for at most `deadlineMs`. */
  readonly drain: (deadlineMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** @throws {CtError} `ERR_ADDRESS_IN_USE`, `ERR_ADDRESS_UNAVAILABLE` */
export async function createBroker(options: BrokerOptions): Promise<Broker> {
  const { holder, limits, operatorLimits, operators, clock, log } = options
  const listen = await Promise.all(options.listen.map(listeningAddress))
  const wsListen = await Promise.all((options.wsListen ?? []).map(listeningAddress))
  const counters = new Counters()
  const arrivals = new Arrivals()
  const rooms = new Rooms({
    rooms: limits.connections,
    seats: limits.connections * SEATS_PER_CONNECTION,
    operatorRooms: operatorLimits.rooms,
    operatorSeats: operatorLimits.seats,
  })
  const server: RendezvousServer = new RendezvousServer({
    rooms,
    counters,
    arrivals,
    operators,
    onRemoved: (room, isRemoved) => gate.cut(room, isRemoved),
    clock,
    log,
  })
  const registry = options.cards && new CardRegistry(options.cards)
  const cardServer =
    registry &&
    options.cards &&
    new CardServer({
      registry,
      read: options.cards.read,
      mayPublish: (member) => operators === undefined || rooms.seatsOf(member).length > 0,
      isDraining: () => server.isDraining,
      counters,
      clock,
      log,
    })
  const connections: Connections = new Connections(
    clock,
    limits.connections,
    (connection) => server.uses(connection) || gate.relays(connection.remotePeer),
  )
  const gate: RelayGate = new RelayGate({
    rooms,
    counters,
    arrivals,
    connectionOf: (seat) => {
      const connection = server.connectionOf(seat)
      return connections.has(connection) ? connection : undefined
    },
    isDraining: () => server.isDraining,
    clock,
    maxPeerRelayed: limits.peerRelayed,
    operatorBytes: operatorLimits.bytes,
  })
  const { tls, advertise } = options
  const node = await createBrokerNode({ holder, listen, wsListen, tls, advertise, limits, gate, clock })
  const { libp2p, noiseKeys } = node
  const metrics = (): BrokerMetrics =>
    snapshot(
      {
        ...rooms.counts,
        reservations: node.reservations(),
        connections: connections.size,
        relayedNow: gate.relayedNow,
        cards: registry?.size ?? 0,
        rssBytes: process.memoryUsage.rss(),
      },
      counters,
    )

  const open = (connection: Connection): void => {
    connections.opened(connection)
    connection.addEventListener('close', () => {
      connections.closed(connection)
      server.closed(connection)
    })
  }

  let status: StatusServer | undefined
  const close = async (): Promise<void> => {
    server.stop()
    cardServer?.stop()
    connections.stop()
    await Promise.all([status?.close(), stopNode(libp2p, clock)])
  }
  try {
    await libp2p.handle(
      RENDEZVOUS_PROTOCOL,
      (stream, connection) => {
        const peer = peerOf(stream, connection, noiseKeys)
        if (peer !== undefined) server.accept(memberWire(stream, connection, clock), peer)
      },
      { maxInboundStreams: MAX_STREAMS, runOnLimitedConnection: false },
    )
    if (cardServer !== undefined) {
      await libp2p.handle(
        CARDS_PROTOCOL,
        (stream, connection) => {
          const peer = peerOf(stream, connection, noiseKeys)
          if (peer !== undefined) cardServer.accept(memberWire(stream, connection, clock), peer)
        },
        { maxInboundStreams: MAX_CARD_STREAMS, runOnLimitedConnection: false },
      )
    }
    libp2p.addEventListener('connection:open', ({ detail }) => open(detail))
    await libp2p.start()
    server.start()
    cardServer?.start()
    connections.start()
    if (options.httpListen !== undefined) {
      const pages = { isHealthy: () => !server.isDraining, metrics: () => prometheusText(metrics()) }
      status = await serveStatus(await listeningAddress(options.httpListen), pages)
    }
  } catch (error) {
    await close()
    throw isCtError(error) ? error : listenError(error, [...listen, ...wsListen].map(formatAddress).join(', '))
  }
  const addresses = node
    .addresses()
    .slice(0, MAX_SHOWN_ADDRESSES)
    .map((address) => `${address.toString()}/p2p/${libp2p.peerId.toString()}`)
  return {
    addresses,
    ticketLine: addresses.join(','),
    ...(status === undefined ? {} : { httpAddress: status.address }),
    metrics,
    drain: async (deadlineMs) => {
      server.drain()
      const deadline = clock.monotonic() + deadlineMs
      while (gate.relayedNow > 0 && clock.monotonic() < deadline) await pause(clock, DRAIN_STEP_MS)
    },
    close,
  }
}

/** A member may be in several rooms. */
const SEATS_PER_CONNECTION = 4
/** More addresses than one machine has uses for. */
const MAX_SHOWN_ADDRESSES = 8

/** Who opened the stream; it is ended when that cannot be a member. */
function peerOf(stream: Stream, connection: Connection, noiseKeys: NoiseKeyRecords): MemberPeer | undefined {
  const holder = holderOf(connection.remotePeer)
  const observed = addressOf(connection.remoteAddr)
  if (holder === undefined || observed === undefined) {
    stream.abort(new Error('expected a member with an Ed25519 key and an IP address'))
    return undefined
  }
  const host = plainHost(observed.host)
  return { holder, noiseKeys: noiseKeys.keysOf(connection), observed: { host, port: observed.port }, connection }
}

/** For the last words to be read; a member that does not close its side then is not waited for. */
const LINGER_MS = 3_000

/** As the wire of a session, but its end leaves the connection: other rooms and relayed streams go over it. */
function memberWire(stream: Stream, connection: Connection, clock: Clock): MemberWire {
  const { write, drained, listen } = streamWire(stream, connection)
  return {
    write,
    drained,
    listen,
    finish: (signal) => {
      clock.after(LINGER_MS, () => stream.abort(new Error('the stream is over')))
      return stream.close({ signal })
    },
    destroy: (reason) => stream.abort(reason),
  }
}
