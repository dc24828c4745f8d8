/**
 * A muxer that opens the window of a stream again in large steps.
 *
 * Yamux of js-libp2p answers every frame with a window update: an encryption and a packet that wake the peer for each
 * message. The peer needs to hear of it only before its window is used up.
 *
 * Holds: the first update, which opens or accepts the stream, leaves at once; after it the peer may always send at least
 * three quarters of the window that it was given.
 *
 * @module
 */
import { type Stream, type StreamMuxer, type StreamMuxerFactory } from '@libp2p/interface'

/** An update leaves when this share of the window is used: late enough to be rare, early enough that nobody waits. */
const UPDATE_SHARE = 1 / 4

/** Of yamux's streams, the part that gives the peer more to send. */
interface WindowedStream extends Stream {
  readonly recvWindow: number
  readonly recvWindowCapacity: number
  sendWindowUpdate: () => void
}

/** Of libp2p's muxers, the part that takes a stream that the peer opened. */
interface AcceptingMuxer extends StreamMuxer {
  onRemoteStream: (stream: Stream) => void
}

export function sparing(factory: StreamMuxerFactory): StreamMuxerFactory {
  return {
    protocol: factory.protocol,
    createStreamMuxer: (connection) => {
      const muxer = factory.createStreamMuxer(connection)
      if (!isAccepting(muxer)) throw new TypeError('expected a muxer that is handed the streams of its peer')
      const accept = muxer.onRemoteStream.bind(muxer)
      const create = muxer.createStream.bind(muxer)
      muxer.onRemoteStream = (stream) => accept(spare(stream))
      muxer.createStream = async (options) => spare(await create(options))
      return muxer
    },
  }
}

function spare(stream: Stream): Stream {
  if (!isWindowed(stream)) throw new TypeError('expected a stream that updates its window')
  const update = stream.sendWindowUpdate.bind(stream)
  let isOpen = false
  stream.sendWindowUpdate = () => {
    const used = stream.recvWindow - stream.recvWindowCapacity
    if (isOpen && used < stream.recvWindow * UPDATE_SHARE) return
    isOpen = true
    update()
  }
  return stream
}

function isAccepting(muxer: StreamMuxer): muxer is AcceptingMuxer {
  return 'onRemoteStream' in muxer && typeof muxer.onRemoteStream === 'function'
}

function isWindowed(stream: Stream): stream is WindowedStream {
  return 'sendWindowUpdate' in stream && typeof stream.sendWindowUpdate === 'function'
}
