/**
 * A TCP proxy on loopback behind which everything is far away: each byte is half a round trip under way, and so is the
 * connection's own handshake.
 *
 * The system answers a SYN on loopback at once, so that the side that connects begins to talk a round trip too early;
 * what it says in that time is held until it could have been said.
 *
 * @module
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export interface DelayProxy {
  readonly port: number
  /** Where new connections go. */
  readonly lead: (port: number) => void
  readonly close: () => void
}

export async function openDelayProxy(roundTripMs: number, target = 0): Promise<DelayProxy> {
  let leadsTo = target
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(leadsTo, '127.0.0.1')
    const connectedAt = performance.now() + roundTripMs
    carry(near, far, (now) => Math.max(now, connectedAt) + roundTripMs / 2)
    carry(far, near, (now) => Math.max(now, connectedAt - roundTripMs / 2) + roundTripMs / 2)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    lead: (port) => {
      leadsTo = port
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** In order: a timer that fires late holds up all that came after. */
function carry(from: Socket, to: Socket, arrivesAt: (now: number) => number): void {
  const later = (act: () => void): void => {
    setTimeout(act, Math.max(0, arrivesAt(performance.now()) - performance.now()))
  }
  from.on('data', (chunk) => later(() => to.write(chunk)))
  from.on('end', () => later(() => to.end()))
  from.on('close', () => later(() => to.destroy()))
}

/** Where a server listens at that is told no port. */
function portOf(server: Server): number {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('expected a port')
  return bound.port
}

/** A port that nobody listens at now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}
