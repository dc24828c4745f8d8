import { beforeEach, describe, expect, it } from 'vitest'
import { JOIN_MS, SILENCE_MS, WAIT_SECONDS } from '../../../src/channel/broker/member.ts'
import { encodeRendezvousFrame } from '../../../src/channel/rendezvous/framing.ts'
import { encodeFromMember } from '../../../src/channel/rendezvous/messages.ts'
import { u64 } from '../../../src/core/u64.ts'
import { ALICE, BOB, clock, counters, EXPIRES, grantOf, Line, rooms, server, start, strangerKey } from './lines.ts'
import { credentialsOf, OPERATOR, OTHER_CHANNEL } from './raw-member.ts'

beforeEach(() => start())

describe('a broker that is joined', () => {
  it('says where it sees the member, and that an acceptor stays', () => {
    const line = new Line(ALICE).join('accept')
    expect(line.heard).toEqual([{ kind: 'joined', observed: line.peer.observed, waitSeconds: 0 }])
  })

  it('tells an initiator and its acceptor of each other, with addresses that hold', () => {
    const addresses = [
      { host: '203.0.113.5', port: 4_433 },
      { host: '192.0.2.1', port: 4_433 },
    ]
    const acceptor = new Line(ALICE).join('accept', { addresses })
    const initiator = new Line(BOB, { host: '198.51.100.7' }).join('initiate')
    expect(initiator.heard).toEqual([
      { kind: 'joined', observed: initiator.peer.observed, waitSeconds: WAIT_SECONDS },
      { kind: 'peer', holder: ALICE.holder.id, addresses: [addresses[0], acceptor.peer.observed] },
    ])
    expect(acceptor.heard.at(-1)).toEqual({
      kind: 'peer',
      holder: BOB.holder.id,
      addresses: [initiator.peer.observed],
    })
  })
})

describe('a broker, as time passes', () => {
  it('lets one go that does not join', () => {
    const line = new Line(ALICE)
    clock.advance(JOIN_MS - 1)
    expect(line.kinds).toEqual([])
    clock.advance(1_000)
    expect(line.refusal).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  it('lets one go that begins a message and does not end it', () => {
    const line = new Line(ALICE)
    line.wire.deliver(encodeRendezvousFrame(encodeFromMember(line.ready('accept'))).subarray(0, 50))
    clock.advance(JOIN_MS + 1_000)
    expect(line.refusal).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  it('tells an initiator that nobody came, apart from a refusal, and lets it join again on the stream', () => {
    const line = new Line(ALICE).join('initiate')
    clock.advance(WAIT_SECONDS * 1_000)
    expect(line.kinds).toEqual(['joined', 'expired'])
    expect(rooms.counts.waiting).toBe(0)
    expect(line.join('initiate').kinds).toEqual(['joined', 'expired', 'joined'])
    expect(counters.expired).toBe(1)
  })

  it('keeps an acceptor that gives signs of life, and answers them', () => {
    const line = new Line(ALICE).join('accept')
    for (let waited = 0; waited < 4 * SILENCE_MS; waited += 15_000) {
      clock.advance(15_000)
      line.say({ kind: 'alive' })
    }
    expect(rooms.counts.acceptors).toBe(1)
    expect(new Set(line.kinds.slice(1))).toEqual(new Set(['alive']))
  })

  it('gives up a seat after silence', () => {
    const line = new Line(ALICE).join('accept')
    clock.advance(SILENCE_MS - 1)
    expect(rooms.counts.acceptors).toBe(1)
    clock.advance(1_000)
    expect(rooms.counts.acceptors).toBe(0)
    expect(line.wire.destroyedWith).toMatchObject({ code: 'ERR_PEER_UNRESPONSIVE' })
  })

  it('gives up a seat when its grant expires, and says so', () => {
    const line = new Line(ALICE).join('accept', grantOf({ expiresAt: u64(20) }))
    clock.advance(19_999)
    expect(rooms.counts.acceptors).toBe(1)
    clock.advance(1_001)
    expect(rooms.counts.acceptors).toBe(0)
    expect(line.refusal).toMatchObject({ code: 'ERR_GRANT_EXPIRED', category: 'grant-verify' })
  })

  it('tells one that waits in vain that members of its operator wait elsewhere', () => {
    new Line(BOB).join('accept', { channel: OTHER_CHANNEL })
    const line = new Line(ALICE).join('initiate')
    clock.advance(6_000)
    expect(line.kinds).toEqual(['joined', 'hint'])
    clock.advance(6_000)
    expect(line.kinds).toEqual(['joined', 'hint'])
  })
})

describe('a seat at a broker', () => {
  it('ends at once with the connection', () => {
    const line = new Line(ALICE).join('accept')
    server.closed(line.peer.connection)
    expect(rooms.counts.rooms).toBe(0)
  })

  it('ends with the stream', () => {
    new Line(ALICE).join('accept').wire.end()
    expect(rooms.counts.rooms).toBe(0)
  })

  it('of an initiator that met its acceptor lasts a while longer, for the relay', () => {
    new Line(ALICE).join('accept')
    const line = new Line(BOB).join('initiate')
    line.wire.end()
    expect(rooms.shared(BOB.holder.id, ALICE.holder.id)).toHaveLength(1)
    clock.advance(61_000)
    expect(rooms.shared(BOB.holder.id, ALICE.holder.id)).toEqual([])
  })

  it('of an acceptor goes to the newer connection of its key, for good', () => {
    const older = new Line(ALICE).join('accept')
    const newer = new Line(ALICE).join('accept')
    expect(older.refusal).toMatchObject({ code: 'ERR_PEER_REFUSED', category: 'pairing' })
    expect(newer.kinds).toEqual(['joined'])
    expect(server.connectionOf(rooms.seatsOf(ALICE.holder.id)[0] ?? expect.fail())).toBe(newer.peer.connection)
  })

  it('is taken from an acceptor that says it is full, as far as initiators are concerned', () => {
    const acceptor = new Line(ALICE).join('accept').say({ kind: 'load', taken: 1, places: 1 })
    const initiator = new Line(BOB).join('initiate')
    expect(initiator.kinds).toEqual(['joined'])
    acceptor.say({ kind: 'load', taken: 0, places: 1 })
    expect(initiator.kinds).toEqual(['joined', 'peer'])
  })
})

describe('a broker that drains', () => {
  it('tells everybody to come again later, and admits nobody', () => {
    const seated = new Line(ALICE).join('accept')
    server.drain()
    for (const line of [seated, new Line(BOB).join('initiate')]) {
      expect(line.refusal).toMatchObject({ code: 'ERR_PEER_SHUTDOWN' })
      expect(line.refusal?.retryAfterMs).toBeGreaterThan(0)
    }
    expect(rooms.counts.rooms).toBe(0)
  })
})

it('holds the members of the operator apart from everybody else', () => {
  new Line(ALICE).join('accept')
  const other = new Line(BOB)
  other.join('initiate', {
    operator: strangerKey.id,
    credentials: credentialsOf(BOB, { operator: strangerKey, expiresAt: EXPIRES }),
  })
  expect(other.kinds).toEqual(['joined'])
  expect(OPERATOR.id).not.toBe(strangerKey.id)
})
