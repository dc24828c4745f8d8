import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  EXPECTED_MS,
  MAX_HOLDER_INITIATORS,
  MAX_HOLDER_WATCHERS,
  type Pair,
  type Seat,
  type SeatRequest,
} from '../../../src/channel/broker/room.ts'
import { type RoomLimits, Rooms, type Seated } from '../../../src/channel/broker/rooms.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'

const WIDE: RoomLimits = { rooms: 100, seats: 1_000, operatorRooms: 100, operatorSeats: 1_000 }
const holder = (name: string): HolderId => name.padEnd(64, '0') as HolderId
const channel = (name: string): ChannelId => name.padEnd(64, 'c') as ChannelId
const [A, B, C, D] = ['a', 'b', 'c', 'd'].map(holder) as [HolderId, HolderId, HolderId, HolderId]

function request(side: SeatRequest['side'], who: HolderId, changes: Partial<SeatRequest> = {}): SeatRequest {
  return { operator: holder('f'), channel: channel('1'), holder: who, side, chain: [who], ...changes }
}

function seated(outcome: Seated | CtError): Seated {
  if (outcome instanceof CtError) throw outcome
  return outcome
}

function names(pairs: readonly Pair[]): readonly string[] {
  return pairs.map(({ initiator, acceptor }) => `${initiator.holder[0]}>${acceptor.holder[0]}`)
}

describe('Rooms', () => {
  it('pairs one who comes with the acceptor that is there', () => {
    const rooms = new Rooms(WIDE)
    rooms.join(request('accept', A), 0)
    expect(names(seated(rooms.join(request('initiate', B), 0)).pairs)).toEqual(['b>a'])
    expect(rooms.counts).toEqual({ rooms: 1, acceptors: 1, initiators: 1, waiting: 0 })
  })

  it('pairs those who wait in the order in which they came', () => {
    const rooms = new Rooms(WIDE)
    for (const who of [C, B, D]) rooms.join(request('initiate', who), 0)
    expect(names(seated(rooms.join(request('accept', A), 0)).pairs)).toEqual(['c>a', 'b>a', 'd>a'])
  })

  it('never pairs a holder with itself, but with another acceptor', () => {
    const rooms = new Rooms(WIDE)
    rooms.join(request('accept', A), 0)
    expect(seated(rooms.join(request('initiate', A), 0)).pairs).toEqual([])
    expect(names(seated(rooms.join(request('accept', B), 0)).pairs)).toEqual(['a>b'])
  })

  for (const [name, other] of [
    ['another channel', { channel: channel('2') }],
    ['the same channel of another operator', { operator: holder('e') }],
  ] as const) {
    it(`pairs nobody with an acceptor of ${name}`, () => {
      const rooms = new Rooms(WIDE)
      rooms.join(request('accept', A, other), 0)
      expect(seated(rooms.join(request('initiate', B), 0)).pairs).toEqual([])
      expect(rooms.shared(B, A)).toEqual([])
    })
  }

  it('waits for the acceptor that is wanted, however idle the others are', () => {
    const rooms = new Rooms(WIDE)
    rooms.join(request('accept', A), 0)
    expect(seated(rooms.join(request('initiate', C, { wants: B }), 0)).pairs).toEqual([])
    expect(names(seated(rooms.join(request('accept', B), 0)).pairs)).toEqual(['c>b'])
  })

  it('sends an initiator to the least busy acceptor', () => {
    const rooms = new Rooms(WIDE)
    const one = seated(rooms.join(request('accept', A), 0)).seat
    const other = seated(rooms.join(request('accept', B), 0)).seat
    rooms.report(one, 4, 8, 0)
    rooms.report(other, 3, 4, 0)
    expect(names(seated(rooms.join(request('initiate', C), 0)).pairs)).toEqual(['c>a'])
    rooms.report(other, 0, 4, 0)
    expect(names(seated(rooms.join(request('initiate', D), 0)).pairs)).toEqual(['d>b'])
  })

  it('spreads initiators over acceptors that have not said anything yet', () => {
    const rooms = new Rooms(WIDE)
    for (const who of [A, B]) rooms.join(request('accept', who), 0)
    const met = ['1', '2', '3', '4'].flatMap((name) => seated(rooms.join(request('initiate', holder(name)), 0)).pairs)
    expect(met.map(({ acceptor }) => acceptor.holder)).toEqual([A, B, A, B])
  })

  it('lets initiators wait while no acceptor has a place, and pairs one when a place is free', () => {
    const rooms = new Rooms(WIDE)
    const { seat } = seated(rooms.join(request('accept', A), 0))
    rooms.report(seat, 2, 2, 0)
    expect(seated(rooms.join(request('initiate', B), 0)).pairs).toEqual([])
    expect(seated(rooms.join(request('initiate', C), 0)).pairs).toEqual([])
    expect(names(rooms.report(seat, 1, 2, 0))).toEqual(['b>a'])
  })

  it('counts an initiator that never arrived as expected for a while only', () => {
    const rooms = new Rooms(WIDE)
    const { seat } = seated(rooms.join(request('accept', A), 0))
    rooms.report(seat, 0, 1, 0)
    expect(names(seated(rooms.join(request('initiate', B), 0)).pairs)).toEqual(['b>a'])
    expect(seated(rooms.join(request('initiate', C), 0)).pairs).toEqual([])
    expect(rooms.settle(EXPECTED_MS - 1)).toEqual([])
    expect(names(rooms.settle(EXPECTED_MS))).toEqual(['c>a'])
  })

  it('gives an acceptor that comes again its place, and takes it from its older self', () => {
    const rooms = new Rooms(WIDE)
    const first = seated(rooms.join(request('accept', A), 0)).seat
    const again = seated(rooms.join(request('accept', A), 0))
    expect(again.superseded).toEqual([first])
    expect(rooms.seatsOf(A)).toEqual([again.seat])
  })

  it('has few places for the initiators of one holder, and takes the oldest', () => {
    const rooms = new Rooms(WIDE)
    const seats = Array.from(
      { length: MAX_HOLDER_INITIATORS },
      () => seated(rooms.join(request('initiate', A), 0)).seat,
    )
    expect(seated(rooms.join(request('initiate', A), 0)).superseded).toEqual([seats[0]])
    expect(rooms.seatsOf(A)).toHaveLength(MAX_HOLDER_INITIATORS)
  })

  it('counts a seat that is given back twice once', () => {
    const rooms = new Rooms(WIDE)
    const { seat } = seated(rooms.join(request('accept', A), 0))
    rooms.join(request('accept', B), 0)
    rooms.leave(seat)
    rooms.leave(seat)
    expect(rooms.counts).toMatchObject({ rooms: 1, acceptors: 1 })
  })

  const bounds: readonly { name: string; limits: Partial<RoomLimits>; second: SeatRequest }[] = [
    { name: 'seats', limits: { seats: 1 }, second: request('accept', B, { operator: holder('e') }) },
    { name: 'rooms', limits: { rooms: 1 }, second: request('accept', B, { operator: holder('e') }) },
    { name: 'seats of an operator', limits: { operatorSeats: 1 }, second: request('accept', B) },
    {
      name: 'rooms of an operator',
      limits: { operatorRooms: 1 },
      second: request('accept', B, { channel: channel('2') }),
    },
  ]
  for (const { name, limits, second } of bounds) {
    it(`has no more ${name} than it may, and as many again when one is free`, () => {
      const rooms = new Rooms({ ...WIDE, ...limits })
      const { seat } = seated(rooms.join(request('accept', A), 0))
      expect(rooms.join(second, 0)).toMatchObject({ code: 'ERR_PEER_BUSY' })
      rooms.leave(seat)
      expect(rooms.join(second, 0)).toHaveProperty('seat')
    })
  }

  it('lets a holder take its own place where no other is left', () => {
    const rooms = new Rooms({ ...WIDE, seats: 1 })
    rooms.join(request('accept', A), 0)
    expect(rooms.join(request('accept', A), 0)).toHaveProperty('seat')
  })
})

type Step =
  | { readonly do: 'join'; readonly request: SeatRequest }
  | { readonly do: 'leave'; readonly which: number }
  | { readonly do: 'report'; readonly which: number; readonly taken: number; readonly places: number }
  | { readonly do: 'pass'; readonly ms: number }

const who = fc.constantFrom(A, B, C, D)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('join' as const),
    request: fc
      .record({
        operator: fc.constantFrom(holder('e'), holder('f')),
        channel: fc.constantFrom(channel('1'), channel('2')),
        holder: who,
        side: fc.constantFrom('initiate' as const, 'accept' as const),
        wants: fc.option(who, { nil: undefined }),
      })
      .map(({ wants, ...rest }): SeatRequest => {
        const request = { ...rest, chain: [rest.holder] }
        return wants === undefined ? request : { ...request, wants }
      }),
  }),
  fc.record({ do: fc.constant('leave' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('report' as const), which: fc.nat(20), taken: fc.nat(3), places: fc.nat(3) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.nat(EXPECTED_MS) }),
)

describe('an initiator that wants nobody', () => {
  it('is paired with nobody, and makes way for one of its own kind alone', () => {
    const rooms = new Rooms(WIDE)
    const watch = (): Seated => seated(rooms.join(request('initiate', B, { watches: true }), 0))
    const waiting = seated(rooms.join(request('initiate', B), 0))
    const first = watch()
    for (let count = 1; count < MAX_HOLDER_WATCHERS; count += 1) expect(watch().superseded).toEqual([])
    expect(watch().superseded).toEqual([first.seat])
    expect(names(seated(rooms.join(request('accept', A), 0)).pairs)).toEqual(['b>a'])
    expect(rooms.counts.waiting).toBe(0)
    expect(waiting.seat.isWaiting).toBe(false)
    expect(rooms.seatsIn(waiting.seat)).toHaveLength(MAX_HOLDER_WATCHERS + 2)
  })
})

describe('Rooms, whatever happens in them', () => {
  const limits: RoomLimits = { rooms: 3, seats: 12, operatorRooms: 2, operatorSeats: 8 }

  it('pair only two of one room that want each other and are not one, each initiator once, first come first served, and keep their bounds', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const rooms = new Rooms(limits)
        const seats: Seat[] = []
        const met = new Set<Seat>()
        let now = 0
        const check = (pairs: readonly Pair[]): void => {
          for (const { initiator, acceptor } of pairs) {
            expect(initiator.holder).not.toBe(acceptor.holder)
            expect([initiator.operator, initiator.channel]).toEqual([acceptor.operator, acceptor.channel])
            expect([initiator.side, acceptor.side]).toEqual(['initiate', 'accept'])
            expect(initiator.wants ?? acceptor.holder).toBe(acceptor.holder)
            expect(seats).toContain(initiator)
            expect(seats).toContain(acceptor)
            expect(met).not.toContain(initiator)
            met.add(initiator)
            const passedOver = seats.slice(0, seats.indexOf(initiator)).filter((earlier) => {
              const fits = earlier.holder !== acceptor.holder && (earlier.wants ?? acceptor.holder) === acceptor.holder
              return earlier.isWaiting && fits && rooms.roomOf(earlier) === rooms.roomOf(acceptor)
            })
            expect(passedOver).toEqual([])
          }
        }
        const remove = (seat: Seat): void => void seats.splice(seats.indexOf(seat), 1)
        for (const one of steps) {
          if (one.do === 'join') {
            const outcome = rooms.join(one.request, now)
            if (!(outcome instanceof CtError)) {
              outcome.superseded.forEach(remove)
              seats.push(outcome.seat)
              check(outcome.pairs)
            }
          } else if (one.do === 'pass') {
            now += one.ms
            check(rooms.settle(now))
          } else {
            const seat = seats[one.which % Math.max(1, seats.length)]
            if (seat === undefined) continue
            if (one.do === 'report') {
              check(rooms.report(seat, one.taken, one.places, now))
            } else {
              rooms.leave(seat)
              remove(seat)
            }
          }
          const { acceptors, initiators, rooms: count } = rooms.counts
          expect(acceptors + initiators).toBe(seats.length)
          expect(seats.length).toBeLessThanOrEqual(limits.seats)
          expect(count).toBe(new Set(seats.map(({ operator, channel: name }) => operator + name)).size)
          expect(count).toBeLessThanOrEqual(limits.rooms)
          for (const operator of [holder('e'), holder('f')]) {
            const own = seats.filter((seat) => seat.operator === operator)
            expect(own.length).toBeLessThanOrEqual(limits.operatorSeats)
            expect(rooms.roomsOf(operator).size).toBe(new Set(own.map(({ channel: name }) => name)).size)
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
