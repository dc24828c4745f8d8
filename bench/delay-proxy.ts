/**
 * A TCP proxy on loopback behind which everything is far away: each byte is half a round trip under way, and so is the
 * connection's own handshake.
 *
 * The system answers a SYN on loopback at once, so that the side that connects begins to talk a round trip too early;
 * what it says in that time is held until it could have been said. A packet that is lost shows, to whoever speaks TCP, as
 * bytes that come late, and all behind them.
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

/** @param lateMs how much later than others the next bytes are; asked for each piece */
export async function openDelayProxy(roundTripMs: number, target = 0, lateMs = onTime): Promise<DelayProxy> {
  let leadsTo = target
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(leadsTo, '127.0.0.1')
    const connectedAt = performance.now() + roundTripMs
    carry(near, far, (now) => Math.max(now, connectedAt) + roundTripMs / 2 + lateMs())
    carry(far, near, (now) => Math.max(now, connectedAt - roundTripMs / 2) + roundTripMs / 2 + lateMs())
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

function onTime(): number {
  return 0
}

/** In order, whatever the timers do: each does what has waited longest, and nothing is due before what came before it. */
function carry(from: Socket, to: Socket, arrivesAt: (now: number) => number): void {
  const waiting: (() => void)[] = []
  let last = 0
  const later = (act: () => void): void => {
    const now = performance.now()
    last = Math.max(last, arrivesAt(now))
    waiting.push(act)
    setTimeout(() => waiting.shift()?.(), last - now)
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
