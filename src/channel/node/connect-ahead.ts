/**
 * Speaks to a member through a relay before the relay has said that it is connected.
 *
 * A relay that connects passes on all that comes behind the request, so waiting for its word would cost a round trip.
 * libp2p is told at once that it did; what the relay does say is taken out of what comes.
 *
 * Holds: nothing is delivered before the relay has said that it connected, and any other word ends the stream.
 *
 * @module
 */
import { type MessageStream } from '@libp2p/interface'
import { takeHead } from './take-head.ts'

/** The relay's longest word: a status, and the limits of the connection. */
const MAX_WORD_BYTES = 1_024

/** What libp2p speaks to ask a relay for something. */
export const RELAY_REQUEST_PROTOCOL = '/libp2p/circuit/relay/0.2.0/hop'

/** A stream on which a relay is about to be asked for something; only for a connection its answer is told ahead. */
export function connectAhead(stream: MessageStream): void {
  const send = stream.send.bind(stream)
  let isAsked = false
  takeHead(stream, (came) => (isAsked ? wordLength(came) : 0))
  stream.send = (data) => {
    if (isConnect(data.subarray(0, Math.min(data.byteLength, CONNECT.length + 1)))) {
      stream.send = send
      isAsked = true
      stream.push(CONNECTED)
    }
    return send(data)
  }
}

/** `HopMessage`s of Circuit Relay v2 in protobuf, behind their length in one byte. */
const CONNECT = [0x08, 0x01]
const CONNECTED = Uint8Array.of(4, 0x08, 0x02, 0x28, 0x64)

function isConnect(request: Uint8Array): boolean {
  return CONNECT.every((byte, index) => request[index + 1] === byte)
}

/** @throws {Error} for any status but that of a connection, and for what is none */
function wordLength(came: Uint8Array): number | undefined {
  const reader = new Reader(came)
  const length = reader.varint()
  if (length === undefined) return undefined
  if (length > MAX_WORD_BYTES) throw new Error(`expected a status of the relay, found a message of ${length} bytes`)
  const end = reader.at + length
  if (came.length < end) return undefined
  const status = statusIn(came.subarray(reader.at, end))
  if (status === OK) return end
  throw new Error(`failed to connect via relay with status ${STATUSES.get(status ?? 0) ?? status}`)
}

/** The number in the field `status`. */
function statusIn(message: Uint8Array): number | undefined {
  const reader = new Reader(message)
  for (let tag = reader.varint(); tag !== undefined; tag = reader.varint()) {
    const value = reader.varint()
    if (tag === STATUS_TAG) return value
    // Anything else is a number, or bytes behind their length.
    if (tag % 8 === LENGTH_DELIMITED) reader.at += value ?? 0
  }
  return undefined
}

const STATUS_TAG = 0x28
const LENGTH_DELIMITED = 2
const OK = 100
const STATUSES: ReadonlyMap<number, string> = new Map([
  [200, 'RESERVATION_REFUSED'],
  [201, 'RESOURCE_LIMIT_EXCEEDED'],
  [202, 'PERMISSION_DENIED'],
  [203, 'CONNECTION_FAILED'],
  [204, 'NO_RESERVATION'],
  [400, 'MALFORMED_MESSAGE'],
  [401, 'UNEXPECTED_MESSAGE'],
])

class Reader {
  readonly #bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** `undefined` where it is cut off. @throws {Error} beyond 28 bits, which nothing here has */
  varint(): number | undefined {
    let value = 0
    for (let shift = 0; shift < MAX_VARINT_BITS; shift += 7) {
      const byte = this.#bytes[this.at]
      if (byte === undefined) return undefined
      this.at += 1
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new Error('expected a status of the relay, found a number that is too large')
  }
}

const MAX_VARINT_BITS = 28
