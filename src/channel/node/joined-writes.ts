/**
 * Joins what a connection writes within one turn of the event loop into one write.
 *
 * Noise writes a length and a ciphertext for each frame of yamux; each would be a system call and a packet of its own.
 * Measured: a ping costs two writes instead of four and more.
 *
 * Holds: what waits below the muxer is bounded too; a peer that makes it grow is cut off.
 *
 * @module
 */
import { type MessageStream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { joinSmall } from './byte-parts.ts'

/** A peer that lets more than this wait below its stream window does not read; yamux would answer its pings for ever. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024
/** Written at once from here on: joining more gains nothing. */
const WRITE_NOW_BYTES = 128 * 1024

/** Replaces `send` and `close` of this one connection by forms that join; what it promises stays the same. */
export function joinWrites(connection: MessageStream): void {
  const send = connection.send.bind(connection)
  const close = connection.close.bind(connection)
  let parts: Uint8Array[] = []
  let bytes = 0
  let scheduled = false

  const flush = (): boolean => {
    if (bytes === 0) return !connection.writableNeedsDrain
    const joined = new Uint8ArrayList(...joinSmall(parts))
    parts = []
    bytes = 0
    return send(joined)
  }

  const flushLater = (): void => {
    scheduled = false
    // A connection that closed meanwhile has told its owner; these bytes have nowhere to go.
    if (connection.status === 'open') flush()
  }

  connection.send = (data) => {
    if (data instanceof Uint8Array) parts.push(data)
    else parts.push(...data)
    bytes += data.byteLength
    if (connection.writeBufferLength > MAX_UNSENT_BYTES) {
      connection.abort(new Error('the peer does not read'))
      return false
    }
    if (bytes >= WRITE_NOW_BYTES) return flush()
    if (!scheduled) {
      scheduled = true
      setImmediate(flushLater)
    }
    return !connection.writableNeedsDrain
  }

  connection.close = (options) => {
    if (connection.status === 'open') flush()
    return close(options)
  }
}
