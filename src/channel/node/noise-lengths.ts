/**
 * Reads the lengths that Noise writes before its messages, without an exception at the end of each read.
 *
 * libp2p-noise asks for the length of a message before it has come, and is told so by an error that is thrown and caught;
 * that takes longer than to decrypt a small message.
 *
 * @module
 */
import { type MessageStream } from '@libp2p/interface'
import { type Uint8ArrayList } from 'uint8arraylist'

const LENGTH_BYTES = 2
/** Of a length that has not fully come: what is there is shorter than any such message, so more is waited for. */
const NOT_COME = 0xffff

/** Of libp2p-noise's connections, the part that cuts what comes into messages. */
interface DecodingStream extends MessageStream {
  readonly decoder: { lengthDecoder: (came: Uint8ArrayList) => number }
}

/** Changes how the encrypted connection reads lengths; what it delivers stays the same. */
export function readLengthsCalmly(connection: MessageStream): void {
  if (!isDecoding(connection)) throw new TypeError('expected a connection that decodes lengths')
  connection.decoder.lengthDecoder = lengthOf
}

function lengthOf(came: Uint8ArrayList): number {
  return came.byteLength < LENGTH_BYTES ? NOT_COME : came.get(0) * 0x100 + came.get(1)
}

function isDecoding(connection: MessageStream): connection is DecodingStream {
  if (!('decoder' in connection)) return false
  const { decoder } = connection
  return typeof decoder === 'object' && decoder !== null && 'lengthDecoder' in decoder
}
