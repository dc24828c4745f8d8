/**
 * One room of a broker: its acceptors, the initiators that wait for one, and those that only watch.
 *
 * @module
 */
import { type ChannelId, type HolderId } from '../../core/ids.ts'

/** Initiators of one holder in one room; the oldest makes way for one more. An acceptor has one place. */
export const MAX_HOLDER_INITIATORS = 4
/** How long an acceptor is counted as busier for an initiator that was sent there and not heard of since. */
export const EXPECTED_MS = 10_000
/** Places of an acceptor that has not said how many it has. */
const ASSUMED_PLACES = 8
/** Of one holder in one room: those of its processes that have a session and hear of removals. */
export const MAX_HOLDER_WATCHERS = 16

export interface SeatRequest {
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly holder: HolderId
  readonly side: 'initiate' | 'accept'
  /** Of an initiator: the only acceptor that it wants. */
  readonly wants?: HolderId
  /** Of an initiator that wants nobody. */
  readonly watches?: true
  /** Whose grants the membership rests on, the holder's own included. */
  readonly chain: readonly HolderId[]
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

export interface RoomView {
  readonly operator: HolderId
  readonly acceptors: ReadonlySet<Seat>
  readonly initiators: ReadonlySet<Seat>
}

export class Place implements Seat {
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly holder: HolderId
  readonly side: Seat['side']
  readonly wants?: HolderId
  readonly watches?: true
  readonly chain: readonly HolderId[]
  readonly room: Room
  isWaiting: boolean
  met = 0
  #taken = 0
  #places: number | undefined
  /** When initiators were sent here that the acceptor's own word does not cover yet. */
  #expected: number[] = []

  constructor({ operator, channel, holder, side, wants, watches, chain }: SeatRequest, room: Room) {
    this.operator = operator
    this.channel = channel
    this.holder = holder
    this.side = side
    if (wants !== undefined) this.wants = wants
    if (watches !== undefined) this.watches = watches
    this.chain = chain
    this.room = room
    this.isWaiting = side === 'initiate' && watches === undefined
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

export class Room implements RoomView {
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
  precursors({ holder, side, watches }: SeatRequest): readonly Place[] {
    const own = [...this.side(side)].filter((place) => place.holder === holder && place.watches === watches)
    if (side === 'accept') return own
    const most = watches === undefined ? MAX_HOLDER_INITIATORS : MAX_HOLDER_WATCHERS
    return own.slice(0, Math.max(0, own.length + 1 - most))
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
