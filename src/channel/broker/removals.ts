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
import { type OperatorLine, operatorLine } from '../membership/operator-line.ts'
import { openRevocations } from '../membership/revocations.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import { encodeRendezvousFrame } from '../rendezvous/framing.ts'
import { encodeFromBroker, type Revoked } from '../rendezvous/messages.ts'
import { type KnownOfRoom } from './admission.ts'
import { type Counters } from './counters.ts'
import { type KeptList, KeptLists, type RoomName } from './kept-lists.ts'
import { type KeptLimits } from './making-room.ts'
import { type Member } from './member.ts'
import { Quota, sourceOf } from './quota.ts'
import { busy } from './refusals.ts'
import { type Seat } from './room.ts'
import { keyOf, type Rooms } from './rooms.ts'

/** Of one channel; each is sent to everybody who is present. */
export const NEWS = { budget: 40, windowMs: 10_000, maxKeys: 8_192 }
const SWEEP_MS = 60_000
/** Until others have left. */
const FULL_RETRY_MS = 60_000

export interface RemovalsOptions {
  readonly rooms: Rooms
  readonly counters: Counters
  readonly clock: Clock
  readonly memberOf: (seat: Seat) => Member | undefined
  readonly turnOut: (member: Member, reason: CtError) => void
  /** Ends what is relayed to or from those that the operator removed from the room. */
  readonly onRemoved: (room: RoomName, isRemoved: (holder: HolderId) => boolean) => void
  readonly keptLists?: KeptLimits | undefined
}

export class Removals {
  readonly #options: RemovalsOptions
  readonly #lists: KeptLists
  readonly #news = new Quota(NEWS)
  readonly #frames = new WeakMap<KeptList, Uint8Array>()
  #sweptAt: number

  constructor(options: RemovalsOptions) {
    this.#options = options
    this.#lists = new KeptLists((room) => options.rooms.has(room), options.keptLists)
    this.#sweptAt = options.clock.monotonic()
  }

  known(room: RoomName): KnownOfRoom {
    return { successions: this.#lists.newest(room)?.successions ?? [], isRemoved: this.#lists.isRemoved(room) }
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
    const { standing } = this.#lineOf(room, successions)
    if (standing.includes(member.link.peer.holder)) this.#send(member, room)
    this.#note(member, room)
  }

  /** @throws {CtError} `ERR_PROTOCOL` for another channel, `ERR_SIGNATURE_INVALID`, `ERR_PEER_BUSY` */
  take(member: Member, room: RoomName, brought: Revoked): void {
    if (this.#learn(room, brought, member)) this.#enforce(room, member)
    // Whoever was removed by it was told so.
    if (member.state.kind !== 'gone') this.#note(member, room)
  }

  sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    this.#lists.sweep(now)
  }

  #learn(room: RoomName, { list: sealed, successions = [] }: Revoked, { state, link }: Member): boolean {
    const { channel, sequence } = sealed.body
    if (channel !== room.channel) throw new CtError('ERR_PROTOCOL', 'expected a list of this channel, found another')
    if (sequence <= this.#lists.sequence(room)) return false
    const now = this.#options.clock.monotonic()
    const notNow = (reason: string, retryAfterMs: number): false => {
      // A member says it again by itself.
      if (state.kind !== 'publishing') return false
      throw busy(reason, retryAfterMs)
    }
    const wait = this.#news.waitOf(keyOf(room), now)
    if (wait > 0) return notNow('the revocation list of this channel changes too often', wait)
    const line = this.#lineOf(room, successions)
    const list = openRevocations(sealed, ...line.standing)
    this.#news.note(keyOf(room), now)
    const source = sourceOf(link.peer.observed.host)
    if (!this.#lists.keep(room.operator, { list, successions: line.successions }, { source, now })) {
      return notNow('the broker keeps as many revocation lists as it can', FULL_RETRY_MS)
    }
    this.#options.counters.revocations += 1
    return true
  }

  /** Of what is shown, only what proves itself, and nothing that pushes aside what is kept. */
  #lineOf(room: RoomName, shown: readonly SignedSuccession[]): OperatorLine {
    const now = unixSeconds(this.#options.clock)
    return operatorLine({ ...room, now }, this.known(room).successions, shown)
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
