/**
 * Chooses a protocol without waiting for the far end to agree.
 *
 * On every connection and every stream of a member there is one protocol that it can be, so waiting for the answer of
 * multistream-select would cost a round trip and tell nothing. libp2p is told at once what the far end is to say, and
 * goes on; what the far end does say is taken out of what comes, and compared.
 *
 * Holds: what is written is what multistream-select writes, in its order; nothing of what comes is delivered before the
 * right answer came, and any other answer ends the stream or connection.
 *
 * @module
 */
import {
  type ConnectionProtector,
  type MessageStream,
  type StreamMuxerFactory,
  UnsupportedProtocolError,
} from '@libp2p/interface'
import { connectAhead, RELAY_REQUEST_PROTOCOL } from './connect-ahead.ts'
import { takeHead } from './take-head.ts'

/** @param name of the protocol that libp2p is about to ask for; at most 125 characters */
export function selectAhead(stream: MessageStream, name: string): void {
  const answer = answerOf(name)
  takeHead(stream, (came) => {
    const said = came.subarray(0, answer.length)
    if (Buffer.compare(said, answer.subarray(0, said.length)) !== 0) {
      throw new UnsupportedProtocolError(`the far end does not speak ${name}`)
    }
    return said.length === answer.length ? said.length : undefined
  })
  stream.push(answer)
}

/** The far end does not speak the protocol that was asked for, which shows only when its answer comes. */
export function isUnspoken(error: unknown): error is Error {
  return error instanceof Error && error.name === UNSPOKEN
}

const UNSPOKEN = new UnsupportedProtocolError().name

/** Streams that a member opens for one protocol. */
export function selectingAhead(factory: StreamMuxerFactory): StreamMuxerFactory {
  return {
    protocol: factory.protocol,
    createStreamMuxer: (connection) => {
      const muxer = factory.createStreamMuxer(connection)
      const create = muxer.createStream.bind(muxer)
      muxer.createStream = async (options) => {
        const stream = await create(options)
        // Before the other, for what the relay says comes behind the agreement.
        if (options?.protocol === RELAY_REQUEST_PROTOCOL) connectAhead(stream)
        if (options?.protocol !== undefined) selectAhead(stream, options.protocol)
        return stream
      }
      return muxer
    },
  }
}

/**
 * Connections that a member makes, of which libp2p lets see no more than this before it asks for the encryption.
 *
 * @param encryption the only one of this node
 */
export function connectingAhead(encryption: string): () => ConnectionProtector {
  return () => ({
    protect: (connection, options) => {
      const answers = options !== undefined && 'initiator' in options && options.initiator === false
      const { direction } = connection
      if (direction === 'outbound' && !answers) selectAhead(connection, encryption)
      return Promise.resolve(connection)
    },
  })
}

/** Each line is led by its length, in one byte. */
function answerOf(name: string): Uint8Array {
  const lines = [HEADER, name].map((line) => Buffer.from(`${line}\n`))
  return Buffer.concat(lines.flatMap((line) => [Uint8Array.of(line.length), line]))
}

const HEADER = '/multistream/1.0.0'
