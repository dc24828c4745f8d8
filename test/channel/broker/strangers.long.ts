import { connect, createServer, type Socket } from 'node:net'
import { type MultiaddrConnection, type PeerId } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Handshakes, MAX_HANDSHAKES_OF_SOURCE } from '../../../src/channel/broker/handshakes.ts'
import { type Broker } from '../../../src/channel/broker/index.ts'
import { MAX_UPGRADING_OF_SOURCE } from '../../../src/channel/broker/web-socket-listener.ts'
import { systemClock } from '../../../src/core/time.ts'
import { type Damage, damagingProxy, listening } from '../cutting-proxy.ts'
import { closeAll, closing } from '../members.ts'
import { RawMember, startBroker } from './raw-member.ts'

const unhandled: unknown[] = []
const note = (error: unknown): void => {
  unhandled.push(error)
}
beforeAll(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
  process.off('uncaughtExceptionMonitor', note)
})
afterEach(async () => {
  await closeAll()
  expect(unhandled.splice(0)).toEqual([])
})

/** A clock on which everything comes a hundred times as soon. */
const fastClock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * 100,
  after: (ms: number, run: () => void) => systemClock.after(ms / 100, run),
}

const WAYS = ['TCP', 'WebSocket'] as const

async function start(options: Parameters<typeof startBroker>[0] = {}) {
  const broker = await startBroker({ wsListen: [{ host: '127.0.0.1', port: 0 }], ...options })
  const [TCP = '', WebSocket = ''] = broker.addresses
  return { broker, lines: { TCP, WebSocket } }
}

function portOf(line: string): number {
  return Number(/\/tcp\/(\d+)/.exec(line)?.[1])
}

function at(line: string, port: number): Pick<Broker, 'ticketLine'> {
  return { ticketLine: line.replace(/\/tcp\/\d+/, `/tcp/${port}`) }
}

/** Whatever came before, the next member is served, and nobody else is there. */
async function expectServes(broker: Broker): Promise<void> {
  const [ticketLine = ''] = broker.addresses
  const member = await RawMember.start({ ticketLine })
  await (await member.join('accept')).hear('joined')
  await expect.poll(() => broker.metrics().connections, { timeout: 5_000 }).toBe(1)
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => resolve(socket))
    socket.resume()
    closing(() => Promise.resolve(void socket.destroy()))
  })
}

function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())))
}

/** What an honest member sends before it has read anything that only it can answer. */
const BEGINNINGS = {
  TCP: Buffer.concat([
    Buffer.from('\u0013/multistream/1.0.0\n\u0007/noise\n'),
    Buffer.from([0, 32]),
    Buffer.alloc(32, 9),
  ]),
  WebSocket: Buffer.from(
    [
      'GET / HTTP/1.1',
      'Host: 127.0.0.1',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Connection: Upgrade',
      'Upgrade: websocket',
      '',
      '',
    ].join('\r\n'),
  ),
}
/** Bytes of a whole handshake after that. */
const LATER = [66, 130, 200, 260, 350, 480]

describe('a broker', () => {
  for (const way of WAYS) {
    it(`serves on after a reset at every byte of a handshake over ${way}`, async () => {
      const { broker, lines } = await start()
      const port = portOf(lines[way])
      const beginning = BEGINNINGS[way]
      await Promise.all(
        Array.from(beginning, async (_, count) => {
          const socket = await opened(port)
          await new Promise((resolve) => socket.write(beginning.subarray(0, count), resolve))
          socket.resetAndDestroy()
        }),
      )
      let damage: Damage | undefined
      const proxy = await damagingProxy({ host: '127.0.0.1', port }, () => damage)
      const member = await RawMember.start(at(lines[way], proxy.port))
      for (const side of ['caller', 'server'] as const) {
        for (const after of LATER) {
          damage = { side, after, how: 'reset' }
          const connection = await member.connect().catch(() => undefined)
          connection?.abort(new Error('the handshake is over'))
        }
      }
      await expectServes(broker)
    })

    it(`ends a connection over ${way} whose far end has ended, however far it got`, async () => {
      const { broker, lines } = await start()
      const beginning = BEGINNINGS[way]
      const sockets = await Promise.all([0, 1, 20, 40, beginning.length - 1].map(() => opened(portOf(lines[way]))))
      for (const [index, socket] of sockets.entries()) socket.end(beginning.subarray(0, index * 15))
      await Promise.all(sockets.map(gone))
      await expectServes(broker)
    })
  }

  it('ends what does not become a WebSocket in time, and gives one address a share of such', async () => {
    const { broker, lines } = await start({ clock: fastClock })
    const port = portOf(lines.WebSocket)
    const sockets = await Promise.all(Array.from({ length: MAX_UPGRADING_OF_SOURCE + 10 }, () => opened(port)))
    for (const [index, socket] of sockets.entries()) if (index % 2 === 0) socket.write('G')
    await Promise.all(sockets.map(gone))
    await expectServes(broker)
  })

  it('ends the connection of a newcomer that came by WebSocket and wants nothing', async () => {
    const { lines } = await start({ clock: fastClock })
    let open: Socket | undefined
    const proxy = createServer((near) => {
      const far = connect(portOf(lines.WebSocket), '127.0.0.1')
      for (const socket of [near, far]) socket.on('error', () => {})
      near.pipe(far)
      far.pipe(near)
      far.on('close', () => near.destroy())
      near.on('close', () => far.destroy())
      open = far
    })
    const port = await listening(proxy)
    closing(() => new Promise((resolve) => proxy.close(() => resolve())))
    const member = await RawMember.start(at(lines.WebSocket, port))
    await member.connect()
    if (open === undefined) throw new Error('expected a connection')
    await gone(open)
  })

  // Only there is all of 127.0.0.0/8 this machine.
  it.skipIf(process.platform !== 'linux')('serves other addresses while one floods it', async () => {
    const { broker, lines } = await start()
    const port = portOf(lines.TCP)
    const other = createServer((near) => {
      const far = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      for (const socket of [near, far]) socket.on('error', () => {})
      near.pipe(far).pipe(near)
      near.on('close', () => far.destroy())
      far.on('close', () => near.destroy())
    })
    const otherPort = await listening(other)
    closing(() => new Promise((resolve) => other.close(() => resolve())))
    const mute = Promise.all(Array.from({ length: MAX_HANDSHAKES_OF_SOURCE + 100 }, () => opened(port)))
    const garbage = Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const socket = await opened(port)
        socket.end(BEGINNINGS.WebSocket)
        await gone(socket)
      }),
    )
    const member = await RawMember.start(at(lines.TCP, otherPort))
    const joined = await (await member.join('accept')).hear('joined')
    expect(joined.observed.host).toBe('127.0.0.2')
    await garbage
    const sockets = await mute
    await expect
      .poll(() => sockets.filter(({ closed }) => !closed).length)
      .toBeLessThanOrEqual(MAX_HANDSHAKES_OF_SOURCE)
    expect(broker.metrics()).toMatchObject({ connections: 1, joins: 1 })
  })
})

describe('Handshakes', () => {
  const from = (host: string): MultiaddrConnection =>
    Object.assign(new EventTarget(), {
      remoteAddr: multiaddr(`/${host.includes(':') ? 'ip6' : 'ip4'}/${host}/tcp/1`),
    }) as never
  const peer = {} as PeerId

  it('give one address a share, until they fail or succeed, and no other less for it', () => {
    const handshakes = new Handshakes()
    const all = Array.from({ length: MAX_HANDSHAKES_OF_SOURCE }, () => from('203.0.113.5'))
    expect(all.filter(handshakes.refuses)).toEqual([])
    const late = from('203.0.113.5')
    expect(handshakes.refuses(late)).toBe(true)
    expect(handshakes.refuses(from('203.0.113.6'))).toBe(false)
    // One that was refused frees nothing.
    late.dispatchEvent(new Event('close'))
    expect(handshakes.refuses(from('203.0.113.5'))).toBe(true)
    const [failed, succeeded] = all
    failed?.dispatchEvent(new Event('close'))
    failed?.dispatchEvent(new Event('close'))
    expect(handshakes.refuses(from('203.0.113.5'))).toBe(false)
    expect(handshakes.refuses(from('203.0.113.5'))).toBe(true)
    if (succeeded !== undefined) expect(handshakes.succeeded(peer, succeeded)).toBe(false)
    succeeded?.dispatchEvent(new Event('close'))
    expect(handshakes.refuses(from('203.0.113.5'))).toBe(false)
    expect(handshakes.refuses(from('203.0.113.5'))).toBe(true)
  })

  it('take the addresses of one IPv6 network for one', () => {
    const handshakes = new Handshakes()
    for (let count = 0; count < MAX_HANDSHAKES_OF_SOURCE; count += 1) {
      expect(handshakes.refuses(from(`2001:db8::${(count + 1).toString(16)}`))).toBe(false)
    }
    expect(handshakes.refuses(from('2001:db8::ffff'))).toBe(true)
    expect(handshakes.refuses(from('2001:db8:0:1::1'))).toBe(false)
  })
})
