/**
 * The broker's side of the rendezvous: admits members to rooms and tells them of each other.
 *
 * Holds: nobody has a seat whose credentials were not checked against the keys that its handshake proved; a seat ends
 * with its connection, with its grant, and with {@link SILENCE_MS} of silence; whoever waits is told when it was in vain.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { type Address } from '../address.ts'
import { type FromMember, type Join } from '../rendezvous/messages.ts'
import { JoinAdmission } from './admission.ts'
import { type Counters } from './counters.ts'
import { hintFor } from './hints.ts'
import { MemberLink, type MemberPeer, type MemberWire } from './member-link.ts'
import { passedAddresses } from './passed-addresses.ts'
import { busy, categoryOf, grantExpired, refusal, shuttingDown } from './refusals.ts'
import { type Pair, type Rooms, type Seat } from './rooms.ts'

/** Time to say which room. */
export const JOIN_MS = 10_000
/** How long an initiator waits before it is asked to join again. */
export const WAIT_SECONDS = 30
/** Three signs of life that did not come. */
export const SILENCE_MS = 45_000
/** A partner may come a little later than the member; only then is it worth a word. */
const HINT_MS = 5_000
/** How long an initiator that ended its stream after it met its acceptor may still be relayed there. */
const PASS_MS = 60_000
const SWEEP_MS = 1_000
const SUPERSEDED_RETRY_MS = 5_000

export interface RendezvousServerOptions {
  readonly rooms: Rooms
  readonly counters: Counters
  /** The only operators whose members are admitted; any without it. */
  readonly operators?: ReadonlySet<HolderId> | undefined
  readonly clock: Clock
  readonly log: Log
}

interface Member {
  readonly link: MemberLink
  state:
    | { readonly kind: 'new'; readonly joinBy: number }
    | (Joined & { readonly kind: 'seated' })
    | (Joined & { readonly kind: 'passing'; readonly until: number })
    | { readonly kind: 'gone' }
}

interface Joined {
  readonly seat: Seat
  readonly advertised: readonly Address[]
  readonly expiresAt: UnixSeconds
  /** Of an initiator. */
  readonly waitUntil: number
  hintAt: number
}

export class RendezvousServer {
  readonly #options: RendezvousServerOptions
  readonly #members = new Set<Member>()
  readonly #byConnection = new Map<object, Set<Member>>()
  readonly #bySeat = new Map<Seat, Member>()
  readonly #admission: JoinAdmission
  #draining = false
  #stopSweeping: () => void = () => {}

  constructor(options: RendezvousServerOptions) {
    this.#options = options
    this.#admission = new JoinAdmission(options.clock, options.operators)
  }

  start(): void {
    this.#stopSweeping = this.#options.clock.after(SWEEP_MS, () => {
      this.#sweep()
      this.start()
    })
  }

  get isDraining(): boolean {
    return this.#draining
  }

  /** Takes over a stream that a member opened. */
  accept(wire: MemberWire, peer: MemberPeer): void {
    const { clock } = this.#options
    const member: Member = {
      link: new MemberLink(wire, {
        peer,
        now: () => clock.monotonic(),
        onMessage: (message) => this.#take(member, message),
        onEnd: (error) => (error === undefined ? this.#ended(member) : this.#refuse(member, error)),
      }),
      state: { kind: 'new', joinBy: clock.monotonic() + JOIN_MS },
    }
    this.#members.add(member)
    const own = this.#byConnection.get(peer.connection) ?? new Set()
    this.#byConnection.set(peer.connection, own.add(member))
    member.link.start()
  }

  /** Ends everything that came over the connection. */
  closed(connection: object): void {
    for (const member of [...(this.#byConnection.get(connection) ?? [])]) this.#forget(member)
  }

  /** True while a stream of the connection is open or a seat rests on it. */
  uses(connection: object): boolean {
    return this.#byConnection.has(connection)
  }

  /** The connection that the seat came over. */
  connectionOf(seat: Seat): object | undefined {
    return this.#bySeat.get(seat)?.link.peer.connection
  }

  /** Everybody is told to come again later, and nobody is admitted any more. */
  drain(): void {
    this.#draining = true
    for (const member of [...this.#members]) {
      member.link.refuse(shuttingDown())
      this.#forget(member)
    }
  }

  stop(): void {
    this.#stopSweeping()
    for (const member of this.#members) this.#forget(member)
  }

  #take(member: Member, message: FromMember): void {
    const { state, link } = member
    if (message.kind === 'join') {
      if (state.kind !== 'new') throw new CtError('ERR_PROTOCOL', 'expected one join on a stream, found another')
      this.#join(member, message)
    } else if (state.kind === 'new') {
      // What was sent before the broker's "expired" arrived.
      if (message.kind === 'alive') link.send(message)
    } else if (message.kind === 'alive') {
      link.send(message)
    } else if (state.kind === 'seated') {
      const { rooms, clock } = this.#options
      this.#introduce(rooms.report(state.seat, message.taken, message.places, clock.monotonic()))
    }
  }

  #join(member: Member, join: Join): void {
    const { rooms, clock, counters, log } = this.#options
    const { peer } = member.link
    const now = clock.monotonic()
    const membership = this.#draining ? shuttingDown() : this.#admission.check(join, peer)
    if (membership instanceof CtError) {
      this.#refuse(member, membership)
      return
    }
    const { operator, channel, side, wants } = join
    const request = { operator, channel, holder: peer.holder, side, ...(wants === undefined ? {} : { wants }) }
    const seated = rooms.join(request, now)
    if (seated instanceof CtError) {
      this.#refuse(member, seated)
      return
    }
    const { seat, superseded, pairs } = seated
    member.state = {
      kind: 'seated',
      seat,
      advertised: join.addresses,
      expiresAt: membership.expiresAt,
      waitUntil: side === 'initiate' ? now + WAIT_SECONDS * 1_000 : Number.POSITIVE_INFINITY,
      hintAt: now + HINT_MS,
    }
    this.#bySeat.set(seat, member)
    counters.joins += 1
    log.info('broker.joined', { peer: shortId(peer.holder), side })
    member.link.send({ kind: 'joined', observed: peer.observed, waitSeconds: side === 'initiate' ? WAIT_SECONDS : 0 })
    for (const older of superseded) this.#supersede(older)
    this.#introduce(pairs)
  }

  #introduce(pairs: readonly Pair[]): void {
    for (const { initiator, acceptor } of pairs) {
      const [one, other] = [this.#bySeat.get(initiator), this.#bySeat.get(acceptor)]
      if (one === undefined || other === undefined) continue
      this.#options.counters.pairings += 1
      this.#options.log.info('broker.paired', {
        initiator: shortId(initiator.holder),
        acceptor: shortId(acceptor.holder),
      })
      // The acceptor first: it is to know of the initiator before that arrives.
      tell(other, one)
      tell(one, other)
    }
  }

  #supersede(seat: Seat): void {
    const member = this.#bySeat.get(seat)
    if (member === undefined) return
    // Two acceptors that take the place from each other for ever would serve nobody: the older stops.
    const reason = 'a newer connection with the same key has taken this place'
    this.#refuse(member, seat.side === 'accept' ? refusal('pairing', reason) : busy(reason, SUPERSEDED_RETRY_MS), false)
  }

  /** @param isOwnFault counts against the member's address when coming again would not help */
  #refuse(member: Member, error: CtError, isOwnFault = true): void {
    const { counters, log } = this.#options
    const { link } = member
    const category = categoryOf(error)
    counters.refused(category)
    log.warn('broker.refused', { peer: shortId(link.peer.holder), code: error.code, category, reason: error.message })
    if (isOwnFault) this.#admission.noteRefusal(link.peer, error)
    link.refuse(error)
    this.#forget(member)
  }

  /** The stream is over; an initiator that met its acceptor may be relayed to it for a while. */
  #ended(member: Member): void {
    const { state } = member
    if (state.kind === 'seated' && state.seat.side === 'initiate' && state.seat.met > 0) {
      member.state = { ...state, kind: 'passing', until: this.#options.clock.monotonic() + PASS_MS }
    } else {
      this.#forget(member)
    }
  }

  #forget(member: Member): void {
    if (member.state.kind === 'gone') return
    this.#giveUpSeat(member)
    member.state = { kind: 'gone' }
    this.#members.delete(member)
    const { connection } = member.link.peer
    const own = this.#byConnection.get(connection)
    own?.delete(member)
    if (own?.size === 0) this.#byConnection.delete(connection)
    member.link.finish()
  }

  #giveUpSeat({ state }: Member): void {
    if (state.kind !== 'seated' && state.kind !== 'passing') return
    this.#options.rooms.leave(state.seat)
    this.#bySeat.delete(state.seat)
  }

  #sweep(): void {
    const { clock, rooms } = this.#options
    const now = clock.monotonic()
    for (const member of [...this.#members]) this.#check(member, now)
    this.#introduce(rooms.settle(now))
  }

  #check(member: Member, now: number): void {
    const { state, link } = member
    if (state.kind === 'new' && now >= state.joinBy) {
      this.#refuse(member, new CtError('ERR_TIMEOUT', `expected a join within ${JOIN_MS / 1_000} s, found none`))
    } else if (state.kind === 'passing' && now >= state.until) {
      this.#forget(member)
    } else if (state.kind === 'seated') {
      if (unixSeconds(this.#options.clock) >= state.expiresAt) {
        this.#refuse(member, grantExpired(), false)
      } else if (now - link.heardAt >= SILENCE_MS) {
        link.drop(new CtError('ERR_PEER_UNRESPONSIVE', `nothing was heard of the member for ${SILENCE_MS / 1_000} s`))
        this.#forget(member)
      } else if (state.seat.isWaiting && now >= state.waitUntil) {
        this.#expire(member, now)
      } else if (now >= state.hintAt) {
        state.hintAt = Number.POSITIVE_INFINITY
        const text = hintFor(this.#options.rooms, state.seat)
        if (text !== undefined) link.send({ kind: 'hint', text })
      }
    }
  }

  #expire(member: Member, now: number): void {
    this.#options.counters.expired += 1
    this.#giveUpSeat(member)
    member.state = { kind: 'new', joinBy: now + JOIN_MS }
    member.link.send({ kind: 'expired' })
  }
}

function tell(reader: Member, { link, state }: Member): void {
  const { holder, observed } = link.peer
  const advertised = 'advertised' in state ? state.advertised : []
  const located = { observed: reader.link.peer.observed, advertised: [] }
  reader.link.send({ kind: 'peer', holder, addresses: passedAddresses({ observed, advertised }, located) })
}
