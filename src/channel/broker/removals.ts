/**
 * What a broker does with revocation lists: it keeps the newest of each channel, turns out whom it removes, and tells
 * everybody else who is present.
 *
 * Holds: a list counts when the operator signed it, whoever brings it. What is no news costs no signature check, and
 * news of one channel come at a pace that its members can be sent.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type U64, unixSeconds } from '../../core/u64.ts'
import { memberRemoved } from '../membership/credentials.ts'
import { openRevocations } from '../membership/revocations.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import { encodeRendezvousFrame } from '../rendezvous/framing.ts'
import { encodeFromBroker, type Revoked } from '../rendezvous/messages.ts'
import { keysOf } from './admission.ts'
import { type Counters } from './counters.ts'
import { type KeptList, KeptLists, type RoomName } from './kept-lists.ts'
import { type Member } from './member.ts'
import { Quota } from './quota.ts'
import { busy } from './refusals.ts'
import { type Seat } from './room.ts'
import { keyOf, type Rooms } from './rooms.ts'

/** Of one channel; each is sent to everybody who is present. */
export const NEWS = { budget: 40, windowMs: 10_000, maxKeys: 8_192 }
const SWEEP_MS = 60_000

export interface RemovalsOptions {
  readonly rooms: Rooms
  readonly counters: Counters
  readonly clock: Clock
  readonly memberOf: (seat: Seat) => Member | undefined
  readonly turnOut: (member: Member, reason: CtError) => void
  /** Ends what is relayed to or from those that the operator removed from the room. */
  readonly onRemoved: (room: RoomName, isRemoved: (holder: HolderId) => boolean) => void
}

export class Removals {
  readonly #options: RemovalsOptions
  readonly #lists: KeptLists
  readonly #news = new Quota(NEWS)
  readonly #frames = new WeakMap<KeptList, Uint8Array>()
  #sweptAt: number

  constructor(options: RemovalsOptions) {
    this.#options = options
    this.#lists = new KeptLists((room) => options.rooms.has(room))
    this.#sweptAt = options.clock.monotonic()
  }

  /** Whom the operator removed from the channel. */
  isRemoved(room: RoomName): (holder: HolderId) => boolean {
    return this.#lists.isRemoved(room)
  }

  /** Keys that took over from the operator’s, as they came with the list. */
  successions(room: RoomName): readonly SignedSuccession[] {
    return this.#lists.newest(room)?.successions ?? []
  }

  /** Of one who has just joined: it is sent the list that it lacks, or learns that the broker lacks one. */
  compare(member: Member, room: RoomName, knows: U64 | undefined): void {
    member.link.takeLists()
    const [theirs, ours] = [knows ?? 0n, this.#lists.sequence(room)]
    if (theirs < ours) this.#send(member, room)
    else if (theirs > ours) this.#note(member, room)
  }

  /** Of one who has just come to publish. */
  welcome(member: Member, room: RoomName, successions: readonly SignedSuccession[]): void {
    member.link.takeLists()
    // Whom it removed is the operator's to know, and its members'.
    const operators = keysOf(room, successions, unixSeconds(this.#options.clock))
    if (operators.includes(member.link.peer.holder)) this.#send(member, room)
    this.#note(member, room)
  }

  /** @throws {CtError} `ERR_PROTOCOL` for another channel, `ERR_SIGNATURE_INVALID`, `ERR_PEER_BUSY` */
  take(member: Member, room: RoomName, brought: Revoked): void {
    if (this.#learn(room, brought, member.state.kind === 'publishing')) this.#enforce(room, member)
    // Whoever was removed by it was told so.
    if (member.state.kind !== 'gone') this.#note(member, room)
  }

  sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    this.#lists.sweep(now)
  }

  #learn(room: RoomName, { list: sealed, successions = [] }: Revoked, isPublished: boolean): boolean {
    const { channel, sequence } = sealed.body
    if (channel !== room.channel) throw new CtError('ERR_PROTOCOL', 'expected a list of this channel, found another')
    if (sequence <= this.#lists.sequence(room)) return false
    const now = this.#options.clock.monotonic()
    const wait = this.#news.waitOf(keyOf(room), now)
    if (wait > 0) {
      // A member says it again by itself.
      if (!isPublished) return false
      throw busy('the revocation list of this channel changes too often', wait)
    }
    const shown = [...this.successions(room), ...successions]
    const keys = keysOf(room, shown, unixSeconds(this.#options.clock))
    const list = openRevocations(sealed, ...keys)
    this.#news.note(keyOf(room), now)
    const kept = successions.length >= this.successions(room).length ? successions : this.successions(room)
    this.#lists.keep(room.operator, { list, successions: kept }, now)
    this.#options.counters.revocations += 1
    return true
  }

  #enforce({ operator, channel }: RoomName, source: Member): void {
    const { rooms, memberOf, turnOut, onRemoved } = this.#options
    const room = { operator, channel }
    const isRemoved = this.#lists.isRemoved(room)
    onRemoved(room, isRemoved)
    for (const seat of rooms.seatsIn(room)) {
      const member = memberOf(seat)
      if (member === undefined) continue
      const removed = seat.chain.find(isRemoved)
      if (removed !== undefined) turnOut(member, memberRemoved(removed))
      else if (member !== source) this.#send(member, room)
    }
  }

  #send({ link }: Member, room: RoomName): void {
    const newest = this.#lists.newest(room)
    if (newest !== undefined) link.sendList(this.#frameOf(newest))
  }

  /** Made once for all that are sent it. */
  #frameOf(newest: KeptList): Uint8Array {
    const made = this.#frames.get(newest) ?? encodeRendezvousFrame(encodeFromBroker({ kind: 'revoked', ...newest }))
    this.#frames.set(newest, made)
    return made
  }

  #note({ link }: Member, room: RoomName): void {
    link.send({ kind: 'noted', sequence: this.#lists.sequence(room) })
  }
}
