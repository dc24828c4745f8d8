/**
 * Frees the socket of a connection that is over, or its stream through a relay.
 *
 * libp2p counts a connection as closed when the peer has sent its end, and does nothing more with it: a peer that ends
 * and does not read keeps the socket, and everything still unsent, for as long as it likes.
 *
 * @module
 */
import { type MessageStream } from '@libp2p/interface'
import { type Clock } from '../../core/time.ts'

/** Time for what was written last to leave. */
export const LINGER_MS = 3_000

/** Frees what carries the connection a while after the connection closed: its socket, or its stream through a relay. */
export function lingerThenFree(connection: MessageStream, clock: Clock): void {
  const free = freeing(connection)
  if (free === undefined) return
  connection.addEventListener('close', () => clock.after(LINGER_MS, free), { once: true })
}

// Transports have what carries a connection as a property that its type does not name.
function freeing(connection: MessageStream): (() => void) | undefined {
  const socket = 'socket' in connection ? connection.socket : undefined
  if (hasMethod(socket, 'destroy')) return () => socket.destroy()
  const stream = 'stream' in connection ? connection.stream : undefined
  // Of the relay's own connection this is one stream among others, which stay.
  return hasMethod(stream, 'abort') ? () => stream.abort(new Error('the connection is over')) : undefined
}

function hasMethod<Name extends string>(
  value: unknown,
  name: Name,
): value is Readonly<Record<Name, (reason?: Error) => void>> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
}
