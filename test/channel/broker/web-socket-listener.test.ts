import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { UPGRADE_MS } from '../../../src/channel/broker/web-socket-listener.ts'
import { systemClock } from '../../../src/core/time.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { closeAll, closing } from '../members.ts'
import { startBroker } from './raw-member.ts'

afterEach(closeAll)

function dial(host: string, port: number, localPort = 0): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, localAddress: '127.0.0.1', localPort })
    closing(async () => {
      socket.destroy()
    })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

const ended = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.on('error', () => {})
    socket.resume().once('close', () => resolve(true))
  })

describe('the front door of a broker', () => {
  it.runIf(process.platform === 'linux')(
    'ends a connection that becomes no WebSocket, whatever another from the same port to another address of it does',
    async () => {
      const clock = new FakeClock()
      const broker = await startBroker({
        wsListen: [{ host: '0.0.0.0', port: 0 }],
        clock: { ...systemClock, after: (ms, act) => clock.after(ms, act) },
      })
      const port = Number(/\/tcp\/(\d+)\/ws/.exec(broker.addresses.map(String).join(' '))?.[1])
      const { timers } = clock
      const first = await dial('127.0.0.1', port)
      const second = await dial('127.0.0.2', port, first.localPort)
      expect(second.localPort).toBe(first.localPort)
      const isOver = ended(second)
      await vi.waitFor(() => expect(clock.timers).toBe(timers + 2))
      first.destroy()
      await vi.waitFor(() => expect(clock.timers).toBe(timers + 1))
      clock.advance(UPGRADE_MS)
      expect(await isOver).toBe(true)
    },
  )
})
