import { afterEach, describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { startBroker } from './broker/raw-member.ts'
import { accept, call, has, LOOPBACK, placesOf, showing, startPath, TRUST } from './brokered-members.ts'
import { closeAll, exchange, holders, member, serve } from './members.ts'

afterEach(closeAll)

describe('a member that asks a broker', () => {
  it('reaches an acceptor that nobody can dial, over the relay, and both check each other', async () => {
    const broker = await startBroker()
    const acceptor = await accept(broker, { relayOnly: true })
    await has(acceptor.states, 'reserved')
    const caller = await call(broker)
    const arrived = acceptor.next()
    const session = await caller.open()
    expect(session.peer.membership?.rights).toBe('rw')
    expect((await arrived).peer.membership?.rights).toBe('rw')
    expect(await exchange(session, await arrived, '"hello"')).toBe('"hello"')
    expect(caller.ways()).toEqual(['relay'])
    expect(broker.metrics().relayedNow).toBe(1)
  })

  it('reaches one that listens beside the broker directly', async () => {
    const broker = await startBroker()
    const acceptor = await accept(broker)
    await has(acceptor.states, 'joined')
    const caller = await call(broker)
    await caller.open()
    expect(caller.ways()).toEqual(['direct'])
    expect(broker.metrics().relayedNow).toBe(0)
  })

  it('ends a relayed session without ending the connection to the broker', async () => {
    const broker = await startBroker()
    const acceptor = await accept(broker, { relayOnly: true })
    await has(acceptor.states, 'reserved')
    const caller = await call(broker)
    for (const how of ['ends', 'is ended'] as const) {
      const arrived = acceptor.next()
      const session = await caller.open()
      const other = await arrived
      const [one, two] = how === 'ends' ? [session, other] : [other, session]
      one.end(new CtError('ERR_LINK_CLOSED', 'done'))
      expect((await two.closed).reason.code).toBe('ERR_LINK_CLOSED')
    }
    await expect.poll(() => broker.metrics().relayedNow, { timeout: 8_000 }).toBe(0)
    expect(broker.metrics()).toMatchObject({ acceptors: 1, connections: 2 })
    expect(acceptor.states.map(({ kind }) => kind)).toEqual(['joined', 'reserved'])
  })

  it('waits for an acceptor to come', async () => {
    const broker = await startBroker()
    const caller = await call(broker)
    const session = caller.open()
    await has(caller.states, 'joined')
    await accept(broker, { relayOnly: true })
    await session
    expect(caller.ways()).toEqual(['relay'])
  })

  it('finds the relay within a second when the direct path is gone, and goes direct again when it is back', async () => {
    const broker = await startBroker()
    const path = await startPath()
    const acceptor = await accept(broker, { advertise: [path.address] })
    path.lead(acceptor.address)
    await has(acceptor.states, 'reserved')
    const caller = await call(broker)
    const first = await caller.open()
    expect(caller.ways()).toEqual(['direct'])
    path.block(true)
    expect((await first.closed).reason.code).toBe('ERR_LINK_LOST')
    const since = performance.now()
    const second = await caller.open()
    expect(performance.now() - since).toBeLessThan(1_000)
    expect(caller.ways()).toEqual(['direct', 'relay'])
    path.block(false)
    second.end(new CtError('ERR_LINK_CLOSED', 'done'))
    await caller.open()
    expect(caller.ways()).toHaveLength(3)
  })

  it('finds its last peer again where it was while the broker is down', async () => {
    const broker = await startBroker()
    const path = await startPath()
    const acceptor = await accept(broker, { advertise: [path.address] })
    path.lead(acceptor.address)
    await has(acceptor.states, 'joined')
    const caller = await call(broker)
    const first = await caller.open()
    await broker.close()
    await has(acceptor.states, 'trouble')
    path.block(true)
    await first.closed
    path.block(false)
    await caller.open()
    expect(caller.ways()).toEqual(['direct', 'direct'])
  })

  it('takes the named peer and no other', async () => {
    const broker = await startBroker()
    const [one, two] = [await accept(broker, { relayOnly: true }), await accept(broker, { relayOnly: true })]
    for (const { self, states } of [one, two, one]) {
      await has(states, 'reserved')
      const caller = await call(broker, { wants: self.holder.id })
      expect((await caller.open({ ...TRUST, ...holders(self) })).peer.holder).toBe(self.holder.id)
    }
  })

  it('refuses a broker with another key than the pinned one', async () => {
    const broker = await startBroker()
    const other = await startBroker()
    const [pinned] = placesOf(other)
    const places = placesOf(broker).map((place) => ({ ...place, peer: pinned?.peer ?? '' }))
    const caller = await call(broker, { broker: places })
    await expect(caller.open()).rejects.toMatchObject({ code: 'ERR_PEER_KEY_MISMATCH' })
  })

  it('is told when no broker answers there', async () => {
    const plain = await serve({ trust: TRUST, self: showing(member('serve')) })
    const places = [{ ...plain.address, transport: 'tcp' }] as const
    const caller = await call({ ticketLine: '' }, { broker: places })
    await expect(caller.open()).rejects.toMatchObject({ code: 'ERR_PROTOCOL' })
  })

  it('takes the way that answers when another does not', async () => {
    const broker = await startBroker({ wsListen: [...LOOPBACK] })
    const acceptor = await accept(broker, { relayOnly: true })
    await has(acceptor.states, 'reserved')
    const dead = { host: '127.0.0.1', port: 1, transport: 'tcp' } as const
    const ws = placesOf(broker).filter(({ transport }) => transport === 'ws')
    expect(ws).toHaveLength(1)
    const caller = await call(broker, { broker: [dead, ...ws] })
    await caller.open()
    expect(caller.ways()).toEqual(['relay'])
  })
})

describe('a member that accepts at a broker', () => {
  it('is refused for good when its operator is not welcome', async () => {
    const broker = await startBroker({ operators: new Set([holderKey(SecretKey.generate()).id]) })
    const acceptor = await accept(broker)
    expect(await acceptor.listener.refused).toMatchObject({
      code: 'ERR_PEER_REFUSED',
      detail: { category: 'not-member', byBroker: true },
    })
  })

  it('joins and reserves again when the broker is back', async () => {
    const holder = holderKey(SecretKey.generate())
    const first = await startBroker({ holder })
    const [place] = placesOf(first)
    const acceptor = await accept(first, { relayOnly: true })
    await has(acceptor.states, 'reserved')
    await first.close()
    await has(acceptor.states, 'trouble')
    acceptor.states.splice(0)
    const second = await startBroker({ holder, listen: [{ host: '127.0.0.1', port: place?.port ?? 0 }] })
    await has(acceptor.states, 'reserved')
    const caller = await call(second)
    await caller.open()
    expect(caller.ways()).toEqual(['relay'])
  })

  it('starts before its broker does', async () => {
    const holder = holderKey(SecretKey.generate())
    const early = await startBroker({ holder })
    const [place] = placesOf(early)
    await early.close()
    const acceptor = await accept(early, { relayOnly: true })
    await has(acceptor.states, 'trouble')
    await startBroker({ holder, listen: [{ host: '127.0.0.1', port: place?.port ?? 0 }] })
    await has(acceptor.states, 'reserved')
  })

  it('leaves the broker when it stops accepting', async () => {
    const broker = await startBroker()
    const acceptor = await accept(broker, { relayOnly: true })
    await has(acceptor.states, 'reserved')
    acceptor.listener.stopAccepting(new CtError('ERR_PEER_SHUTDOWN', 'going'))
    await expect.poll(() => broker.metrics().acceptors).toBe(0)
  })
})
