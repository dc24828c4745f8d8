/**
 * A js-libp2p node as its documentation sets it up: TCP, Noise, yamux, defaults elsewhere.
 *
 * @module
 */
import { once } from 'node:events'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { type Libp2p, type Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'

export const LINES_PROTOCOL = '/bench/lines/1'
export const SINK_PROTOCOL = '/bench/sink/1'
/** Above the default of 5 a second, which a test of many peers from one address would only measure. */
const CONNECTIONS_PER_SECOND = 1_000
const MAX_CONNECTIONS = 2_000

export function createRawNode(listen: readonly string[]): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen: [...listen] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionManager: {
      maxConnections: MAX_CONNECTIONS,
      maxIncomingPendingConnections: MAX_CONNECTIONS,
      inboundConnectionThreshold: CONNECTIONS_PER_SECOND,
    },
  })
}

/** `Stream.onDrain` waits only the first time: it keeps its first promise for ever. */
export async function drained(stream: Stream): Promise<void> {
  if (stream.writableNeedsDrain) await once(stream, 'drain')
}
