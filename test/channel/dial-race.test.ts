import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Address } from '../../src/channel/address.ts'
import { createNode, SESSION_PROTOCOL, stopNode } from '../../src/channel/node/node.ts'
import { systemClock } from '../../src/core/time.ts'
import { listening } from './cutting-proxy.ts'
import { closeAll, closing, holders, member, open, serve } from './members.ts'

afterEach(closeAll)

/** An address where something answers the connection and never says a word. */
async function silentAddress(): Promise<{ readonly address: Address; readonly sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listening(server)
  closing(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { address: { host: '127.0.0.1', port }, sockets }
}

describe('a dial of several addresses', () => {
  it('does not wait for those that do not answer, and lets go of them', async () => {
    const silent = await Promise.all([silentAddress(), silentAddress(), silentAddress()])
    const caller = member('call')
    const { self, address } = await serve({ trust: holders(caller) })
    const since = performance.now()
    const session = await open(caller, {
      addresses: [...silent.map((one) => one.address), address],
      trust: holders(self),
    })
    await session.ready
    expect(performance.now() - since).toBeLessThan(3_000)
    await expect.poll(() => silent.reduce((sum, { sockets }) => sum + sockets.size, 0)).toBe(0)
  })

  it('goes on at once where nothing listens, and names every address when none is left', async () => {
    const caller = member('call')
    const { self, address } = await serve({ trust: holders(caller) })
    const dead: readonly Address[] = [1, 2, 3].map((port) => ({ host: '127.0.0.1', port }))
    const session = await open(caller, { addresses: [...dead, address], trust: holders(self) })
    await session.ready
    await expect(open(member('call'), { addresses: dead, trust: holders(self) })).rejects.toMatchObject({
      code: 'ERR_PEER_UNREACHABLE',
      message:
        'no address answered (127.0.0.1:1: connection refused; 127.0.0.1:2: connection refused; 127.0.0.1:3: connection refused)',
    })
  })

  it('takes the address where the right peer answers, not one where its handshake succeeds and nothing follows', async () => {
    const caller = member('call')
    const right = await serve({ trust: holders(caller) })
    const mute = await createNode({ ...right.self, listen: [{ host: '127.0.0.1', port: 0 }], maxSessions: 8 })
    closing(() => stopNode(mute.libp2p, systemClock))
    let greeted = 0
    await mute.libp2p.handle(SESSION_PROTOCOL, () => {
      greeted += 1
    })
    await mute.libp2p.start()
    const session = await open(caller, { addresses: [...mute.addresses(), right.address], trust: holders(right.self) })
    await session.ready
    expect(greeted).toBe(1)
    expect(right.sessions).toHaveLength(1)
  })

  it('takes the address where the right key answers', async () => {
    const caller = member('call')
    const other = await serve({ trust: holders(caller) })
    const right = await serve({ trust: holders(caller) })
    const session = await open(caller, { addresses: [other.address, right.address], trust: holders(right.self) })
    await session.ready
    expect(session.peer.holder).toBe(right.self.holder.id)
    expect(other.sessions).toEqual([])
  })
})
