import { describe, expect, it } from 'vitest'
import { hintFor } from '../../../src/channel/broker/hints.ts'
import { type Seat, type SeatRequest } from '../../../src/channel/broker/room.ts'
import { Rooms } from '../../../src/channel/broker/rooms.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'

const holder = (name: string): HolderId => name.padEnd(64, '0') as HolderId
const channel = (name: string): ChannelId => name.padEnd(64, 'c') as ChannelId

function seat(rooms: Rooms, side: Seat['side'], who: string, changes: Partial<SeatRequest> = {}): Seat {
  const own = { operator: holder('f'), channel: channel('1'), holder: holder(who), side, chain: [], ...changes }
  const outcome = rooms.join(own, 0)
  if (outcome instanceof CtError) throw outcome
  return outcome.seat
}

const elsewhere = { channel: channel('2') }

const cases: readonly {
  name: string
  others: (rooms: Rooms) => void
  own: readonly [Seat['side'], Partial<SeatRequest>?]
  hint: RegExp | undefined
}[] = [
  { name: 'an initiator alone nothing', others: () => {}, own: ['initiate'], hint: undefined },
  { name: 'an acceptor alone nothing', others: () => {}, own: ['accept'], hint: undefined },
  {
    name: 'an initiator that members of its operator accept on another channel',
    others: (rooms) => seat(rooms, 'accept', 'b', elsewhere),
    own: ['initiate'],
    hint: /1 member of this operator accepts on other channels/,
  },
  {
    name: 'an initiator nothing of another operator',
    others: (rooms) => seat(rooms, 'accept', 'b', { ...elsewhere, operator: holder('e') }),
    own: ['initiate'],
    hint: undefined,
  },
  {
    name: 'an initiator that its own key waits elsewhere',
    others: (rooms) => seat(rooms, 'initiate', 'a', elsewhere),
    own: ['initiate'],
    hint: /your own key has 1 seat on other channels/,
  },
  {
    name: 'an initiator that the other side initiates too',
    others: (rooms) => seat(rooms, 'initiate', 'b'),
    own: ['initiate'],
    hint: /1 other member here initiates as well/,
  },
  {
    name: 'an initiator that others than the wanted one accept',
    others: (rooms) => seat(rooms, 'accept', 'b'),
    own: ['initiate', { wants: holder('d') }],
    hint: /does not accept here; 1 other member/,
  },
  {
    name: 'an acceptor that members of its operator wait where nobody accepts',
    others: (rooms) => seat(rooms, 'initiate', 'b', elsewhere),
    own: ['accept'],
    hint: /1 member of this operator waits on channels where nobody accepts/,
  },
]

describe('hintFor', () => {
  for (const { name, others, own, hint } of cases) {
    it(`tells ${name}`, () => {
      const rooms = new Rooms({ rooms: 9, seats: 9, operatorRooms: 9, operatorSeats: 9 })
      others(rooms)
      const text = hintFor(rooms, seat(rooms, own[0], 'a', own[1]))
      if (hint === undefined) expect(text).toBeUndefined()
      else expect(text).toMatch(hint)
      expect(text ?? '').not.toMatch(/[0-9a-f]{8}/)
    })
  }

  it('tells one that has met its acceptor nothing', () => {
    const rooms = new Rooms({ rooms: 9, seats: 9, operatorRooms: 9, operatorSeats: 9 })
    seat(rooms, 'accept', 'b')
    seat(rooms, 'accept', 'd', elsewhere)
    expect(hintFor(rooms, seat(rooms, 'initiate', 'a'))).toBeUndefined()
  })
})
