import { type Connection } from '@libp2p/interface'
import { beforeEach, describe, expect, it } from 'vitest'
import { KnownRevocations } from '../../src/channel/membership/known-revocations.ts'
import { type BrokerState } from '../../src/channel/rendezvous/broker-state.ts'
import { askForPeer, Seat } from '../../src/channel/rendezvous/client.ts'
import { type FromBroker } from '../../src/channel/rendezvous/messages.ts'
import { CtError } from '../../src/core/errors.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { CHANNEL, identity, joinOf, OPERATOR } from './broker/raw-member.ts'
import { FakeStream, JOINED, settle } from './fake-broker.ts'

const SELF = identity()
const PEER: FromBroker = { kind: 'peer', holder: SELF.holder.id, addresses: [] }

let clock: FakeClock
let streams: FakeStream[]
let states: BrokerState[]
let aborted: number
let unreachable: CtError | undefined
let revocations: KnownRevocations

beforeEach(() => {
  clock = new FakeClock()
  revocations = new KnownRevocations({ operator: OPERATOR.id, channel: CHANNEL, clock })
  streams = []
  states = []
  aborted = 0
  unreachable = undefined
})

const link = {
  connect: async (): Promise<Connection> => {
    if (unreachable !== undefined) throw unreachable
    const newStream = async (): Promise<FakeStream> => {
      const stream = new FakeStream()
      streams.push(stream)
      return stream
    }
    const connection = { newStream, status: 'open', abort: () => (aborted += 1) }
    return connection as unknown as Connection
  },
  drop: (): void => {},
}

async function advance(ms: number): Promise<void> {
  clock.advance(ms)
  await settle()
}

/** The stream of the member's newest stay. */
async function stream(count: number): Promise<FakeStream> {
  await settle()
  expect(streams).toHaveLength(count)
  const newest = streams.at(-1)
  if (newest === undefined) throw new TypeError('expected a stream')
  return newest
}

function common(side: 'accept' | 'initiate') {
  return {
    link,
    clock,
    revocations,
    join: () => joinOf(SELF, side),
    onState: (state: BrokerState) => void states.push(state),
  }
}

function takeSeat(): Seat {
  return new Seat({ ...common('accept'), random: () => 1 })
}

const refused = (code: 'ERR_GRANT_EXPIRED' | 'ERR_PEER_BUSY', retryAfterMs?: number): FromBroker => ({
  kind: 'refused',
  code,
  category: 'grant-verify',
  reason: 'because',
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})

describe('a seat', () => {
  it('joins, and gives a sign of life every 15 s', async () => {
    takeSeat()
    const first = await stream(1)
    first.say(JOINED)
    expect(states).toEqual([{ kind: 'joined', observed: { host: '127.0.0.1', port: 1 } }])
    for (let count = 0; count < 10; count += 1) {
      await advance(15_000)
      first.say({ kind: 'alive' })
    }
    expect(first.kinds()).toEqual(['join', ...Array.from({ length: 10 }, () => 'alive')])
  })

  it('gives up after 45 s of silence, with the connection, and joins again', async () => {
    takeSeat()
    const first = await stream(1)
    first.say(JOINED)
    await advance(44_999)
    expect(states).toHaveLength(1)
    await advance(1)
    expect(states.at(-1)).toMatchObject({ kind: 'trouble', reason: { code: 'ERR_LINK_LOST' }, delayMs: 200 })
    expect([first.status, aborted]).toEqual(['closed', 1])
    await advance(200)
    await stream(2)
  })

  it('gives up when the join is not answered within 10 s', async () => {
    takeSeat()
    const first = await stream(1)
    first.say({ kind: 'alive' })
    await advance(10_000)
    expect(states).toMatchObject([{ kind: 'trouble', reason: { code: 'ERR_LINK_LOST' } }])
  })

  it('waits longer after each failure, up to 10 s, and anew after a stable stay', async () => {
    unreachable = new CtError('ERR_PEER_UNREACHABLE', 'no broker')
    takeSeat()
    await settle()
    const delays: number[] = []
    for (let count = 0; count < 8; count += 1) {
      const state = states.at(-1)
      if (state?.kind === 'trouble') delays.push(state.delayMs)
      await advance(delays.at(-1) ?? 0)
    }
    expect(delays).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    unreachable = undefined
    await advance(10_000)
    const first = await stream(1)
    first.say(JOINED)
    await advance(10_000)
    first.dispatchEvent(new Event('remoteCloseWrite'))
    await settle()
    expect(states.at(-1)).toMatchObject({ kind: 'trouble', delayMs: 200 })
  })

  it('joins again at once when its time is over, but not for a broker that does not wait', async () => {
    takeSeat()
    const first = await stream(1)
    first.say(JOINED)
    await advance(1_000)
    first.say({ kind: 'expired' })
    const second = await stream(2)
    second.say(JOINED, { kind: 'expired' })
    await settle()
    expect(states.map(({ kind }) => kind)).toEqual(['joined', 'expired', 'joined', 'trouble'])
    expect(streams).toHaveLength(2)
  })

  it('stops with a refusal that only a person can mend', async () => {
    const seat = takeSeat()
    const first = await stream(1)
    first.say(refused('ERR_GRANT_EXPIRED'))
    expect(await seat.refused).toMatchObject({
      code: 'ERR_GRANT_EXPIRED',
      message: 'the broker refused the join (grant-verify): because',
    })
    await advance(60_000)
    expect(streams).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  it('comes again when a busy broker said so', async () => {
    takeSeat()
    const first = await stream(1)
    first.say(refused('ERR_PEER_BUSY', 5_000))
    await settle()
    await advance(4_999)
    expect(streams).toHaveLength(1)
    await advance(1)
    await stream(2)
  })

  it('tells its load at most every 250 ms, the newest, and again after a new join', async () => {
    const seat = takeSeat()
    const first = await stream(1)
    first.say(JOINED)
    for (let taken = 1; taken <= 5; taken += 1) seat.tell(taken, 8)
    await advance(250)
    expect(first.heard.slice(1)).toEqual([{ kind: 'load', taken: 5, places: 8 }])
    first.dispatchEvent(new Event('close'))
    await settle()
    await advance(200)
    const second = await stream(2)
    second.say(JOINED)
    expect(second.heard.slice(1)).toEqual([{ kind: 'load', taken: 5, places: 8 }])
  })

  it('says nothing while the broker does not read', async () => {
    const seat = takeSeat()
    const first = await stream(1)
    first.say(JOINED)
    first.writableNeedsDrain = true
    seat.tell(1, 8)
    await advance(16_000)
    expect(first.kinds()).toEqual(['join'])
  })

  it('leaves without a timer left behind', async () => {
    const seat = takeSeat()
    const first = await stream(1)
    first.say(JOINED)
    seat.tell(1, 8)
    await seat.leave()
    expect([first.status, clock.timers]).toEqual(['closed', 0])
  })

  it('ends a stay in which the broker breaks the protocol', async () => {
    const seat = takeSeat()
    const first = await stream(1)
    first.dispatchEvent(Object.assign(new Event('message'), { data: Buffer.from('HTTP/1.1 400') }))
    expect(await seat.refused).toMatchObject({ code: 'ERR_PROTOCOL' })
  })
})

describe('askForPeer', () => {
  it('waits through what the broker calls too long, and tells hints', async () => {
    const asked = askForPeer(common('initiate'), new AbortController().signal)
    const first = await stream(1)
    first.say(JOINED, { kind: 'hint', text: 'nobody accepts here' })
    await advance(30_000)
    first.say({ kind: 'expired' })
    const second = await stream(2)
    second.say(JOINED, PEER)
    expect((await asked).peer).toEqual(PEER)
    expect(states.map(({ kind }) => kind)).toEqual(['joined', 'hint', 'expired', 'joined'])
    expect(second.status).toBe('open')
    ;(await asked).leave()
    expect(second.status).toBe('closed')
  })

  it('rejects with a refusal, also one that may pass', async () => {
    for (const code of ['ERR_GRANT_EXPIRED', 'ERR_PEER_BUSY'] as const) {
      const asked = askForPeer(common('initiate'), new AbortController().signal)
      const found = expect(asked).rejects.toMatchObject({ code })
      await settle()
      streams.at(-1)?.say(refused(code))
      await found
    }
  })

  it('leaves when the signal aborts', async () => {
    const controller = new AbortController()
    const asked = askForPeer(common('initiate'), controller.signal)
    const found = expect(asked).rejects.toMatchObject({ code: 'ERR_CALL_CANCELLED' })
    const first = await stream(1)
    first.say(JOINED)
    controller.abort(new CtError('ERR_CALL_CANCELLED', 'stopped'))
    await found
    expect([first.status, clock.timers]).toEqual(['closed', 0])
  })
})
