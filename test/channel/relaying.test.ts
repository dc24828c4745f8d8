import { type Connection } from '@libp2p/interface'
import { afterEach, describe, expect, it } from 'vitest'
import { createNode, stopNode } from '../../src/channel/node/node.ts'
import { type RelayState } from '../../src/channel/node/relay-state.ts'
import { holdReservation } from '../../src/channel/node/relaying.ts'
import { ipMultiaddr } from '../../src/channel/node/transport-address.ts'
import { systemClock } from '../../src/core/time.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { startBroker } from './broker/raw-member.ts'
import { accept, has } from './brokered-members.ts'
import { closeAll, closing, member } from './members.ts'

afterEach(closeAll)

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A relay in memory whose reservations last so many seconds. */
function hold(seconds: number) {
  const clock = new FakeClock()
  const states: RelayState[] = []
  const controller = new AbortController()
  const connection = Object.assign(new EventTarget(), { status: 'open', remotePeer: 'relay' })
  const relay = { made: 0, fails: false, connection }
  const held = holdReservation({
    reservations: {
      addRelay: async () => {
        if (relay.fails) throw new Error('RESERVATION_REFUSED')
        relay.made += 1
        return { details: { reservation: { expire: BigInt(Math.floor(clock.now() / 1_000) + seconds) } } }
      },
    },
    connect: async () => connection as unknown as Connection,
    signal: controller.signal,
    clock,
    random: () => 1,
    onState: (state) => states.push(state),
  })
  const advance = async (ms: number): Promise<void> => {
    await settle()
    clock.advance(ms)
    await settle()
  }
  return { clock, states, controller, relay, held, advance }
}

describe('holdReservation', () => {
  it('renews at half of what is left', async () => {
    const { relay, advance, states } = hold(600)
    await advance(299_999)
    expect(relay.made).toBe(1)
    await advance(1)
    expect(relay.made).toBe(2)
    await advance(300_000)
    expect(relay.made).toBe(3)
    expect(states).toEqual([{ kind: 'reserved' }])
  })

  it('renews a short one no more than every 10 s, and a long one every hour', async () => {
    const short = hold(1)
    await short.advance(9_999)
    expect(short.relay.made).toBe(1)
    await short.advance(1)
    expect(short.relay.made).toBe(2)
    const long = hold(1_000_000)
    await long.advance(3_600_000)
    expect(long.relay.made).toBe(2)
  })

  it('makes it again at once when the connection is over', async () => {
    const { relay, advance } = hold(600)
    await advance(0)
    relay.connection.dispatchEvent(new Event('close'))
    await advance(0)
    expect(relay.made).toBe(2)
  })

  it('tries again with growing delays, and says so', async () => {
    const { relay, advance, states } = hold(600)
    await advance(0)
    relay.fails = true
    await advance(300_000)
    expect(states.at(-1)).toMatchObject({ kind: 'not-reserved', reason: { code: 'ERR_PEER_UNREACHABLE' } })
    await advance(200)
    await advance(399)
    expect(states).toHaveLength(3)
    relay.fails = false
    await advance(1)
    expect(states.map(({ kind }) => kind)).toEqual(['reserved', 'not-reserved', 'not-reserved', 'reserved'])
  })

  it('ends with the signal, without a timer left behind', async () => {
    const { controller, held, clock, advance } = hold(600)
    await advance(0)
    controller.abort()
    await held
    expect(clock.timers).toBe(0)
  })
})

describe('a member that accepts', () => {
  it('takes relayed connections from its relay alone', async () => {
    const broker = await startBroker()
    const { address, states } = await accept(broker)
    await has(states, 'reserved')
    const { holder, noise } = member('call')
    const stranger = await createNode({ holder, noise, listen: [], maxSessions: 1, brokered: { webSocket: false } })
    closing(() => stopNode(stranger.libp2p, systemClock))
    await stranger.libp2p.start()
    const connection = await stranger.dial(ipMultiaddr(address.host, address.port), AbortSignal.timeout(5_000))
    const stream = await connection.newStream('/libp2p/circuit/relay/0.2.0/stop', {
      signal: AbortSignal.timeout(5_000),
    })
    await expect.poll(() => stream.status).toBe('reset')
  })

  it('gives whoever comes the streams of one session', async () => {
    const broker = await startBroker()
    const { address, states } = await accept(broker)
    await has(states, 'reserved')
    const { holder, noise } = member('call')
    const stranger = await createNode({ holder, noise, listen: [], maxSessions: 64, brokered: { webSocket: false } })
    closing(() => stopNode(stranger.libp2p, systemClock))
    await stranger.libp2p.start()
    const connection = await stranger.dial(ipMultiaddr(address.host, address.port), AbortSignal.timeout(5_000))
    const open = () => connection.newStream('/ct-agent/session/1', { signal: AbortSignal.timeout(2_000) })
    const streams = await Promise.all(Array.from({ length: 8 }, open))
    await expect.poll(() => streams.filter(({ status }) => status === 'open').length).toBeLessThanOrEqual(3)
  })
})
