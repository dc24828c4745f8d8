/**
 * A libp2p stream as the wire of a session.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { type Wire } from './wire.ts'

/** Closing the wire closes its connection: a connection carries one session. */
export function streamWire(stream: Stream, connection: Connection): Wire {
  return {
    write: (bytes) => stream.send(bytes),
    drained: () => stream.onDrain(),
    finish: async (signal) => {
      try {
        await stream.close({ signal })
        await connection.close({ signal })
      } catch (error) {
        connection.abort(error instanceof Error ? error : new Error(String(error)))
      }
    },
    destroy: (reason) => {
      stream.abort(reason)
      connection.abort(reason)
    },
    listen: ({ onBytes, onEnd }) => {
      let ended = false
      const end = (error?: Error): void => {
        if (ended) return
        ended = true
        onEnd(error)
      }
      stream.addEventListener('message', ({ data }) => onBytes(data.subarray()))
      stream.addEventListener('remoteCloseWrite', () => end())
      stream.addEventListener('close', (event) => end(event.error))
      if (stream.status !== 'open') end()
    },
  }
}
