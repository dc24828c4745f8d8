import { type Connection } from '@libp2p/interface'
import { beforeEach, describe, expect, it } from 'vitest'
import { CONFIRMED_FOR_MS, KnownRevocations } from '../../src/channel/membership/known-revocations.ts'
import { Seat } from '../../src/channel/rendezvous/client.ts'
import { type FromMember } from '../../src/channel/rendezvous/messages.ts'
import { RevocationWatch, WATCH_AFTER_MS } from '../../src/channel/rendezvous/watch.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { u64 } from '../../src/core/u64.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { listOf } from './broker/lists.ts'
import { CHANNEL, identity, joinOf, OPERATOR } from './broker/raw-member.ts'
import { FakeBroker, JOINED, settle } from './fake-broker.ts'

const SELF = identity()
const [A, B] = ['0a'.repeat(32), '0b'.repeat(32)] as [HolderId, HolderId]

let clock: FakeClock
let broker: FakeBroker
let revocations: KnownRevocations

beforeEach(() => {
  clock = new FakeClock()
  broker = new FakeBroker()
  revocations = new KnownRevocations({ operator: OPERATOR.id, channel: CHANNEL, clock })
})

function options(side: 'accept' | 'initiate') {
  const { link } = broker
  return { link, clock, revocations, random: () => 1, join: (_: Connection) => joinOf(SELF, side), onState: () => {} }
}

/** Sequences of the lists among what the member said. */
function sent(heard: readonly FromMember[]): readonly bigint[] {
  return heard.flatMap((message) => (message.kind === 'revoked' ? [message.list.body.sequence] : []))
}

async function advance(ms: number): Promise<void> {
  clock.advance(ms)
  await settle()
}

describe('a stay at a broker', () => {
  it('says at the join which list the member has, if any', async () => {
    new Seat(options('accept'))
    await broker.stream(1)
    revocations.learn(listOf(7, [A]))
    new Seat(options('accept'))
    await broker.stream(2)
    expect([broker.joinOf(1)?.knows, broker.joinOf(2)?.knows]).toEqual([undefined, u64(7)])
  })

  it('learns what the broker sends, and does not send it back', async () => {
    new Seat(options('accept'))
    const stream = await broker.stream(1)
    stream.say(JOINED, { kind: 'revoked', list: listOf(3, [A]) })
    expect(revocations.isRevoked(A)).toBe(true)
    await advance(15_000)
    stream.say({ kind: 'alive' })
    expect(sent(stream.heard)).toEqual([])
  })

  it('reads past a forged list and goes on', async () => {
    new Seat(options('accept'))
    const stream = await broker.stream(1)
    stream.say(JOINED, { kind: 'revoked', list: listOf(3, [A], { operator: SELF.holder }) })
    expect(revocations.newest).toBeUndefined()
    stream.say({ kind: 'revoked', list: listOf(2, [B]) })
    expect(revocations.isRevoked(B)).toBe(true)
    expect(stream.status).toBe('open')
  })

  it('tells the broker what it learns elsewhere, and again with a sign of life until the broker has it', async () => {
    new Seat(options('accept'))
    const stream = await broker.stream(1)
    revocations.learn(listOf(1, [A]))
    expect(sent(stream.heard)).toEqual([])
    stream.say(JOINED, { kind: 'noted', sequence: u64(0) })
    expect(sent(stream.heard)).toEqual([1n])
    stream.say({ kind: 'noted', sequence: u64(1) })
    stream.writableNeedsDrain = true
    revocations.learn(listOf(2, [A]))
    expect(sent(stream.heard)).toEqual([1n])
    stream.writableNeedsDrain = false
    stream.say({ kind: 'alive' })
    stream.say({ kind: 'noted', sequence: u64(2) }, { kind: 'alive' })
    expect(sent(stream.heard)).toEqual([1n, 2n])
  })

  it('says a list that the broker did not take again with the next sign of life, and not at once', async () => {
    new Seat(options('accept'))
    const stream = await broker.stream(1)
    revocations.learn(listOf(1, [A]))
    const untaken = { kind: 'noted', sequence: u64(0) } as const
    stream.say(JOINED, untaken, untaken, untaken)
    expect(sent(stream.heard)).toEqual([1n])
    stream.say({ kind: 'alive' }, untaken, untaken)
    expect(sent(stream.heard)).toEqual([1n, 1n])
    revocations.learn(listOf(2, [A]))
    stream.say(untaken)
    expect(sent(stream.heard)).toEqual([1n, 1n, 2n])
  })

  it('keeps what is known fresh as long as the broker is heard', async () => {
    revocations.learn(listOf(1, [A]))
    clock.advance(CONFIRMED_FOR_MS)
    new Seat(options('accept'))
    const stream = await broker.stream(1)
    expect(revocations.isStale()).toBe(true)
    stream.say(JOINED)
    expect(revocations.isStale()).toBe(false)
  })
})

describe('an initiator in session', () => {
  const lasting = () => {
    const { promise: closed, resolve: end } = Promise.withResolvers<void>()
    return { closed, end }
  }

  it('watches at the broker with one stay, as long as one of its sessions lives', async () => {
    const watch = new RevocationWatch(options('initiate'))
    const [one, other] = [lasting(), lasting()]
    watch.during(one)
    watch.during(other)
    await advance(WATCH_AFTER_MS)
    const stream = await broker.stream(1)
    expect(broker.joinOf(1)?.watches).toBe(true)
    stream.say(JOINED, { kind: 'revoked', list: listOf(1, [A]) })
    expect(revocations.isRevoked(A)).toBe(true)
    one.end()
    await settle()
    expect(stream.status).toBe('open')
    other.end()
    await settle()
    expect(stream.status).toBe('closed')
  })

  it('asks nothing of the broker for a session that is soon over', async () => {
    const watch = new RevocationWatch(options('initiate'))
    const session = lasting()
    watch.during(session)
    await advance(WATCH_AFTER_MS - 1)
    session.end()
    await settle()
    await advance(60_000)
    expect(broker.streams).toHaveLength(0)
  })

  it('comes again when the broker was gone, and not when it was turned away', async () => {
    new RevocationWatch(options('initiate')).during(lasting())
    await advance(WATCH_AFTER_MS)
    const first = await broker.stream(1)
    first.say(JOINED)
    first.dispatchEvent(new Event('close'))
    await settle()
    await advance(10_000)
    const second = await broker.stream(2)
    second.say({ kind: 'refused', code: 'ERR_GRANT_EXPIRED', category: 'grant-verify', reason: 'over' })
    await settle()
    await advance(60_000)
    expect(broker.streams).toHaveLength(2)
  })
})
