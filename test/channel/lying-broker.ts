/**
 * A broker that says what a test tells it to, and a relay that leads elsewhere or changes what it carries.
 *
 * @module
 */
import { yamux } from '@chainsafe/libp2p-yamux'
import { type CircuitRelayServerComponents, circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { privateKeyFromRaw } from '@libp2p/crypto/keys'
import { type Connection, type Libp2p, type PeerId, type Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { type Broker } from '../../src/channel/broker/index.ts'
import { holderOf, quietLogger } from '../../src/channel/node/node.ts'
import { NoiseKeyRecords, recordingNoise } from '../../src/channel/node/noise.ts'
import { encodeRendezvousFrame, RendezvousReader } from '../../src/channel/rendezvous/framing.ts'
import {
  encodeFromBroker,
  type FromBroker,
  type Join,
  parseFromMember,
  RENDEZVOUS_PROTOCOL,
} from '../../src/channel/rendezvous/messages.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { closing } from './members.ts'

export interface Lies {
  /** Answers a join; with `joined` for an acceptor and nothing for an initiator unless there is more to say. */
  readonly onJoin?: (join: Join, say: (message: FromBroker) => void) => void
  /** To whom a relayed connection really goes. */
  readonly leads?: (wanted: HolderId) => HolderId
  /** What becomes of bytes on their way through the relay to the acceptor. */
  readonly bends?: (bytes: Uint8Array) => Uint8Array
  /** The relay takes requests and never answers them. */
  readonly stalls?: true
}

export interface LyingBroker extends Pick<Broker, 'ticketLine'> {
  readonly holder: HolderId
  /** Every join, in the order in which they came. */
  readonly joins: readonly Join[]
}

const OBSERVED = { host: '127.0.0.1', port: 1 }

/** Closed by `closeAll`. */
export async function startLyingBroker(lies: Lies): Promise<LyingBroker> {
  const key = holderKey(SecretKey.generate())
  const connections = new Map<string, Connection>()
  const joins: Join[] = []
  const libp2p = await createLibp2p({
    privateKey: privateKeyFromRaw(Buffer.concat([key.secret.reveal(), Buffer.from(key.id, 'hex')])),
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [recordingNoise(SecretKey.generate(), new NoiseKeyRecords())],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    services: { relay: (components: CircuitRelayServerComponents) => relayThatLies(components, connections, lies) },
    logger: quietLogger,
  })
  closing(async () => libp2p.stop())
  libp2p.addEventListener('connection:open', ({ detail }) => {
    const holder = holderOf(detail.remotePeer)
    if (holder !== undefined) connections.set(holder, detail)
  })
  await libp2p.handle(RENDEZVOUS_PROTOCOL, (stream) => listenFor(stream, joins, lies), { maxInboundStreams: 64 })
  return { holder: key.id, joins, ticketLine: ticketLineOf(libp2p) }
}

function ticketLineOf(libp2p: Libp2p): string {
  return String(libp2p.getMultiaddrs()[0])
}

function listenFor(stream: Stream, joins: Join[], { onJoin = answerPlainly }: Lies): void {
  const reader = new RendezvousReader()
  const say = (message: FromBroker): void => {
    stream.send(encodeRendezvousFrame(encodeFromBroker(message)))
  }
  stream.addEventListener('message', ({ data }) => {
    for (const payload of reader.push(data.subarray())) {
      const message = parseFromMember(payload)
      if (message?.kind !== 'join') continue
      joins.push(message)
      onJoin(message, say)
    }
  })
}

function answerPlainly(_: Join, say: (message: FromBroker) => void): void {
  say(JOINED)
}

export const JOINED: FromBroker = { kind: 'joined', observed: OBSERVED, waitSeconds: 30 }

/** What of libp2p's relay can be made to lie. */
interface Relay {
  onHop: (stream: Stream, connection: Connection) => Promise<void>
  stopHop: (request: { readonly connection: Connection }, options: object) => Promise<Stream | undefined>
}

function relayThatLies(
  components: CircuitRelayServerComponents,
  connections: ReadonlyMap<string, Connection>,
  { leads = (wanted) => wanted, bends, stalls }: Lies,
) {
  const led = (peer: PeerId): Connection[] => {
    const wanted = holderOf(peer)
    const connection = wanted === undefined ? undefined : connections.get(leads(wanted))
    return connection === undefined ? [] : [connection]
  }
  const relay = circuitRelayServer({ reservations: { applyDefaultLimit: false } })(
    Object.create(components, { connectionManager: { value: { getConnections: led } } }),
  )
  const inner = relay as unknown as Relay
  const { stopHop } = inner
  inner.stopHop = async (request, options) => {
    if (stalls === true) return new Promise(() => {})
    const stream = await stopHop.call(inner, request, options)
    if (stream !== undefined && bends !== undefined) {
      const send = stream.send.bind(stream)
      stream.send = (data) => send(bends(data.subarray()))
    }
    return stream
  }
  return relay
}
