import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import { afterEach, describe, expect, it } from 'vitest'
import { UNUSED_MS } from '../../../src/channel/broker/connections.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { type Clock, systemClock } from '../../../src/core/time.ts'
import { closeAll } from '../members.ts'
import { echoing, identity, joinOf, LIMITS, OTHER_CHANNEL, RawMember, roundTrip, startBroker } from './raw-member.ts'

afterEach(closeAll)

/** A clock on which everything comes a hundred times as soon. */
const fastClock: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * 100,
  after: (ms, run) => systemClock.after(ms / 100, run),
}

async function pair(broker: Parameters<typeof RawMember.start>[0]): Promise<readonly [RawMember, RawMember]> {
  const [acceptor, initiator] = [await RawMember.start(broker), await RawMember.start(broker)]
  await echoing(acceptor)
  await (await acceptor.join('accept')).hear('joined')
  expect(await acceptor.reserve()).toBe('reserved')
  await (await initiator.join('initiate')).hear('peer')
  return [acceptor, initiator]
}

describe('a broker', () => {
  it('pairs an initiator with the acceptor of its channel and tells both of each other', async () => {
    const broker = await startBroker()
    const [acceptor, initiator] = [await RawMember.start(broker), await RawMember.start(broker)]
    const seat = await acceptor.join('accept', { addresses: [{ host: '127.0.0.1', port: 4001 }] })
    expect(await seat.hear('joined')).toMatchObject({ waitSeconds: 0, observed: { host: '127.0.0.1' } })
    const wait = await initiator.join('initiate')
    expect((await wait.hear('joined')).waitSeconds).toBe(30)
    const peer = await wait.hear('peer')
    expect(peer.holder).toBe(acceptor.id)
    expect(peer.addresses).toContainEqual({ host: '127.0.0.1', port: 4001 })
    expect((await seat.hear('peer')).holder).toBe(initiator.id)
  })

  it('knows the Noise key that the handshake proved', async () => {
    const broker = await startBroker()
    const attested = identity()
    const member = await RawMember.start(broker, { ...attested, noise: identity().noise })
    const stream = await member.join('accept', { credentials: member.credentialsFor(attested) })
    expect(await stream.hear('refused')).toMatchObject({ code: 'ERR_GRANT_INVALID', category: 'possession' })
  })

  it('answers garbage with a refusal and serves the next', async () => {
    const broker = await startBroker()
    const member = await RawMember.start(broker)
    const stream = await member.open()
    stream.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    expect(await stream.hear('refused')).toMatchObject({ code: 'ERR_PROTOCOL', category: 'len-oob' })
    await stream.ended()
    await (await member.join('accept')).hear('joined')
  })

  it('frees the seat when the connection is gone', async () => {
    const broker = await startBroker({ clock: fastClock })
    const member = await RawMember.start(broker)
    await (await member.join('accept')).hear('joined')
    expect(broker.metrics()).toMatchObject({ acceptors: 1, connections: 1 })
    await member.libp2p.stop()
    await expect.poll(() => broker.metrics()).toMatchObject({ acceptors: 0, rooms: 0, connections: 0 })
  })

  it('lets a connection go on which nothing but streams without a purpose is left', async () => {
    const broker = await startBroker({ clock: fastClock })
    const member = await RawMember.start(broker)
    const connection = await member.connect()
    await connection.newStream(RELAY_V2_HOP_CODEC)
    const stream = await member.open()
    stream.write(Buffer.from('GET / HTTP/1.1'))
    await stream.hear('refused')
    await expect.poll(() => connection.status).not.toBe('open')
  })

  it('takes two hundred joins in a row from one address, and refuses those of a holder that joins too often', async () => {
    // However long the machine takes for it, it is one window of the quota.
    const broker = await startBroker({ clock: { ...systemClock, monotonic: () => 0 } })
    const members = await Promise.all(Array.from({ length: 2 }, () => RawMember.start(broker)))
    const outcomes = await Promise.all(
      members.map(async (member) => {
        const kinds: string[] = []
        const { credentials } = joinOf(member.self, 'accept')
        for (let count = 0; count < 100; count += 1) {
          const stream = await member.join('accept', { credentials })
          kinds.push(await Promise.race([stream.hear('joined'), stream.hear('refused')]).then(({ kind }) => kind))
          stream.close()
          await stream.ended()
        }
        return kinds
      }),
    )
    expect(new Set(outcomes.flat())).toEqual(new Set(['joined']))
    const [first] = members
    expect(await (await first?.join('accept'))?.hear('refused')).toMatchObject({ code: 'ERR_PEER_BUSY' })
    expect(broker.metrics()).toMatchObject({ joins: 200, rooms: 0 })
  }, 60_000)

  it('leaves room for others when one address takes all it can', async () => {
    const broker = await startBroker({ limits: { ...LIMITS, connections: 8 } })
    const members = await Promise.all(Array.from({ length: 5 }, () => RawMember.start(broker)))
    for (const member of members) await member.connect()
    await expect.poll(() => broker.metrics().connections).toBe(4)
  })

  it('keeps its identity over a restart', async () => {
    const holder = holderKey(SecretKey.generate())
    const first = await startBroker({ holder })
    const [, port] = /\/tcp\/(\d+)\//.exec(first.ticketLine) ?? []
    await first.close()
    const second = await startBroker({ holder, listen: [{ host: '127.0.0.1', port: Number(port) }] })
    expect(second.ticketLine).toBe(first.ticketLine)
    await (await (await RawMember.start(first)).join('accept')).hear('joined')
  })

  it('says when its address is taken', async () => {
    const { ticketLine } = await startBroker()
    const [, port] = /\/tcp\/(\d+)\//.exec(ticketLine) ?? []
    const taken = startBroker({ listen: [{ host: '127.0.0.1', port: Number(port) }] })
    await expect(taken).rejects.toMatchObject({ code: 'ERR_ADDRESS_IN_USE' })
  })

  it('shows the addresses that it is to advertise, with its identity', async () => {
    const { addresses } = await startBroker({ advertise: ['/dns/broker.example.org/tcp/443/tls/ws'] })
    expect(addresses).toEqual([expect.stringMatching(/^\/dns\/broker\.example\.org\/tcp\/443\/tls\/ws\/p2p\/12D3KooW/)])
  })

  it('tells members when it drains, and lets relayed connections go on meanwhile', async () => {
    const broker = await startBroker({ httpListen: { host: '127.0.0.1', port: 0 } })
    const [acceptor, initiator] = await pair(broker)
    const seat = await acceptor.join('accept', { channel: OTHER_CHANNEL })
    await seat.hear('joined')
    const connection = await initiator.dialThrough(acceptor)
    const health = `http://127.0.0.1:${broker.httpAddress?.port}/healthz`
    expect((await fetch(health)).status).toBe(200)
    const drained = broker.drain(60_000)
    expect((await fetch(health)).status).toBe(503)
    expect(await seat.hear('refused')).toMatchObject({ code: 'ERR_PEER_SHUTDOWN' })
    expect(await (await initiator.join('accept')).hear('refused')).toMatchObject({ code: 'ERR_PEER_SHUTDOWN' })
    await roundTrip(connection, 1_000)
    await connection.close()
    await drained
    expect(broker.metrics().relayedNow).toBe(0)
  })
})

describe('the relay of a broker', () => {
  it('relays between members of one room, far beyond what libp2p would, and counts it', async () => {
    const broker = await startBroker()
    const [acceptor, initiator] = await pair(broker)
    await roundTrip(await initiator.dialThrough(acceptor), 262_144)
    expect(broker.metrics()).toMatchObject({ relayedNow: 1, relayed: 1, reservations: 1, pairings: 1 })
    expect(broker.metrics().relayedBytes).toBeGreaterThan(2 * 262_144)
  })

  it('keeps what it relays after the initiator has left the rendezvous', async () => {
    const broker = await startBroker({ clock: fastClock })
    const [acceptor, initiator] = [await RawMember.start(broker), await RawMember.start(broker)]
    await echoing(acceptor)
    const seat = await acceptor.join('accept')
    expect(await acceptor.reserve()).toBe('reserved')
    const wait = await initiator.join('initiate')
    await wait.hear('peer')
    const connection = await initiator.dialThrough(acceptor)
    for (const stream of [wait, seat]) stream.close()
    await expect.poll(() => broker.metrics().rooms, { timeout: 5_000 }).toBe(0)
    const began = fastClock.monotonic()
    await expect.poll(() => fastClock.monotonic() - began, { timeout: 5_000 }).toBeGreaterThan(2 * UNUSED_MS)
    await roundTrip(connection, 1_000)
    await connection.close()
    await expect.poll(() => broker.metrics().connections, { timeout: 5_000 }).toBe(0)
  })

  it('ends a relayed connection at its limit of bytes', async () => {
    const broker = await startBroker({ limits: { ...LIMITS, relayBytes: 65_536 } })
    const [acceptor, initiator] = await pair(broker)
    const connection = await initiator.dialThrough(acceptor)
    await expect(roundTrip(connection, 262_144)).rejects.toThrow()
    await expect.poll(() => broker.metrics().relayedNow).toBe(0)
  })

  it('relays no more for an operator than it may in a day', async () => {
    const broker = await startBroker({ operatorLimits: { rooms: 8, seats: 8, bytes: 262_144 } })
    const [acceptor, initiator] = await pair(broker)
    const connection = await initiator.dialThrough(acceptor)
    await roundTrip(connection, 262_144)
    await connection.close()
    await expect(initiator.dialThrough(acceptor)).rejects.toThrow()
  })

  it('relays no more connections of one member than it may', async () => {
    const broker = await startBroker({ limits: { ...LIMITS, peerRelayed: 1 } })
    const [acceptor, initiator] = await pair(broker)
    const other = await RawMember.start(broker)
    await (await other.join('initiate')).hear('peer')
    const connection = await initiator.dialThrough(acceptor)
    await expect(other.dialThrough(acceptor)).rejects.toThrow()
    await connection.close()
    await expect.poll(() => broker.metrics().relayedNow).toBe(0)
    await other.dialThrough(acceptor)
  })

  it('relays no more connections of one initiator than it may, whoever they lead to', async () => {
    const broker = await startBroker({ limits: { ...LIMITS, peerRelayed: 1 } })
    const [acceptor, initiator] = await pair(broker)
    const other = await RawMember.start(broker)
    await (await other.join('accept')).hear('joined')
    expect(await other.reserve()).toBe('reserved')
    await initiator.dialThrough(acceptor)
    await expect(initiator.dialThrough(other)).rejects.toThrow()
  })

  it('refuses a reservation to a stranger, and to one that only initiates', async () => {
    const broker = await startBroker({ clock: fastClock })
    expect(await (await RawMember.start(broker)).reserve()).toBe('refused')
    const initiator = await RawMember.start(broker)
    await (await initiator.join('initiate')).hear('joined')
    expect(await initiator.reserve()).toBe('refused')
    expect(broker.metrics().reservations).toBe(0)
  })

  it('survives requests that are none, and reads only a few of a stranger at once', async () => {
    const broker = await startBroker()
    const member = await RawMember.start(broker)
    const connection = await member.connect()
    const streams = await Promise.all([1, 2, 3].map(() => connection.newStream(RELAY_V2_HOP_CODEC)))
    await expect.poll(() => streams.filter(({ status }) => status === 'open').length).toBe(2)
    for (const stream of streams.filter(({ status }) => status === 'open')) stream.send(Uint8Array.of(3, 255, 255, 255))
    await expect.poll(() => streams.filter(({ status }) => status === 'open').length).toBe(0)
    await (await member.join('accept')).hear('joined')
    expect(await member.reserve()).toBe('reserved')
  })

  it('gives a reservation whose join is still on its way', async () => {
    const broker = await startBroker()
    const member = await RawMember.start(broker)
    const reserved = member.reserve()
    await (await member.join('accept')).hear('joined')
    expect(await reserved).toBe('reserved')
  })

  it('forgets the reservation of a member that is gone', async () => {
    const broker = await startBroker()
    const [acceptor] = await pair(broker)
    await acceptor.libp2p.stop()
    await expect.poll(() => broker.metrics().reservations).toBe(0)
  })

  it('relays nobody across rooms, and no stranger', async () => {
    const broker = await startBroker()
    const [acceptor, outsider] = [await RawMember.start(broker), await RawMember.start(broker)]
    await (await acceptor.join('accept')).hear('joined')
    expect(await acceptor.reserve()).toBe('reserved')
    await expect(outsider.dialThrough(acceptor)).rejects.toThrow()
    await (await outsider.join('initiate', { channel: OTHER_CHANNEL })).hear('joined')
    await expect(outsider.dialThrough(acceptor)).rejects.toThrow()
    expect(broker.metrics().relayed).toBe(0)
  })

  it('relays to the process that accepts on the channel, though another with its key is connected longer', async () => {
    const broker = await startBroker()
    const self = identity()
    const other = await RawMember.start(broker, self)
    await (await other.join('accept', { channel: OTHER_CHANNEL })).hear('joined')
    expect(await other.reserve()).toBe('reserved')
    const acceptor = await RawMember.start(broker, self)
    await echoing(acceptor)
    await (await acceptor.join('accept')).hear('joined')
    expect(await acceptor.reserve()).toBe('reserved')
    const initiator = await RawMember.start(broker)
    await (await initiator.join('initiate')).hear('peer')
    await roundTrip(await initiator.dialThrough(acceptor), 1_000)
  })
})

describe('the WebSocket address of a broker', () => {
  it('leads members into the same rooms', async () => {
    const broker = await startBroker({ wsListen: [{ host: '127.0.0.1', port: 0 }] })
    const [plain = '', webSocket = ''] = broker.addresses
    expect(webSocket).toMatch(/\/tcp\/\d+\/ws\/p2p\//)
    const acceptor = await RawMember.start({ ticketLine: webSocket })
    const initiator = await RawMember.start({ ticketLine: plain })
    await (await acceptor.join('accept')).hear('joined')
    expect(await acceptor.reserve()).toBe('reserved')
    expect(await (await initiator.join('initiate')).hear('peer')).toMatchObject({ holder: acceptor.id })
    await echoing(acceptor)
    await roundTrip(await initiator.dialThrough(acceptor), 100_000)
  })
})
