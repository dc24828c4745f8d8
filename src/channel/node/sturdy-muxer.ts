/**
 * A muxer that can always be ended.
 *
 * Yamux says goodbye when it is ended by force, and throws when what it would say it on is closed already; libp2p then
 * neither frees the connection nor returns, and who ends connections by the clock has nobody to catch it.
 *
 * @module
 */
import { type StreamMuxerFactory } from '@libp2p/interface'

export function sturdy(factory: StreamMuxerFactory): StreamMuxerFactory {
  return {
    protocol: factory.protocol,
    createStreamMuxer: (connection) => {
      const muxer = factory.createStreamMuxer(connection)
      const abort = muxer.abort.bind(muxer)
      muxer.abort = (error) => {
        try {
          abort(error)
        } catch {
          // Its streams are ended; only the goodbye did not leave.
        }
      }
      return muxer
    },
  }
}
