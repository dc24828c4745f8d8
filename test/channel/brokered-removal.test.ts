import { afterEach, describe, expect, it } from 'vitest'
import { type Broker } from '../../src/channel/broker/index.ts'
import { publishRevocations } from '../../src/channel/rendezvous/publish.ts'
import { WATCH_AFTER_MS } from '../../src/channel/rendezvous/watch.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { listOf } from './broker/lists.ts'
import { CHANNEL, echoing, OPERATOR, RawMember, roundTrip, startBroker } from './broker/raw-member.ts'
import { accept, call, has, LOOPBACK, placesOf } from './brokered-members.ts'
import { closeAll, member } from './members.ts'

afterEach(closeAll)

/** What is promised. */
const REMOVAL_MS = 1_000
const NEVER = new AbortController().signal

/** Brings the list, and resolves with when the broker had it. */
async function publish(
  broker: Pick<Broker, 'ticketLine'>,
  sequence: number,
  removed: readonly HolderId[],
  operator: HolderKey = OPERATOR,
): Promise<number> {
  const next = () => listOf(sequence, removed, { operator })
  const where = { operator: operator.id, channel: CHANNEL, broker: placesOf(broker) }
  await publishRevocations({ identity: operator, successions: [], ...where, clock: systemClock, next }, NEVER)
  return performance.now()
}

async function endOf({ closed }: Session): Promise<{ readonly code: string; readonly at: number }> {
  const { reason } = await closed
  return { code: reason.code, at: performance.now() }
}

/** The member that dialled is seen at the broker as one that watches. */
async function watches(broker: Broker): Promise<void> {
  await expect.poll(() => broker.metrics().initiators, { timeout: 10 * WATCH_AFTER_MS }).toBe(1)
}

describe('a member that is removed', () => {
  it('loses its session at both ends in a second, whether it accepted', async () => {
    const broker = await startBroker()
    const accepting = await accept(broker, { listen: LOOPBACK })
    const calling = await call(broker)
    const arrived = accepting.next()
    const session = await calling.open()
    expect(calling.ways()).toEqual(['direct'])
    await arrived
    await expect.poll(() => broker.metrics().waiting).toBe(0)
    await watches(broker)
    const ended = endOf(session)
    const at = await publish(broker, 1, [accepting.self.holder.id])
    expect((await ended).code).toBe('ERR_MEMBER_REMOVED')
    expect((await ended).at - at).toBeLessThan(REMOVAL_MS)
    expect(await accepting.listener.refused).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
    await expect(calling.open()).rejects.toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('or initiated, through the relay', async () => {
    const broker = await startBroker()
    const accepting = await accept(broker, { relayOnly: true })
    await has(accepting.states, 'reserved')
    const calling = await call(broker)
    const arrived = accepting.next()
    const [near, far] = [await calling.open(), await arrived]
    expect(calling.ways()).toEqual(['relay'])
    const ends = [endOf(near), endOf(far)]
    const at = await publish(broker, 1, [far.peer.holder])
    for (const end of ends) {
      expect((await end).code).toBe('ERR_MEMBER_REMOVED')
      expect((await end).at - at).toBeLessThan(REMOVAL_MS)
    }
    await expect(calling.open()).rejects.toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('by its peer alone, is so for the broker too', async () => {
    const broker = await startBroker()
    const accepting = await accept(broker, { listen: LOOPBACK })
    const calling = await call(broker)
    const arrived = accepting.next()
    const [near, far] = [await calling.open(), await arrived]
    accepting.listener.revoke(listOf(3, [far.peer.holder]))
    expect((await endOf(near)).code).toBe('ERR_MEMBER_REMOVED')
    await expect.poll(() => broker.metrics().revocations).toBe(1)
    await expect(calling.open()).rejects.toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('is so for a broker that was started again, as soon as a member is back that knows of it', async () => {
    const holder = holderKey(SecretKey.generate())
    const first = await startBroker({ holder })
    const accepting = await accept(first, { listen: LOOPBACK })
    await has(accepting.states, 'joined')
    const stranger = member('call')
    accepting.listener.revoke(listOf(3, [stranger.holder.id]))
    await first.close()
    const [place] = placesOf(first)
    const second = await startBroker({ holder, listen: [{ host: '127.0.0.1', port: place?.port ?? 0 }] })
    await expect.poll(() => second.metrics().revocations, { timeout: 10_000 }).toBe(1)
  })
})

describe('what a broker relays', () => {
  it('is cut when one of its ends is removed, though neither of them heeds that', async () => {
    const broker = await startBroker()
    const [acceptor, initiator] = [await RawMember.start(broker), await RawMember.start(broker)]
    await echoing(acceptor)
    const seat = await acceptor.join('accept')
    await seat.hear('joined')
    expect(await acceptor.reserve()).toBe('reserved')
    const wait = await initiator.join('initiate')
    await wait.hear('peer')
    const connection = await initiator.dialThrough(acceptor)
    await roundTrip(connection, 1_000)
    // Nobody is left at the rendezvous by whom the relay could know them.
    for (const stream of [wait, seat]) stream.close()
    const closed = new Promise<number>((resolve) => {
      connection.addEventListener('close', () => resolve(performance.now()), { once: true })
    })
    const at = await publish(broker, 1, [initiator.id])
    expect((await closed) - at).toBeLessThan(REMOVAL_MS)
    expect(broker.metrics().relayedNow).toBe(0)
    await expect(initiator.dialThrough(acceptor)).rejects.toThrow()
  })
})
