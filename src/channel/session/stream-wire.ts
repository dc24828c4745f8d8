/**
 * A libp2p stream as the wire of a session.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { wayOf } from './way.ts'
import { type Wire } from './wire.ts'

/** Closing the wire closes its connection: a connection carries one session. */
export function streamWire(stream: Stream, connection: Connection, isPunched = false): Wire {
  return {
    way: wayOf(connection.remoteAddr.toString(), isPunched),
    write: (parts) => stream.send(new Uint8ArrayList(...parts)),
    drained: drainedOf(stream),
    hold: (held) => {
      // A stream that is closing refuses either, and has no more to deliver.
      if (stream.status !== 'open') return
      if (held) stream.pause()
      else stream.resume()
    },
    finish: async (signal) => {
      if (connection.status !== 'open') return
      // libp2p's close waits for ever when the peer's own end comes at the same time: it misses the event it waits for.
      const gone = new Promise<void>((resolve) => {
        connection.addEventListener('close', () => resolve(), { once: true })
      })
      const late = new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('closing took too long')), { once: true })
      })
      const closed = stream.close({ signal }).then(() => connection.close({ signal }))
      try {
        await Promise.race([closed, gone, late])
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
      stream.addEventListener('message', ({ data }) => {
        if (data instanceof Uint8Array) onBytes(data)
        else for (const part of data) onBytes(part)
      })
      stream.addEventListener('remoteCloseWrite', () => end())
      stream.addEventListener('close', (event) => end(event.error))
      if (stream.status !== 'open') end()
    },
  }
}

/**
 * `Stream.onDrain` keeps its first promise for ever, so it waits only once; and a stream says it drained although what
 * it holds does not all fit into the window that was opened. Resolves when it takes more without keeping it.
 */
function drainedOf(stream: Stream): () => Promise<void> {
  let waiting: PromiseWithResolvers<void> | undefined
  const settle = (): void => {
    if (stream.writableNeedsDrain) return
    waiting?.resolve()
    waiting = undefined
  }
  // The stream's own listener writes on in a microtask that was queued before this one.
  stream.addEventListener('drain', () => queueMicrotask(settle))
  stream.addEventListener('close', ({ error }) => waiting?.reject(error ?? new Error('the stream was closed')))
  return () => {
    if (stream.status !== 'open') return Promise.reject(new Error('the stream was closed'))
    if (!stream.writableNeedsDrain) return Promise.resolve()
    waiting ??= Promise.withResolvers()
    return waiting.promise
  }
}
