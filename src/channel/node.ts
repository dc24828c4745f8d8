/**
 * The libp2p node of a member: its holder key is the libp2p identity, so the Noise handshake proves possession of it.
 *
 * Only the session protocol is spoken: no identify, no peer discovery, no routing.
 *
 * @module
 */
import { yamux } from '@chainsafe/libp2p-yamux'
import { privateKeyFromRaw, publicKeyFromRaw } from '@libp2p/crypto/keys'
import { type ComponentLogger, type Libp2p, type Logger, type PeerId } from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { toHex } from '../core/bytes.ts'
import { type HolderId } from '../core/ids.ts'
import { type HolderKey, type NoiseKey } from '../core/keys.ts'
import { type Clock } from '../core/time.ts'
import { type Address } from './address.ts'
import { NoiseKeyRecords, recordingNoise } from './noise.ts'
import { ipMultiaddr } from './transport-address.ts'

/** Name of the session protocol; see docs/protocol.md. */
export const SESSION_PROTOCOL = '/ct-agent/session/1'
/** Largest window of a stream: what may be on its way to a peer that does not read, and what a ping may wait behind. */
const STREAM_WINDOW_BYTES = 1024 * 1024
/** As good as never after the first. */
const MUXER_PING_MS = 3_600_000
/** More unread bytes than this end the stream; above the window, so that only a peer that ignores it is hit. */
const READ_BUFFER_BYTES = 2 * STREAM_WINDOW_BYTES
/** Unsent bytes in the muxer; the outbox stops at the first refusal, so this bound is never reached in good order. */
const WRITE_BUFFER_BYTES = 16 * 1024 * 1024
/** Time for one address to answer, handshake included. */
const ADDRESS_DIAL_TIMEOUT_MS = 4_000
/** Time for one dial with its wait in libp2p's queue; each dial has one address. */
const DIAL_TIMEOUT_MS = 12_000
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
}

export interface ChannelNode {
  readonly libp2p: Libp2p
  readonly noiseKeys: NoiseKeyRecords
}

export async function createNode({ holder, noise, listen, maxSessions }: NodeOptions): Promise<ChannelNode> {
  const noiseKeys = new NoiseKeyRecords()
  const libp2p = await createLibp2p({
    // libp2p's form of an Ed25519 private key: secret and public half.
    privateKey: privateKeyFromRaw(Buffer.concat([holder.secret.reveal(), Buffer.from(holder.id, 'hex')])),
    addresses: { listen: listen.map(({ host, port }) => ipMultiaddr(host, port).toString()) },
    transports: [tcp()],
    connectionEncrypters: [recordingNoise(noise.secret, noiseKeys)],
    streamMuxers: [
      yamux({
        // The first ping tells yamux the round trip, without which its windows never grow; the session asks for life signs.
        keepAliveInterval: MUXER_PING_MS,
        // A connection carries one session; one more leaves room for it to be refused in words.
        maxInboundStreams: 2,
        maxOutboundStreams: 2,
        streamOptions: {
          maxStreamWindowSize: STREAM_WINDOW_BYTES,
          maxReadBufferLength: READ_BUFFER_BYTES,
          maxWriteBufferLength: WRITE_BUFFER_BYTES,
        },
      }),
    ],
    connectionManager: {
      maxConnections: maxSessions + SPARE_CONNECTIONS,
      maxIncomingPendingConnections: MAX_PENDING_CONNECTIONS,
      inboundConnectionThreshold: CONNECTIONS_PER_SECOND,
      inboundUpgradeTimeout: INBOUND_UPGRADE_TIMEOUT_MS,
      dialTimeout: DIAL_TIMEOUT_MS,
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
  return { libp2p, noiseKeys }
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
const quietLogger: ComponentLogger = { forComponent: () => quiet }
