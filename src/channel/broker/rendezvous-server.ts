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
import { unixSeconds } from '../../core/u64.ts'
import { type FromMember, type Join, type Publish } from '../rendezvous/messages.ts'
import { JoinAdmission } from './admission.ts'
import { type Arrivals } from './arrivals.ts'
import { type Counters } from './counters.ts'
import { hintFor } from './hints.ts'
import { dueOf, HINT_MS, introduce, JOIN_MS, type Member, PASS_MS, SILENCE_MS, WAIT_SECONDS } from './member.ts'
import { MemberLink, type MemberPeer, type MemberWire } from './member-link.ts'
import { busy, categoryOf, grantExpired, refusal, shuttingDown } from './refusals.ts'
import { Removals, type RemovalsOptions } from './removals.ts'
import { type Pair, type Seat } from './room.ts'
import { type Rooms } from './rooms.ts'

const SWEEP_MS = 1_000
const SUPERSEDED_RETRY_MS = 5_000

export interface RendezvousServerOptions extends Pick<RemovalsOptions, 'onRemoved' | 'keptLists'> {
  readonly rooms: Rooms
  readonly counters: Counters
  /** Told of each stream until it is known what comes of it. */
  readonly arrivals: Arrivals
  /** The only operators whose members are admitted; any without it. */
  readonly operators?: ReadonlySet<HolderId> | undefined
  readonly clock: Clock
  readonly log: Log
}

export class RendezvousServer {
  readonly #options: RendezvousServerOptions
  readonly #members = new Set<Member>()
  readonly #byConnection = new Map<object, Set<Member>>()
  readonly #bySeat = new Map<Seat, Member>()
  readonly #admission: JoinAdmission
  readonly #removals: Removals
  #draining = false
  #stopSweeping: () => void = () => {}

  constructor(options: RendezvousServerOptions) {
    this.#options = options
    this.#admission = new JoinAdmission(options.clock, options.operators)
    this.#removals = new Removals({
      ...options,
      memberOf: (seat) => this.#bySeat.get(seat),
      turnOut: (member, reason) => this.#refuse(member, reason, false),
    })
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
    this.#options.arrivals.began(peer.connection, member)
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
    } else if (message.kind === 'publish') {
      if (state.kind !== 'new') throw new CtError('ERR_PROTOCOL', 'expected to publish on a stream of its own')
      this.#publish(member, message)
    } else if (message.kind === 'alive') {
      link.send(message)
    } else if (state.kind === 'publishing') {
      if (message.kind === 'revoked') this.#removals.take(member, state.room, message)
    } else if (state.kind === 'seated') {
      // In any other state: what was sent before the broker's "expired" arrived.
      const { rooms, clock } = this.#options
      if (message.kind === 'revoked') this.#removals.take(member, state.seat, message)
      else this.#introduce(rooms.report(state.seat, message.taken, message.places, clock.monotonic()))
    }
  }

  #join(member: Member, join: Join): void {
    const { rooms, clock, counters, log } = this.#options
    const { peer } = member.link
    const now = clock.monotonic()
    const membership = this.#draining ? shuttingDown() : this.#admission.check(join, peer, this.#removals.known(join))
    if (membership instanceof CtError) {
      this.#refuse(member, membership)
      return
    }
    const { operator, channel, side, wants, watches, knows } = join
    const { chain } = membership
    const wish = { ...(wants === undefined ? {} : { wants }), ...(watches === undefined ? {} : { watches }) }
    const seated = rooms.join({ operator, channel, holder: peer.holder, side, chain, ...wish }, now)
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
    this.#options.arrivals.over(peer.connection, member)
    counters.joins += 1
    log.info('broker.joined', { peer: shortId(peer.holder), side })
    const waitSeconds = seat.side === 'initiate' && watches === undefined ? WAIT_SECONDS : 0
    member.link.send({ kind: 'joined', observed: peer.observed, waitSeconds })
    this.#removals.compare(member, join, knows)
    for (const older of superseded) this.#supersede(older)
    this.#introduce(pairs)
  }

  #publish(member: Member, { operator, channel, successions = [] }: Publish): void {
    const { clock, log } = this.#options
    const { link } = member
    const refused = this.#draining ? shuttingDown() : this.#admission.checkPublish(operator, link.peer)
    if (refused !== undefined) {
      this.#refuse(member, refused)
      return
    }
    const room = { operator, channel }
    member.state = { kind: 'publishing', room, until: clock.monotonic() + JOIN_MS }
    this.#options.arrivals.over(link.peer.connection, member)
    log.info('broker.publishing', { peer: shortId(link.peer.holder) })
    this.#removals.welcome(member, room, successions)
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
      introduce(other, one)
      introduce(one, other)
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
    this.#options.arrivals.over(connection, member)
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
    this.#removals.sweep(now)
  }

  #check(member: Member, now: number): void {
    const { link, state } = member
    switch (dueOf(member, now, unixSeconds(this.#options.clock))) {
      case 'not-joined':
        this.#refuse(member, new CtError('ERR_TIMEOUT', `expected a join within ${JOIN_MS / 1_000} s, found none`))
        return
      case 'over':
        this.#forget(member)
        return
      case 'grant-expired':
        this.#refuse(member, grantExpired(), false)
        return
      case 'silent':
        link.drop(new CtError('ERR_PEER_UNRESPONSIVE', `nothing was heard of the member for ${SILENCE_MS / 1_000} s`))
        this.#forget(member)
        return
      case 'waited':
        this.#expire(member, now)
        return
      case 'hint': {
        if (state.kind !== 'seated') return
        state.hintAt = Number.POSITIVE_INFINITY
        const text = hintFor(this.#options.rooms, state.seat)
        if (text !== undefined) link.send({ kind: 'hint', text })
        return
      }
      case undefined:
    }
  }

  #expire(member: Member, now: number): void {
    this.#options.counters.expired += 1
    this.#giveUpSeat(member)
    member.state = { kind: 'new', joinBy: now + JOIN_MS }
    member.link.send({ kind: 'expired' })
  }
}
