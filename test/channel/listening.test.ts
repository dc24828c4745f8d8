import os, { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createNode } from '../../src/channel/node/node.ts'
import { ipMultiaddr } from '../../src/channel/node/transport-address.ts'
import { type SessionMode } from '../../src/channel/session/hello.ts'
import { HELLO_TIMEOUT_MS, type Session } from '../../src/channel/session/session.ts'
import { CtError } from '../../src/core/errors.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { closeAll, closing, dialler, exchange, holders, member, open, type Serving, serve } from './members.ts'

afterEach(closeAll)

const self = member('call')
const trust = holders(self)
const DONE = new CtError('ERR_LINK_CLOSED', 'done')
const targetOf = ({ self: server, address }: Serving) => ({ addresses: [address], trust: holders(server) })
const hasIpv6 = Object.values(networkInterfaces()).some(
  (list) => list?.some(({ address }) => address === '::1') === true,
)

async function openReady(serving: Serving): Promise<{ session: Session; peer: Session }> {
  const taken = serving.next()
  const session = await open(self, targetOf(serving))
  await session.ready
  return { session, peer: await taken }
}

describe('addresses to listen at', () => {
  it('are told with the port the system chose', async () => {
    const { address } = await serve({ trust })
    expect(address).toEqual({ host: '127.0.0.1', port: expect.any(Number) })
    expect(address.port).toBeGreaterThan(0)
  })

  it('may be a name, and a name may be dialled', async () => {
    const serving = await serve({ trust, listen: [{ host: 'localhost', port: 0 }] })
    const target = { ...targetOf(serving), addresses: [{ host: 'localhost', port: serving.address.port }] }
    const session = await open(self, target)
    await session.ready
  })

  it.skipIf(!hasIpv6)('may be of IPv6, beside one of IPv4 (skipped where there is no ::1)', async () => {
    const serving = await serve({
      trust,
      listen: [
        { host: '::1', port: 0 },
        { host: '127.0.0.1', port: 0 },
      ],
    })
    expect(serving.listener.addresses.map(({ host }) => host).sort()).toEqual(['127.0.0.1', '::1'])
    for (const address of serving.listener.addresses) {
      const session = await open(self, { ...targetOf(serving), addresses: [address] })
      await session.ready
    }
  })

  it('are spread over this machine’s own when they are wildcards', async () => {
    const { listener } = await serve({ trust, listen: [{ host: '0.0.0.0', port: 0 }] })
    expect(listener.addresses.map(({ host }) => host)).toContain('127.0.0.1')
    expect(listener.addresses.map(({ host }) => host)).not.toContain('0.0.0.0')
  })

  it('include public ones of this machine that nobody has dialled yet', async () => {
    const loopback = {
      netmask: '255.0.0.0',
      mac: '00:00:00:00:00:00',
      internal: true,
      cidr: null,
      family: 'IPv4',
    } as const
    const interfaces = vi.spyOn(os, 'networkInterfaces').mockReturnValue({
      lo: [{ ...loopback, address: '127.0.0.1' }],
      eth0: [{ ...loopback, address: '8.8.4.4', internal: false }],
    })
    try {
      const { listener, address } = await serve({ trust, listen: [{ host: '0.0.0.0', port: 0 }] })
      expect(listener.addresses).toEqual([
        { host: '127.0.0.1', port: address.port },
        { host: '8.8.4.4', port: address.port },
      ])
    } finally {
      interfaces.mockRestore()
    }
  })

  it('are refused with a code when taken, and free again after close', async () => {
    const first = await serve({ trust })
    await expect(serve({ trust, listen: [first.address] })).rejects.toMatchObject({ code: 'ERR_ADDRESS_IN_USE' })
    await first.listener.close(DONE)
    await serve({ trust, listen: [first.address] })
  })

  for (const host of ['192.0.2.1', '2001:db8::1', 'nothing.invalid']) {
    it(`are refused with a code when they are not of this machine: ${host}`, async () => {
      const refused = serve({ trust, listen: [{ host, port: 0 }] })
      await expect(refused).rejects.toMatchObject({ code: 'ERR_ADDRESS_UNAVAILABLE' })
    })
  }
})

describe('a full house (W17)', () => {
  it('tells the next peer when to come again, and takes it once a session has ended', async () => {
    const serving = await serve({ trust, maxSessions: 2 })
    const [first] = [await openReady(serving), await openReady(serving)]
    const busy = await open(self, targetOf(serving))
    await expect(busy.ready).rejects.toMatchObject({
      code: 'ERR_PEER_BUSY',
      detail: { byPeer: true, retryAfterMs: 1_000 },
    })
    expect((await busy.closed).final).toBe(false)
    first.session.end(DONE)
    await first.peer.closed
    await openReady(serving)
  })

  it('counts no peer that is not admitted', async () => {
    const serving = await serve({ trust, maxSessions: 1 })
    const stranger = await dialler(member('call'))
    for (let count = 0; count < 5; count += 1) {
      const session = await stranger.open(targetOf(serving), AbortSignal.timeout(5_000))
      await expect(session.ready).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED' })
    }
    await openReady(serving)
  })

  it('frees the slot of a peer that broke off without a word', async () => {
    const serving = await serve({ trust, maxSessions: 1 })
    const taken = serving.next()
    const calling = await dialler(self)
    await (await calling.open(targetOf(serving), AbortSignal.timeout(5_000))).ready
    await calling.close()
    expect((await (await taken).closed).reason.code).toBe('ERR_LINK_LOST')
    await openReady(serving)
  })
})

describe('a session that nobody uses (W17)', () => {
  it('is closed at the idle limit, transport and all, and frees its slot', async () => {
    const clock = new FakeClock()
    const server = member('serve', { idleSeconds: 5 })
    const serving = await serve({ self: server, trust, maxSessions: 1, clock })
    const { session, peer } = await openReady(serving)
    clock.advance(5_000)
    expect((await peer.closed).reason.code).toBe('ERR_SESSION_IDLE')
    const { reason, final } = await session.closed
    expect([reason.code, reason.detail['byPeer'], final]).toEqual(['ERR_SESSION_IDLE', true, false])
    await peer.finished
    expect(serving.listener.sessions).toBe(0)
    await openReady(serving)
  })
})

describe('a connection that opens no session', () => {
  it('is let go in time, while sessions stay', async () => {
    const clock = new FakeClock()
    const serving = await serve({ trust, clock })
    const { session, peer } = await openReady(serving)
    const timers = clock.timers
    const { libp2p } = await createNode({ holder: self.holder, noise: self.noise, listen: [], maxSessions: 1 })
    await libp2p.start()
    closing(async () => libp2p.stop())
    const connection = await libp2p.dial(ipMultiaddr(serving.address.host, serving.address.port))
    const closed = new Promise((resolve) => connection.addEventListener('close', resolve))
    while (clock.timers === timers) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(HELLO_TIMEOUT_MS)
    await closed
    expect(await exchange(session, peer, 'alive')).toBe('alive')
  })
})

describe('the modes of both sides (W26)', () => {
  const modes: readonly SessionMode[] = ['serve', 'call', 'pipe']
  const fits = new Set(['serve call', 'call serve', 'pipe pipe'])
  for (const server of modes) {
    for (const caller of modes) {
      const fit = fits.has(`${server} ${caller}`)
      it(`${fit ? 'fit' : 'are told to both when they do not fit'}: ${server} and ${caller}`, async () => {
        const calling = member(caller)
        const serving = await serve({ self: member(server), trust: holders(calling) })
        const session = await open(calling, targetOf(serving))
        if (fit) {
          await session.ready
          return
        }
        const message = `expected one side to serve and the other to call, or both to pipe, found ${server} and ${caller}`
        await expect(session.ready).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED', message })
        expect(serving.sessions).toEqual([])
      })
    }
  }
})

describe('a listener', () => {
  it('tells new peers that it stops, and lets sessions that live go on', async () => {
    const serving = await serve({ trust })
    const { session, peer } = await openReady(serving)
    serving.listener.stopAccepting(new CtError('ERR_PEER_SHUTDOWN', 'the serving agent is shutting down'))
    const late = await open(self, targetOf(serving))
    await expect(late.ready).rejects.toMatchObject({ code: 'ERR_PEER_SHUTDOWN', detail: { retryAfterMs: 1_000 } })
    expect(await exchange(session, peer, 'go on')).toBe('go on')
  })

  it('ends its sessions with the reason when it closes', async () => {
    const serving = await serve({ trust })
    const { session } = await openReady(serving)
    await serving.listener.close(new CtError('ERR_PEER_SHUTDOWN', 'bye'))
    const { reason, final } = await session.closed
    expect([reason.code, reason.message, final]).toEqual(['ERR_PEER_SHUTDOWN', 'bye', false])
    await expect(open(self, targetOf(serving))).rejects.toMatchObject({ code: 'ERR_PEER_UNREACHABLE' })
  })

  it('ends a session whose taker fails, and serves on', async () => {
    let fail = true
    const serving = await serve({
      trust,
      onSession: () => {
        if (fail) throw new Error('defect')
      },
    })
    const session = await open(self, targetOf(serving))
    expect((await session.closed).reason).toMatchObject({
      code: 'ERR_LINK_CLOSED',
      message: 'the session could not be taken over',
    })
    fail = false
    await (await open(self, targetOf(serving))).ready
  })

  it('serves fifty peers that dial at once', async () => {
    const serving = await serve({ trust, maxSessions: 50 })
    const calling = await Promise.all(Array.from({ length: 5 }, () => dialler(self)))
    const opening = calling.flatMap((made) =>
      Array.from({ length: 10 }, () => made.open(targetOf(serving), AbortSignal.timeout(12_000))),
    )
    const sessions = await Promise.all(opening)
    await Promise.all(sessions.map((session) => session.ready))
    expect(serving.listener.sessions).toBe(50)
  })

  it('takes what a caller sends before it is admitted, however much', async () => {
    const serving = await serve({ trust })
    const texts: string[] = []
    const all = new Promise<void>((resolve) => {
      void serving.next().then((peer) =>
        peer.receive((message) => {
          if (message.kind === 'text') texts.push(Buffer.from(message.bytes).toString())
          if (texts.length === 2_000) resolve()
        }),
      )
    })
    const session = await open(self, targetOf(serving))
    for (let count = 0; count < 2_000; count += 1) void session.send({ text: `${count}` })
    await all
    expect(texts).toEqual(Array.from({ length: 2_000 }, (_, count) => `${count}`))
  })
})
