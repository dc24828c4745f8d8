/**
 * The stream multiplexer of a member, and of a broker.
 *
 * Holds: whoever comes to this member gets the streams of one session and no more; only towards a broker, to which this
 * member goes, is every relayed session a stream of one connection.
 *
 * @module
 */
import { yamux } from '@chainsafe/libp2p-yamux'
import { type StreamMuxerFactory } from '@libp2p/interface'
import { selectingAhead } from './optimistic-select.ts'
import { sparing } from './sparing-windows.ts'
import { sturdy } from './sturdy-muxer.ts'

/** Largest window of a stream: what may be on its way to a peer that does not read, and what a ping may wait behind. */
const STREAM_WINDOW_BYTES = 1024 * 1024
/** As good as never after the first. */
const MUXER_PING_MS = 3_600_000
/** More unread bytes than this end the stream; above the window, so that only a peer that ignores it is hit. */
const READ_BUFFER_BYTES = 2 * STREAM_WINDOW_BYTES
/** Unsent bytes in the muxer; the outbox stops at the first refusal, so this bound is never reached in good order. */
const WRITE_BUFFER_BYTES = 16 * 1024 * 1024
/** A connection carries one session, and talks of a better way; one more leaves room for it to be refused in words. */
const SESSION_STREAMS = 3

/** @param relayed sessions through the broker at once; none without one */
export function memberMuxer(relayed = 0): () => StreamMuxerFactory {
  return () => {
    const few = windowedMuxer(SESSION_STREAMS, SESSION_STREAMS)
    if (relayed === 0) return few
    const many = windowedMuxer(relayed, relayed)
    return {
      protocol: few.protocol,
      [Symbol.toStringTag]: 'ct-agent/muxer',
      createStreamMuxer: (connection) =>
        (connection.direction === 'outbound' ? many : few).createStreamMuxer(connection),
    }
  }
}

/** @param inbound streams that the other side opens, and @param outbound those of this one, at once */
export function windowedMuxer(inbound: number, outbound: number): StreamMuxerFactory {
  const windowed = yamux({
    // The first ping tells yamux the round trip, without which its windows never grow; the session asks for life signs.
    keepAliveInterval: MUXER_PING_MS,
    maxInboundStreams: inbound,
    maxOutboundStreams: outbound,
    streamOptions: {
      maxStreamWindowSize: STREAM_WINDOW_BYTES,
      maxReadBufferLength: READ_BUFFER_BYTES,
      maxWriteBufferLength: WRITE_BUFFER_BYTES,
    },
  })
  return selectingAhead(sparing(sturdy(windowed())))
}
