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
      // libp2p's close waits for ever when the peer's own end comes at the same time: it misses the event it waits for.
      const gone = new Promise<void>((resolve) => connection.addEventListener('close', () => resolve(), { once: true }))
      if (connection.status !== 'open') return
      const closed = stream.close({ signal }).then(() => connection.close({ signal }))
      try {
        await Promise.race([closed, gone])
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
