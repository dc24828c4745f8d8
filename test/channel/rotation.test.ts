import { afterEach, describe, expect, it } from 'vitest'
import { pinsNow } from '../../src/channel/admission.ts'
import { type Broker } from '../../src/channel/broker/index.ts'
import { createDialler, type Dialler } from '../../src/channel/dialling/dial.ts'
import { KnownSuccessions } from '../../src/channel/membership/known-successions.ts'
import { type SignedSuccession, sealSuccession } from '../../src/channel/membership/succession.ts'
import { publishRevocations } from '../../src/channel/rendezvous/publish.ts'
import { type SelfDescription } from '../../src/channel/session/self.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { type UnixSeconds, u64, unixSeconds } from '../../src/core/u64.ts'
import { listOf } from './broker/lists.ts'
import { CHANNEL, credentialsOf, OPERATOR, startBroker } from './broker/raw-member.ts'
import { accept, LOOPBACK, placesOf, TRUST } from './brokered-members.ts'
import { closeAll, closing, member } from './members.ts'

afterEach(closeAll)

const NEXT = holderKey(SecretKey.generate())
const NEVER = new AbortController().signal

function succession(
  [from, to]: readonly [HolderKey, HolderKey] = [OPERATOR, NEXT],
  overlapUntil: UnixSeconds = u64(unixSeconds(systemClock) + 3_600n),
  kind: 'operator' | 'holder' = 'operator',
): SignedSuccession {
  const now = unixSeconds(systemClock)
  return sealSuccession({
    channel: CHANNEL,
    kind,
    issuedAt: now,
    overlapUntil,
    oldKey: from.secret,
    newKey: to.secret,
  })
}

/** A caller with a grant of this operator. */
async function caller(
  broker: Pick<Broker, 'ticketLine'>,
  operator: HolderKey,
  successions: readonly SignedSuccession[] = [],
): Promise<Dialler> {
  const own = member('call')
  const self: SelfDescription = { ...own, credentials: () => credentialsOf(own, { operator }), successions }
  const where = { broker: placesOf(broker), relay: [], operator: OPERATOR.id, channel: CHANNEL, relayOnly: false }
  const dialler = await createDialler(self, systemClock, { ...where, random: Math.random, onState: () => {} })
  closing(() => dialler.close())
  return dialler
}

async function reaches(dialler: Dialler): Promise<string> {
  try {
    const session = await dialler.open({ addresses: [], trust: TRUST }, AbortSignal.timeout(10_000))
    await session.ready
    return 'reached'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

/** As `channel rotate-operator` does. */
async function publish(
  broker: Pick<Broker, 'ticketLine'>,
  shown: SignedSuccession,
  sequence = 1,
  removed: readonly HolderId[] = [],
): Promise<void> {
  const where = { operator: OPERATOR.id, channel: CHANNEL, broker: placesOf(broker) }
  const next = () => listOf(sequence, removed, { operator: NEXT })
  await publishRevocations(
    { identity: NEXT, successions: [shown], ...where, clock: systemClock, next },
    AbortSignal.any([NEVER]),
  )
}

describe('an operator’s key that another took over from', () => {
  it('is not needed any more by a member that shows so', async () => {
    const broker = await startBroker()
    await accept(broker, { listen: LOOPBACK })
    expect(await reaches(await caller(broker, NEXT))).toBe('ERR_GRANT_INVALID')
    expect(await reaches(await caller(broker, NEXT, [succession()]))).toBe('reached')
    expect(await reaches(await caller(broker, OPERATOR))).toBe('reached')
  })

  it('is known to all that are at the broker, with a list that the new one signed', async () => {
    const broker = await startBroker()
    const accepting = await accept(broker, { listen: LOOPBACK })
    await publish(broker, succession())
    expect(await reaches(await caller(broker, NEXT))).toBe('reached')
    const removed = member('call')
    const arrived = accepting.next()
    const dialler = await caller(broker, NEXT)
    expect(await reaches(dialler)).toBe('reached')
    const { peer } = await arrived
    await publish(broker, succession(), 2, [peer.holder, removed.holder.id])
    expect(await reaches(dialler)).toBe('ERR_MEMBER_REMOVED')
  })

  it('counts no more after the overlap, for those that know', async () => {
    const broker = await startBroker()
    await accept(broker, { listen: LOOPBACK })
    await publish(broker, succession(undefined, unixSeconds(systemClock)))
    expect(await reaches(await caller(broker, OPERATOR))).toBe('ERR_GRANT_EXPIRED')
  })

  it('is not taken over from by whoever signs that alone', async () => {
    const broker = await startBroker()
    const forged = { ...succession(), oldSignature: succession().newSignature }
    await expect(publish(broker, forged)).rejects.toMatchObject({ code: 'ERR_SIGNATURE_INVALID' })
    expect(broker.metrics().revocations).toBe(0)
  })
})

describe('a pinned key that another took over from', () => {
  const [old, other, next] = [1, 2, 3].map(() => holderKey(SecretKey.generate())) as [HolderKey, HolderKey, HolderKey]
  const now = unixSeconds(systemClock)
  const pins = { holders: new Set([old.id, other.id]) }
  const shown = (until: UnixSeconds) => ({ successions: [succession([old, next], until, 'holder')] })
  const later = u64(now + 3_600n)

  const pinned = (hello: Parameters<typeof pinsNow>[1], more: Partial<Parameters<typeof pinsNow>[2]> = {}) =>
    [...(pinsNow(pins, hello, { successions: new KnownSuccessions(CHANNEL), now, ...more }).holders ?? [])].sort()

  it('stands for both while they overlap, and for the new one alone afterwards', () => {
    expect(pinned({})).toEqual([old.id, other.id].sort())
    expect(pinned(shown(later))).toEqual([old.id, next.id, other.id].sort())
    expect(pinned(shown(now))).toEqual([next.id, other.id].sort())
  })

  it('is followed by nobody when it was removed', () => {
    const revocations = { isRevoked: (holder: HolderId) => holder === old.id, isStale: () => false }
    expect(pinned(shown(later), { revocations })).toEqual([other.id])
  })

  it('is remembered when it is not shown again', () => {
    const successions = new KnownSuccessions(CHANNEL)
    pinned(shown(later), { successions })
    expect(pinned({}, { successions })).toEqual([old.id, next.id, other.id].sort())
  })
})
