/**
 * Frees the socket of a connection that is over.
 *
 * libp2p counts a connection as closed when the peer has sent its end, and does nothing more with it: a peer that ends
 * and does not read keeps the socket, and everything still unsent, for as long as it likes.
 *
 * @module
 */
import { type MessageStream } from '@libp2p/interface'
import { type Clock } from '../core/time.ts'

/** Time for what was written last to leave. */
export const LINGER_MS = 3_000

interface Destroyable {
  readonly destroy: () => void
}

/** Destroys the socket under the connection a while after the connection closed. */
export function lingerThenFree(connection: MessageStream, clock: Clock): void {
  const socket = socketOf(connection)
  if (socket === undefined) return
  connection.addEventListener('close', () => clock.after(LINGER_MS, () => socket.destroy()), { once: true })
}

// The TCP transport's connection has its socket as a property that its type does not name.
function socketOf(connection: MessageStream): Destroyable | undefined {
  const socket = 'socket' in connection ? connection.socket : undefined
  const destroyable = typeof socket === 'object' && socket !== null && 'destroy' in socket
  return destroyable && typeof socket.destroy === 'function' ? (socket as Destroyable) : undefined
}
