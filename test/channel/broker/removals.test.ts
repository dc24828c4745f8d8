import { beforeEach, describe, expect, it } from 'vitest'
import { PUBLICATIONS } from '../../../src/channel/broker/admission.ts'
import { JOIN_MS } from '../../../src/channel/broker/member.ts'
import { NEWS } from '../../../src/channel/broker/removals.ts'
import { GRANT } from '../../../src/channel/membership/index.ts'
import { encodeRendezvousFrame } from '../../../src/channel/rendezvous/framing.ts'
import {
  encodeFromMember,
  type Join,
  MAX_LIST_MESSAGE_BYTES,
  MAX_RENDEZVOUS_BYTES,
} from '../../../src/channel/rendezvous/messages.ts'
import { seal } from '../../../src/core/artefact.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { ALICE, BOB, clock, counters, cuts, EXPIRES, Line, rooms, start, strangerKey } from './lines.ts'
import { listOf } from './lists.ts'
import { CHANNEL, credentialsOf, identity, OPERATOR, OTHER_CHANNEL } from './raw-member.ts'

beforeEach(() => start())

const [alice, bob] = [ALICE.holder.id, BOB.holder.id]
const CAROL = identity()
const ROOM = { operator: OPERATOR.id, channel: CHANNEL }
const PUBLISH = { kind: 'publish', ...ROOM } as const
const revoked = (sequence: number, removed: readonly HolderId[]) =>
  ({ kind: 'revoked', list: listOf(sequence, removed) }) as const
const many = Array.from({ length: 512 }, (_, index) => index.toString(16).padStart(64, '0') as HolderId)

/** The operator itself, which is no member. */
function operatorLine(): Line {
  return new Line({ holder: OPERATOR, noise: ALICE.noise })
}

/** The sequences and holders of the lists that were sent to the member. */
function listsOf({ heard }: Line): readonly (readonly [bigint, readonly HolderId[]])[] {
  return heard.flatMap((message) =>
    message.kind === 'revoked' ? [[message.list.body.sequence, message.list.body.removed] as const] : [],
  )
}

function notedOf({ heard }: Line): readonly bigint[] {
  return heard.flatMap((message) => (message.kind === 'noted' ? [message.sequence] : []))
}

describe('a revocation list at a broker', () => {
  it('turns out whom it removes and is sent to everybody else in the room', () => {
    const [removed, other] = [new Line(ALICE).join('accept'), new Line(BOB).join('initiate')]
    const source = new Line(CAROL).join('accept').say(revoked(1, [alice]))
    expect(removed.refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED', category: 'not-member' })
    expect(rooms.seatsOf(alice)).toEqual([])
    expect(listsOf(other)).toEqual([[1n, [alice]]])
    expect([listsOf(source), notedOf(source)]).toEqual([[], [1n]])
    expect(cuts).toEqual([ROOM])
    expect(counters.revocations).toBe(1)
  })

  it('turns out the member that brings the list which removes it', () => {
    const line = new Line(ALICE).join('accept').say(revoked(1, [alice]))
    expect(line.refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
    expect(notedOf(line)).toEqual([])
  })

  it('turns out those whose membership rests on the one that it removes', () => {
    const granted = seal(
      GRANT,
      { holder: bob, channel: CHANNEL, direction: 'both', rights: 'rw', delegable: false, expiresAt: EXPIRES },
      ALICE.holder.secret,
    )
    const own = credentialsOf(ALICE, { delegable: true, expiresAt: EXPIRES }).grants
    const { attestation } = credentialsOf(BOB)
    const passedOn: Partial<Join> = { credentials: { grants: [...own, granted], attestation } }
    const line = new Line(BOB).join('initiate', passedOn)
    expect(line.kinds).toEqual(['joined'])
    new Line(CAROL).join('accept').say(revoked(1, [alice]))
    expect(line.refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
    expect(new Line(BOB).join('initiate', passedOn).refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('keeps those out that it removes, and lets them in again when a later one does not', () => {
    const source = new Line(CAROL).join('accept').say(revoked(1, [alice]))
    expect(new Line(ALICE).join('initiate').refusal).toMatchObject({
      code: 'ERR_MEMBER_REMOVED',
      category: 'not-member',
    })
    source.say(revoked(2, [bob]))
    expect(new Line(ALICE).join('initiate').kinds).toContain('joined')
  })

  it('holds for its own channel alone', () => {
    new Line(CAROL).join('accept').say(revoked(1, [alice]))
    expect(new Line(ALICE).join('accept', { channel: OTHER_CHANNEL }).kinds).toEqual(['joined'])
  })

  it('outlives the members, and the hour after them', () => {
    const source = new Line(CAROL).join('accept').say(revoked(1, [alice]))
    source.wire.end()
    clock.advance(300_000)
    expect(rooms.counts.rooms).toBe(0)
    expect(new Line(ALICE).join('accept', freshGrant()).refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('is sent at the join to whom it is news, before any peer is named', () => {
    const source = new Line(CAROL).join('accept').say(revoked(3, [alice]))
    expect(new Line(BOB).join('initiate').kinds).toEqual(['joined', 'revoked', 'peer'])
    expect(new Line(BOB).join('initiate', { knows: u64(2) }).kinds).toEqual(['joined', 'revoked', 'peer'])
    expect(new Line(BOB).join('initiate', { knows: u64(3) }).kinds).toEqual(['joined', 'peer'])
    expect(source.refusal).toBeUndefined()
  })

  it('is asked for at the join of one that knows more', () => {
    const line = new Line(BOB).join('accept', { knows: u64(5) })
    expect([line.kinds, notedOf(line)]).toEqual([['joined', 'noted'], [0n]])
    line.say(revoked(5, []))
    expect(notedOf(line)).toEqual([0n, 5n])
  })

  it('of the largest size is taken from a member, and is sent on', () => {
    const other = new Line(BOB).join('accept')
    const source = new Line(CAROL).join('accept').say(revoked(1, many))
    expect(notedOf(source)).toEqual([1n])
    expect(listsOf(other)).toEqual([[1n, many]])
  })

  it('is sent once more only when the member has read what was sent before, and then the newest', async () => {
    const slow = new Line(BOB).join('accept')
    slow.wire.full = true
    const source = new Line(CAROL).join('accept')
    for (const sequence of [1, 2, 3, 4]) source.say(revoked(sequence, many))
    expect(listsOf(slow).map(([sequence]) => sequence)).toEqual([1n])
    slow.wire.drain()
    await Promise.resolve()
    await Promise.resolve()
    expect(listsOf(slow).map(([sequence]) => sequence)).toEqual([1n, 4n])
  })
})

function freshGrant(): Partial<Join> {
  return { credentials: credentialsOf(ALICE, { expiresAt: u64(10_000_000) }) }
}

describe('a revocation list that is worth nothing', () => {
  it('changes nothing when a newer one is known', () => {
    const source = new Line(CAROL).join('accept').say(revoked(2, [bob]))
    const other = new Line(ALICE).join('accept', { knows: u64(2) })
    source.say(revoked(1, [alice])).say(revoked(2, [alice]))
    expect(notedOf(source)).toEqual([2n, 2n, 2n])
    expect([other.refusal, listsOf(other)]).toEqual([undefined, []])
  })

  for (const [name, list] of [
    ['another key signed', listOf(1, [alice], { operator: strangerKey })],
    ['is for another channel', listOf(1, [alice], { channel: OTHER_CHANNEL })],
  ] as const) {
    it(`costs whoever brings one that ${name} the stream, and nobody else anything`, () => {
      const other = new Line(ALICE).join('accept')
      const source = new Line(CAROL).join('accept').say({ kind: 'revoked', list })
      expect(source.refusal).toMatchObject({ category: 'malformed' })
      expect(other.kinds).toEqual(['joined'])
    })
  }

  it('is not read from a stranger when it is larger than what strangers have to say', () => {
    const line = new Line(CAROL).say(revoked(1, many))
    expect(line.refusal).toMatchObject({ code: 'ERR_PROTOCOL', category: 'len-oob' })
    expect(encodeFromMember(revoked(1, many)).length).toBeGreaterThan(MAX_RENDEZVOUS_BYTES)
    expect(encodeFromMember(revoked(1, many)).length).toBeLessThanOrEqual(MAX_LIST_MESSAGE_BYTES)
  })

  it('comes at a pace that members can be sent', () => {
    const other = new Line(BOB).join('accept')
    const source = new Line(CAROL).join('accept')
    for (let sequence = 1; sequence <= NEWS.budget + 5; sequence += 1) source.say(revoked(sequence, []))
    expect(listsOf(other)).toHaveLength(NEWS.budget)
    expect(notedOf(source).at(-1)).toBe(BigInt(NEWS.budget))
    expect(source.refusal).toBeUndefined()
    clock.advance(NEWS.windowMs)
    source.say(revoked(NEWS.budget + 5, []))
    expect(listsOf(other).at(-1)).toEqual([BigInt(NEWS.budget + 5), []])
  })
})

describe('whoever publishes a revocation list', () => {
  it('needs no seat, and is told what the broker has', () => {
    const seated = new Line(ALICE).join('accept')
    const line = operatorLine()
      .say(PUBLISH)
      .say(revoked(4, [alice]))
    expect(notedOf(line)).toEqual([0n, 4n])
    expect(seated.refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('may bring the largest in one piece with its first words', () => {
    const line = operatorLine()
    const frames = [PUBLISH, revoked(1, many)].map((message) => encodeRendezvousFrame(encodeFromMember(message)))
    line.wire.deliver(Buffer.concat(frames))
    expect(notedOf(line)).toEqual([0n, 1n])
  })

  it('is sent the newest when it is the operator, and nobody else is', () => {
    new Line(CAROL).join('accept').say(revoked(2, [alice]))
    expect(listsOf(operatorLine().say(PUBLISH))).toEqual([[2n, [alice]]])
    const stranger = new Line(BOB).say(PUBLISH)
    expect([listsOf(stranger), notedOf(stranger)]).toEqual([[], [2n]])
  })

  it('is refused where the broker serves other operators, and by a forged list', () => {
    start(new Set([strangerKey.id]))
    expect(operatorLine().say(PUBLISH).refusal).toMatchObject({ category: 'not-member' })
    start()
    const forged = { kind: 'revoked', list: listOf(1, [alice], { operator: strangerKey }) } as const
    expect(operatorLine().say(PUBLISH).say(forged).refusal).toMatchObject({ code: 'ERR_SIGNATURE_INVALID' })
  })

  it('neither joins nor publishes again on the stream, and is let go in time', async () => {
    expect(operatorLine().say(PUBLISH).say(PUBLISH).refusal).toMatchObject({ code: 'ERR_PROTOCOL' })
    expect(new Line(ALICE).say(PUBLISH).join('accept').refusal).toMatchObject({ code: 'ERR_PROTOCOL' })
    const line = operatorLine().say(PUBLISH)
    clock.advance(JOIN_MS + 1_000)
    await Promise.resolve()
    expect(line.wire.isOpen).toBe(false)
  })

  it('is told to come later when too many come from its address', () => {
    for (let count = 0; count < PUBLICATIONS.budget; count += 1) {
      const operator = holderKey(SecretKey.generate())
      new Line(BOB).say({ kind: 'publish', operator: operator.id, channel: CHANNEL })
    }
    expect(operatorLine().say(PUBLISH).refusal).toMatchObject({ code: 'ERR_PEER_BUSY' })
    expect(new Line(CAROL, { host: '198.51.100.9' }).say(PUBLISH).refusal).toBeUndefined()
  })
})

describe('a broker that has no room for one list more', () => {
  beforeEach(() => start(undefined, { lists: 2, holders: 20 }))

  const operator = (): HolderKey => holderKey(SecretKey.generate())
  const published = (signer: HolderKey, host: string): Line =>
    new Line(CAROL, { host })
      .say({ kind: 'publish', operator: signer.id, channel: CHANNEL })
      .say({ kind: 'revoked', list: listOf(1, [], { operator: signer }) })

  it('tells whoever publishes to come later, and a member what it has, and keeps those of channels in use', () => {
    const source = new Line(ALICE).join('accept').say(revoked(1, [bob]))
    expect(notedOf(published(operator(), '198.51.100.1'))).toEqual([0n, 1n])
    expect(notedOf(published(operator(), '198.51.100.2'))).toEqual([0n, 1n])
    source.say(revoked(2, [bob]))
    expect(notedOf(source)).toEqual([1n, 2n])
    const other = { channel: OTHER_CHANNEL }
    const full = new Line(ALICE).join('accept', other).say({ kind: 'revoked', list: listOf(1, [], other) })
    expect([notedOf(full), full.refusal]).toEqual([[0n], undefined])
    const publisher = new Line(CAROL, { host: '203.0.113.5' })
      .say({ ...PUBLISH, ...other })
      .say({ kind: 'revoked', list: listOf(1, [], other) })
    expect(publisher.refusal).toMatchObject({ code: 'ERR_PEER_BUSY' })
    expect(new Line(BOB).join('initiate').refusal).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })

  it('lets nobody push out the lists of others by making up operators', () => {
    start(undefined, { lists: 8, holders: 512 })
    const victims = [operator(), operator()]
    for (const victim of victims) published(victim, '203.0.113.5')
    for (let count = 0; count < 50; count += 1) published(operator(), '198.51.100.1')
    const kept = victims.map((victim) => notedOf(published(victim, '203.0.113.5')))
    expect(kept).toEqual(victims.map(() => [1n, 1n]))
  })
})

describe('an initiator that watches', () => {
  it('meets nobody, keeps its seat and hears of removals', () => {
    const acceptor = new Line(ALICE).join('accept')
    const watcher = new Line(BOB).join('initiate', { watches: true })
    expect(watcher.heard).toEqual([{ kind: 'joined', observed: watcher.peer.observed, waitSeconds: 0 }])
    clock.advance(40_000)
    for (const line of [acceptor, watcher]) line.say({ kind: 'alive' })
    clock.advance(40_000)
    operatorLine()
      .say(PUBLISH)
      .say(revoked(1, [alice]))
    expect(listsOf(watcher)).toEqual([[1n, [alice]]])
    expect(acceptor.refusal).toBeDefined()
  })

  it('takes no place from those that wait', () => {
    const waiting = [1, 2, 3, 4].map(() => new Line(BOB).join('initiate'))
    for (let count = 0; count < 16; count += 1) new Line(BOB).join('initiate', { watches: true })
    expect(waiting.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined, undefined])
  })
})
