/**
 * A TCP proxy whose connections can be cut, held still, or led elsewhere.
 *
 * @module
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type Stage } from './stage.ts'

export interface Proxy {
  readonly address: string
  /** Connections made so far. */
  readonly connections: number
  /** Bytes that went to the target so far. */
  readonly bytesToTarget: number
  /** Where new connections go. */
  readonly lead: (target: string) => void
  /** Resets every connection. */
  readonly cut: () => void
  /** Changes a byte of what the target sends next. */
  readonly corrupt: () => void
}

export async function startProxy(stage: Stage, firstTarget: string): Promise<Proxy> {
  let target = firstTarget
  let connections = 0
  let bytesToTarget = 0
  let corruptNext = false
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    connections += 1
    const far = connect(Number(target.split(':').at(-1)), '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => sockets.delete(one))
      one.on('end', () => other.end())
    }
    near.on('data', (chunk) => {
      bytesToTarget += chunk.length
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      if (corruptNext) {
        corruptNext = false
        chunk[chunk.length - 1] = (chunk[chunk.length - 1] ?? 0) ^ 1
      }
      near.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  stage.onClose(() => {
    cut()
    server.close()
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('expected an address')
  return {
    address: `127.0.0.1:${bound.port}`,
    get connections() {
      return connections
    },
    get bytesToTarget() {
      return bytesToTarget
    },
    lead: (next) => {
      target = next
    },
    cut,
    corrupt: () => {
      corruptNext = true
    },
  }
}
