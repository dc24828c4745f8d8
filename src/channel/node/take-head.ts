/**
 * Takes the beginning of what comes on a stream, before whoever reads the stream.
 *
 * Holds: nothing is delivered before the whole head came, and then all that came behind it.
 *
 * @module
 */
import { type MessageStream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'

/** Of libp2p's streams, the part by which what carries them hands over what came. */
interface Receiving extends MessageStream {
  onData: (data: Uint8Array | Uint8ArrayList) => void
}

/**
 * @param lengthOf how many bytes the head has, given all that came so far; `undefined` while more has to come. What it
 * throws ends the stream.
 */
export function takeHead(stream: MessageStream, lengthOf: (came: Uint8Array) => number | undefined): void {
  if (!isReceiving(stream)) throw new TypeError('expected a stream that is handed what came for it')
  const deliver = stream.onData.bind(stream)
  const came = new Uint8ArrayList()
  stream.onData = (data) => {
    came.append(data)
    try {
      const length = lengthOf(came.subarray())
      if (length === undefined) return
      came.consume(length)
    } catch (error) {
      stream.abort(error instanceof Error ? error : new Error(String(error)))
      return
    }
    stream.onData = deliver
    if (came.byteLength > 0) deliver(came)
  }
}

function isReceiving(stream: MessageStream): stream is Receiving {
  return 'onData' in stream && typeof stream.onData === 'function'
}
