/**
 * A muxer that opens the window of a stream again in steps, not for every small message.
 *
 * Yamux of js-libp2p answers every frame with a window update: an encryption and a packet that wake the peer for each
 * message. The peer needs to hear of it only before its window is used up.
 *
 * Holds: the first update, which opens or accepts the stream, leaves at once; after it the window is never short of more
 * than {@link MAX_OWED_BYTES}. Each large frame is answered, as the growth of windows needs it.
 *
 * @module
 */
import { type Stream, type StreamMuxer, type StreamMuxerFactory } from '@libp2p/interface'

/** Some hundred small calls, a quarter of a frame of bulk, and a sixteenth of the first window. */
export const MAX_OWED_BYTES = 16 * 1024

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
    const owed = stream.recvWindow - stream.recvWindowCapacity
    if (isOpen && owed <= MAX_OWED_BYTES) return
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
