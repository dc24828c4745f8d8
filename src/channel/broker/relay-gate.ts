/**
 * Whom the relay serves: acceptors that have a seat, and initiators on their way to one in the same room.
 *
 * Holds: a relayed connection goes to the very connection on which the acceptor joined that room, also when another
 * process with the same key is connected; what each member and each operator uses is counted and bounded.
 *
 * @module
 */
import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import { type Connection, type PeerId, type Stream } from '@libp2p/interface'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { holderOf } from '../node/node.ts'
import { type Arrivals } from './arrivals.ts'
import { type Counters } from './counters.ts'
import { type RoomName } from './kept-lists.ts'
import { Quota } from './quota.ts'
import { type Seat } from './room.ts'
import { keyOf, type Rooms } from './rooms.ts'

/** A reservation may be asked for while the join is still on its way. */
export const RESERVATION_WAIT_MS = 5_000
const RESERVATION_POLL_MS = 50
/** Reservations that wait for a join at once. */
const MAX_WAITING = 1_024
/** Streams of one connection that ask the relay for something, or that it relays for an initiator. */
export const MAX_REQUESTS = 256
const MAX_STRANGER_REQUESTS = 2
/** What is left to members that part because one of them was removed. */
export const GOODBYE_MS = 250
const DAY_MS = 86_400_000
const MAX_OPERATORS = 16_384
/** Counted against the operator in steps of this size: an exact count a packet would cost more than it is worth. */
const COUNT_STEP_BYTES = 262_144

export interface RelayGateOptions {
  readonly rooms: Rooms
  readonly counters: Counters
  readonly arrivals: Pick<Arrivals, 'settled'>
  readonly connectionOf: (seat: Seat) => Connection | undefined
  readonly isDraining: () => boolean
  readonly clock: Clock
  /** Relayed connections of one member at once. */
  readonly maxPeerRelayed: number
  /** Bytes relayed for one operator in a day. */
  readonly operatorBytes: number
}

interface Passage {
  readonly initiator: HolderId
  readonly acceptor: Seat
  readonly connection: Connection
  /** Rooms in which the two may meet: which of them they do, the relay cannot know. */
  readonly rooms: ReadonlySet<string>
  /** Whose grants either side rests on. */
  readonly chain: readonly HolderId[]
}

interface Relayed extends Passage {
  readonly stream: Stream
}

export class RelayGate {
  readonly #options: RelayGateOptions
  readonly #bytes: Quota
  readonly #relayed = new Map<HolderId, number>()
  /** Allowed and not yet used, oldest first: the relay asks for the connection right after it asked for permission. */
  readonly #passages = new Map<HolderId, Passage[]>()
  readonly #live = new Set<Relayed>()
  #waiting = 0
  #now = 0

  constructor(options: RelayGateOptions) {
    this.#options = options
    this.#bytes = new Quota({ budget: options.operatorBytes, windowMs: DAY_MS, maxKeys: MAX_OPERATORS })
  }

  /** Connections that are relayed at the moment. */
  get relayedNow(): number {
    return this.#now
  }

  /** True while something is relayed to or from the peer. */
  relays(peer: PeerId): boolean {
    const holder = holderOf(peer)
    return holder !== undefined && this.#relayed.has(holder)
  }

  /** Whether one more request may be read: what a stranger sends the relay is kept until it is understood. */
  allowsRequest({ remotePeer, streams }: Connection): boolean {
    const holder = holderOf(remotePeer)
    if (holder === undefined) return false
    const open = streams.filter(({ protocol }) => protocol === RELAY_V2_HOP_CODEC).length
    return open <= (this.#options.rooms.seatsOf(holder).length > 0 ? MAX_REQUESTS : MAX_STRANGER_REQUESTS)
  }

  /** Resolves when it is known what has come of the seats that were asked for over the connection. */
  isPlaced(connection: Connection): Promise<void> {
    return this.#options.arrivals.settled(connection)
  }

  readonly denyReservation = async (peer: PeerId): Promise<boolean> => {
    const holder = holderOf(peer)
    if (holder === undefined) return true
    const { rooms, clock, isDraining } = this.#options
    const accepts = (): boolean => rooms.seatsOf(holder, 'accept').length > 0
    if (!accepts() && this.#waiting >= MAX_WAITING) return true
    const deadline = clock.monotonic() + RESERVATION_WAIT_MS
    this.#waiting += 1
    try {
      while (!accepts() && !isDraining() && clock.monotonic() < deadline) {
        await new Promise<void>((resolve) => void clock.after(RESERVATION_POLL_MS, resolve))
      }
      return isDraining() || !accepts()
    } finally {
      this.#waiting -= 1
    }
  }

  // Not async: the relay must ask for the connections before it asks for the next permission.
  readonly denyRelayed = (source: PeerId, destination: PeerId): boolean => {
    const [initiator, holder] = [holderOf(source), holderOf(destination)]
    if (initiator === undefined || holder === undefined) return true
    const { rooms, connectionOf, clock } = this.#options
    const shared = rooms.shared(initiator, holder)
    const acceptor = shared.at(-1)
    const connection = acceptor === undefined ? undefined : connectionOf(acceptor)
    if (acceptor === undefined || connection === undefined) return true
    if (this.#isFull(initiator) || this.#isFull(holder)) return true
    if (this.#bytes.waitOf(acceptor.operator, clock.monotonic()) > 0) return true
    const passages = this.#passages.get(holder) ?? []
    const names = new Set(shared.map(keyOf))
    const seats = [...shared, ...rooms.seatsOf(initiator, 'initiate').filter((seat) => names.has(keyOf(seat)))]
    passages.push({ initiator, acceptor, connection, rooms: names, chain: seats.flatMap(({ chain }) => chain) })
    this.#passages.set(holder, passages)
    return false
  }

  /** Where the relay is to open its stream to the acceptor. */
  readonly connectionsTo = (destination: PeerId): readonly Pick<Connection, 'newStream' | 'remotePeer'>[] => {
    const holder = holderOf(destination)
    const passages = holder === undefined ? undefined : this.#passages.get(holder)
    const passage = passages?.shift()
    if (holder !== undefined && passages?.length === 0) this.#passages.delete(holder)
    if (passage === undefined) return []
    const { connection } = passage
    return [
      {
        remotePeer: connection.remotePeer,
        newStream: async (protocols, options) => {
          const release = this.#enter(passage)
          try {
            const stream = await connection.newStream(protocols, options)
            this.#count(stream, passage.acceptor.operator, release)
            this.#follow({ ...passage, stream })
            return stream
          } catch (error) {
            release()
            throw error
          }
        },
      },
    ]
  }

  /** Ends what is relayed to or from those that were removed from the room, after {@link GOODBYE_MS}. */
  readonly cut = (room: RoomName, isRemoved: (holder: HolderId) => boolean): void => {
    const name = keyOf(room)
    const removed = [...this.#live].filter(({ rooms, chain }) => rooms.has(name) && chain.some(isRemoved))
    this.#options.clock.after(GOODBYE_MS, () => {
      for (const { stream } of removed) stream.abort(new Error('the operator removed the member'))
    })
  }

  #follow(relayed: Relayed): void {
    this.#live.add(relayed)
    relayed.stream.addEventListener('close', () => this.#live.delete(relayed))
  }

  #isFull(holder: HolderId): boolean {
    return (this.#relayed.get(holder) ?? 0) >= this.#options.maxPeerRelayed
  }

  #enter({ initiator, acceptor }: Passage): () => void {
    const change = (by: number): void => {
      this.#now += by
      for (const holder of [initiator, acceptor.holder]) {
        const count = (this.#relayed.get(holder) ?? 0) + by
        if (count > 0) this.#relayed.set(holder, count)
        else this.#relayed.delete(holder)
      }
    }
    change(1)
    this.#options.counters.relayed += 1
    let released = false
    return () => {
      if (released) return
      released = true
      change(-1)
    }
  }

  #count(stream: Stream, operator: HolderId, release: () => void): void {
    const { counters, clock } = this.#options
    let uncounted = 0
    const settle = (): void => {
      this.#bytes.note(operator, clock.monotonic(), uncounted)
      uncounted = 0
    }
    const add = (bytes: number): void => {
      counters.relayedBytes += bytes
      uncounted += bytes
      if (uncounted >= COUNT_STEP_BYTES) settle()
    }
    const send = stream.send.bind(stream)
    stream.send = (data) => {
      add(data.byteLength)
      return send(data)
    }
    stream.addEventListener('message', ({ data }) => add(data.byteLength))
    stream.addEventListener('close', () => {
      settle()
      release()
    })
  }
}
