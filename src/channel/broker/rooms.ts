/**
 * Who is where: one room for each channel of each operator, with its acceptors and the initiators that wait for one.
 *
 * Pure: no clock, no socket; whoever calls says what time it is and tells the members. Holds: nobody is ever paired with
 * itself, nor across rooms; those who wait are served in the order in which they came; every count is bounded.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { busy } from './refusals.ts'
import { type Pair, Place, Room, type RoomView, type Seat, type SeatRequest } from './room.ts'

export interface RoomLimits {
  readonly rooms: number
  readonly seats: number
  readonly operatorRooms: number
  readonly operatorSeats: number
}

/** Until others have left. */
const FULL_RETRY_MS = 5_000

export interface Seated {
  readonly seat: Seat
  /** Those that made way: they have left. */
  readonly superseded: readonly Seat[]
  readonly pairs: readonly Pair[]
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
    const pairs = place.side === 'accept' ? room.settle(now) : place.isWaiting ? room.meet(place, now) : []
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

  /** Everybody in the room of this channel. */
  seatsIn(room: Pick<SeatRequest, 'operator' | 'channel'>): readonly Seat[] {
    const found = this.#rooms.get(keyOf(room))
    return found === undefined ? [] : [...found.acceptors, ...found.initiators]
  }

  has(room: Pick<SeatRequest, 'operator' | 'channel'>): boolean {
    return this.#rooms.has(keyOf(room))
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

/** The name of a room. */
export function keyOf({ operator, channel }: Pick<SeatRequest, 'operator' | 'channel'>): string {
  return `${operator}/${channel}`
}

function placeOf(seat: Seat): Place {
  if (seat instanceof Place) return seat
  throw new TypeError('expected a seat of these rooms')
}

const NO_ROOMS: ReadonlySet<RoomView> = new Set()
