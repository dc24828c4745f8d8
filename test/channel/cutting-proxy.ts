/**
 * A TCP proxy on loopback that cuts or bends the bytes from one side.
 *
 * @module
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { type Address } from '../../src/channel/address.ts'
import { closing } from './members.ts'

export interface Damage {
  /** Whose bytes are counted: those of the side that connects, or of the one that is connected to. */
  readonly side: 'caller' | 'server'
  /** After so many bytes. */
  readonly after: number
  /** A reset, an orderly end of both directions, silence, or one bit of the byte that comes next. */
  readonly how: 'reset' | 'end' | 'freeze' | 'flip'
}

/** Where to connect to instead of `target`. */
export async function damagingProxy(target: Address, damage: () => Damage | undefined): Promise<Address> {
  const open = new Set<Socket>()
  const server = createServer((caller) => {
    const onward = connect(target.port, target.host)
    const rule = damage()
    for (const socket of [caller, onward]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => open.delete(socket))
    }
    forward(caller, onward, rule?.side === 'caller' ? rule : undefined)
    forward(onward, caller, rule?.side === 'server' ? rule : undefined)
  })
  const port = await listening(server)
  closing(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { host: '127.0.0.1', port }
}

/** Listens at a port of the system's choice. */
export function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
}

function forward(from: Socket, to: Socket, damage: Damage | undefined): void {
  let seen = 0
  let frozen = false
  from.on('data', (chunk) => {
    if (frozen) return
    const at = damage === undefined ? Number.POSITIVE_INFINITY : damage.after - seen
    seen += chunk.length
    if (damage === undefined || at < 0 || at >= chunk.length) {
      to.write(chunk)
      return
    }
    if (damage.how === 'flip') {
      chunk[at] = (chunk[at] ?? 0) ^ 1
      to.write(chunk)
      return
    }
    frozen = true
    to.write(chunk.subarray(0, at))
    if (damage.how === 'reset') for (const socket of [from, to]) socket.resetAndDestroy()
    if (damage.how === 'end') for (const socket of [from, to]) socket.end()
  })
  from.on('end', () => {
    if (!frozen) to.end()
  })
  from.on('close', () => {
    if (!frozen) to.destroy()
  })
}
