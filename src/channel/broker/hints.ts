/**
 * What is worth telling a member that waits where nobody will come.
 *
 * Holds: it learns how many wait elsewhere, never who, nor on which channel.
 *
 * @module
 */
import { type RoomView, type Seat } from './room.ts'
import { type Rooms } from './rooms.ts'

/** A sentence for a person, or nothing when the member is where it should be, as far as anybody can tell. */
export function hintFor(rooms: Rooms, seat: Seat): string | undefined {
  return seat.side === 'accept' ? hintForAcceptor(rooms, seat) : hintForInitiator(rooms, seat)
}

function hintForInitiator(rooms: Rooms, seat: Seat): string | undefined {
  if (!seat.isWaiting) return undefined
  const own = rooms.roomOf(seat)
  const acceptors = othersIn(own.acceptors, seat)
  if (acceptors > 0) {
    if (seat.wants === undefined || [...own.acceptors].some(({ holder }) => holder === seat.wants)) return undefined
    return `the member you want to reach does not accept here; ${counted(acceptors, 'other member')} of this channel would`
  }
  const elsewhere = elsewhereOf(rooms, own, ({ acceptors: seats }) => othersIn(seats, seat))
  const here = othersIn(own.initiators, seat)
  const ownKey = rooms.seatsOf(seat.holder).filter((other) => rooms.roomOf(other) !== own).length
  const found = [
    ...(here > 0 ? [`${counted(here, 'other member')} here initiates as well, and one side has to accept`] : []),
    ...(elsewhere > 0 ? [`${counted(elsewhere, 'member')} of this operator accepts on other channels`] : []),
    ...(ownKey > 0 ? [`your own key has ${counted(ownKey, 'seat')} on other channels`] : []),
  ]
  return found.length === 0 ? undefined : `nobody accepts on this channel yet; ${found.join('; ')}`
}

function hintForAcceptor(rooms: Rooms, seat: Seat): string | undefined {
  const own = rooms.roomOf(seat)
  if (seat.met > 0 || othersIn(own.initiators, seat) > 0) return undefined
  const stranded = elsewhereOf(rooms, own, ({ acceptors, initiators }) =>
    acceptors.size > 0 ? 0 : othersIn(new Set([...initiators].filter(({ isWaiting }) => isWaiting)), seat),
  )
  if (stranded === 0) return undefined
  return `nobody has come to this channel yet; ${counted(stranded, 'member')} of this operator waits on channels where nobody accepts`
}

function elsewhereOf(rooms: Rooms, own: RoomView, count: (room: RoomView) => number): number {
  return [...rooms.roomsOf(own.operator)].reduce((sum, room) => sum + (room === own ? 0 : count(room)), 0)
}

/** Members, not seats. */
function othersIn(seats: ReadonlySet<Seat>, seat: Seat): number {
  return new Set([...seats].map(({ holder }) => holder).filter((holder) => holder !== seat.holder)).size
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
