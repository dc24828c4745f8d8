/**
 * Who is where: one room for each channel of each operator, with its acceptors and the initiators that wait for one.
 *
 * Pure: no clock, no socket; whoever calls says what time it is and tells the members. Holds: nobody is ever paired with
 * itself, nor across rooms; those who wait are served in the order in which they came; every count is bounded.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { busy } from './refusals.ts'

export interface RoomLimits {
  readonly rooms: number
  readonly seats: number
  readonly operatorRooms: number
  readonly operatorSeats: number
}

/** Initiators of one holder in one room; the oldest makes way for one more. An acceptor has one place. */
export const MAX_HOLDER_INITIATORS = 4
/** How long an acceptor is counted as busier for an initiator that was sent there and not heard of since. */
export const EXPECTED_MS = 10_000
/** Places of an acceptor that has not said how many it has. */
const ASSUMED_PLACES = 8
/** Until others have left. */
const FULL_RETRY_MS = 5_000

export interface SeatRequest {
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly holder: HolderId
  readonly side: 'initiate' | 'accept'
  /** Of an initiator: the only acceptor that it wants. */
  readonly wants?: HolderId
}

/** One member at one side of one room. */
export interface Seat extends SeatRequest {
  /** False for an initiator that has met its acceptor. */
  readonly isWaiting: boolean
  /** How many it met. */
  readonly met: number
}

export interface Pair {
  readonly initiator: Seat
  readonly acceptor: Seat
}

export interface Seated {
  readonly seat: Seat
  /** Those that made way: they have left. */
  readonly superseded: readonly Seat[]
  readonly pairs: readonly Pair[]
}

export interface RoomView {
  readonly operator: HolderId
  readonly acceptors: ReadonlySet<Seat>
  readonly initiators: ReadonlySet<Seat>
}

export class Rooms {
  readonly #limits: RoomLimits
  readonly #rooms = new Map<string, Room>()
  readonly #operators = new Map<HolderId, OperatorRooms>()
  readonly #holders = new Map<HolderId, Set<Place>>()
  #seats = 0

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  get counts(): { readonly rooms: number; readonly acceptors: number; readonly initiators: number; waiting: number } {
    const all = [...this.#rooms.values()]
    const sum = (count: (room: Room) => number): number => all.reduce((total, room) => total + count(room), 0)
    return {
      rooms: all.length,
      acceptors: sum(({ acceptors }) => acceptors.size),
      initiators: sum(({ initiators }) => initiators.size),
      waiting: sum((room) => room.waiting().length),
    }
  }

  /** A seat, or `ERR_PEER_BUSY` where none is left. */
  join(request: SeatRequest, now: number): Seated | CtError {
    const existing = this.#rooms.get(keyOf(request))
    const before = existing?.precursors(request) ?? []
    const refusal = before.length > 0 ? undefined : this.#refusal(request, existing === undefined)
    if (refusal !== undefined) return refusal
    for (const seat of before) this.leave(seat)
    const room = this.#roomOf(request)
    const place = new Place(request, room)
    room.side(place.side).add(place)
    this.#count(place, 1)
    const pairs = place.side === 'accept' ? room.settle(now) : room.meet(place, now)
    return { seat: place, superseded: before, pairs }
  }

  /** Gives the seat back; again does nothing. */
  leave(seat: Seat): void {
    const place = placeOf(seat)
    if (!place.room.side(place.side).delete(place)) return
    this.#count(place, -1)
    if (place.room.size > 0) return
    const key = keyOf(place)
    this.#rooms.delete(key)
    this.#operators.get(place.operator)?.rooms.delete(place.room)
  }

  /** An acceptor's own word on how busy it is. */
  report(seat: Seat, taken: number, places: number, now: number): readonly Pair[] {
    const place = placeOf(seat)
    if (place.side !== 'accept' || !place.room.acceptors.has(place)) return []
    place.report(taken, places)
    return place.room.settle(now)
  }

  /** Pairs that time has made possible. */
  settle(now: number): readonly Pair[] {
    return [...this.#rooms.values()].flatMap((room) => room.settle(now))
  }

  /** The acceptor seats of one holder in rooms in which the other is an initiator, newest last. */
  shared(initiator: HolderId, acceptor: HolderId): readonly Seat[] {
    const rooms = new Set([...this.seatsOf(initiator, 'initiate')].map((seat) => placeOf(seat).room))
    return this.seatsOf(acceptor, 'accept').filter((seat) => rooms.has(placeOf(seat).room))
  }

  seatsOf(holder: HolderId, side?: Seat['side']): readonly Seat[] {
    return [...(this.#holders.get(holder) ?? [])].filter((seat) => side === undefined || seat.side === side)
  }

  roomOf(seat: Seat): RoomView {
    return placeOf(seat).room
  }

  roomsOf(operator: HolderId): ReadonlySet<RoomView> {
    return this.#operators.get(operator)?.rooms ?? NO_ROOMS
  }

  #refusal({ operator }: SeatRequest, isNewRoom: boolean): CtError | undefined {
    const own = this.#operators.get(operator)
    if (this.#seats >= this.#limits.seats) return busy('the broker has no seat left', FULL_RETRY_MS)
    if ((own?.seats ?? 0) >= this.#limits.operatorSeats)
      return busy('the operator has no seat left on this broker', FULL_RETRY_MS)
    if (!isNewRoom) return undefined
    if (this.#rooms.size >= this.#limits.rooms) return busy('the broker has no room left', FULL_RETRY_MS)
    const hasRoom = (own?.rooms.size ?? 0) < this.#limits.operatorRooms
    return hasRoom ? undefined : busy('the operator has no room left on this broker', FULL_RETRY_MS)
  }

  #roomOf(request: SeatRequest): Room {
    const key = keyOf(request)
    const existing = this.#rooms.get(key)
    if (existing !== undefined) return existing
    const room = new Room(request.operator)
    this.#rooms.set(key, room)
    return room
  }

  #count(place: Place, by: 1 | -1): void {
    this.#seats += by
    const own = this.#operators.get(place.operator) ?? { rooms: new Set(), seats: 0 }
    own.seats += by
    own.rooms.add(place.room)
    if (own.seats > 0) this.#operators.set(place.operator, own)
    else this.#operators.delete(place.operator)
    const seats = this.#holders.get(place.holder) ?? new Set()
    if (by > 0) seats.add(place)
    else seats.delete(place)
    if (seats.size > 0) this.#holders.set(place.holder, seats)
    else this.#holders.delete(place.holder)
  }
}

interface OperatorRooms {
  readonly rooms: Set<Room>
  seats: number
}

class Place implements Seat {
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly holder: HolderId
  readonly side: Seat['side']
  readonly wants?: HolderId
  readonly room: Room
  isWaiting: boolean
  met = 0
  #taken = 0
  #places: number | undefined
  /** When initiators were sent here that the acceptor's own word does not cover yet. */
  #expected: number[] = []

  constructor({ operator, channel, holder, side, wants }: SeatRequest, room: Room) {
    this.operator = operator
    this.channel = channel
    this.holder = holder
    this.side = side
    if (wants !== undefined) this.wants = wants
    this.room = room
    this.isWaiting = side === 'initiate'
  }

  report(taken: number, places: number): void {
    this.#taken = taken
    this.#places = places
    this.#expected = []
  }

  expect(now: number): void {
    this.met += 1
    this.#expected.push(now)
  }

  /** The part of its places that is taken; from 1 on it has none. */
  load(now: number): number {
    this.#expected = this.#expected.filter((since) => now - since < EXPECTED_MS)
    const busy = this.#taken + this.#expected.length
    if (this.#places !== undefined) return this.#places === 0 ? 1 : busy / this.#places
    // One that does not say may have any number of places.
    return Math.min(busy / ASSUMED_PLACES, ALMOST_FULL)
  }
}

const ALMOST_FULL = 0.999

class Room implements RoomView {
  readonly operator: HolderId
  readonly acceptors = new Set<Place>()
  /** In the order in which they came. */
  readonly initiators = new Set<Place>()

  constructor(operator: HolderId) {
    this.operator = operator
  }

  get size(): number {
    return this.acceptors.size + this.initiators.size
  }

  side(side: Seat['side']): Set<Place> {
    return side === 'accept' ? this.acceptors : this.initiators
  }

  waiting(): Place[] {
    return [...this.initiators].filter(({ isWaiting }) => isWaiting)
  }

  /** Whom one more seat of this kind pushes out. */
  precursors({ holder, side }: SeatRequest): readonly Place[] {
    const own = [...this.side(side)].filter((place) => place.holder === holder)
    if (side === 'accept') return own
    return own.slice(0, Math.max(0, own.length + 1 - MAX_HOLDER_INITIATORS))
  }

  settle(now: number): Pair[] {
    return this.acceptors.size === 0 ? [] : this.waiting().flatMap((initiator) => this.meet(initiator, now))
  }

  /** Sends the initiator to the acceptor it wants, else to the least busy one. */
  meet(initiator: Place, now: number): Pair[] {
    let best: { readonly acceptor: Place; readonly load: number } | undefined
    for (const acceptor of this.acceptors) {
      const { wants, holder } = initiator
      if (acceptor.holder === holder || (wants !== undefined && wants !== acceptor.holder)) continue
      const load = acceptor.load(now)
      if (load < 1 && (best === undefined || load < best.load)) best = { acceptor, load }
    }
    if (best === undefined) return []
    initiator.isWaiting = false
    initiator.met += 1
    best.acceptor.expect(now)
    return [{ initiator, acceptor: best.acceptor }]
  }
}

function keyOf({ operator, channel }: Pick<SeatRequest, 'operator' | 'channel'>): string {
  return `${operator}/${channel}`
}

function placeOf(seat: Seat): Place {
  if (seat instanceof Place) return seat
  throw new TypeError('expected a seat of these rooms')
}

const NO_ROOMS: ReadonlySet<RoomView> = new Set()
