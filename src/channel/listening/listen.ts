/**
 * Accepts sessions: one listener, many members, each checked before a word is exchanged.
 *
 * Holds: a refused peer is told a code and a reason and costs nothing afterwards; one that says nothing is let go; at
 * most `maxSessions` sessions live at once, and the next one is told when to come again.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { type Sealed } from '../../core/artefact.ts'
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { listenError } from '../../core/listen-error.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Address, formatAddress } from '../address.ts'
import { checkAdmission, type ProvenKeys, type TrustPolicy } from '../admission.ts'
import { type BrokerOptions, webSocketTo } from '../broker-options.ts'
import { type Membership } from '../membership/credentials.ts'
import { KnownRevocations } from '../membership/known-revocations.ts'
import { KnownSuccessions } from '../membership/known-successions.ts'
import { type RevocationList } from '../membership/revocations.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import { type ChannelNode, createNode, holderOf, SESSION_PROTOCOL, stopNode } from '../node/node.ts'
import { listeningAddress } from '../node/transport-address.ts'
import { type Hello } from '../session/hello.ts'
import { describe, type SelfDescription } from '../session/self.ts'
import { Session } from '../session/session.ts'
import { expel, expelRemoved } from '../session/session-end.ts'
import { streamWire } from '../session/stream-wire.ts'
import { type Way } from '../session/way.ts'
import { type BrokerSeat } from './broker-seat.ts'
import { Newcomers } from './newcomers.ts'
import { notNow, Places } from './places.ts'

export interface ListenOptions {
  readonly self: SelfDescription
  readonly listen: readonly Address[]
  readonly trust: TrustPolicy
  readonly maxSessions: number
  /** Of these, how many one peer may have; without it three quarters, or all where one peer alone is trusted. */
  readonly maxPeerSessions?: number | undefined
  /** Holds a seat at this broker, so that members find this one and reach it through the relay. */
  readonly broker?: BrokerOptions | undefined
  /** Takes over an admitted session. */
  readonly onSession: (session: Session) => void
  /** A peer got no session: refused, or gone before it was admitted. */
  readonly onNotAdmitted?: ((peer: HolderId, reason: CtError, way: Way | undefined) => void) | undefined
  readonly clock: Clock
  readonly log: Log
}

export interface Listener {
  /** Where it really listens: port 0 replaced, wildcard hosts spread over this machine's addresses. */
  readonly addresses: readonly Address[]
  readonly sessions: number
  /** Resolves with the reason when the broker refused this member for good; never without a broker. */
  readonly refused: Promise<CtError>
  /** New peers are refused with the reason; sessions that live go on. */
  readonly stopAccepting: (reason: CtError) => void
  /** Ends at once all sessions of this member, and of those whose membership rests on it; the policy has to refuse it from now on. */
  readonly expel: (holder: HolderId, reason: CtError) => void
  /**
   * Takes a list over from the operator, which this side is or can always ask: when it is newer, the sessions of whom it
   * removes end at once, and the broker is told. Without a channel nothing happens.
   *
   * @param successions from the operator's first key to the one that signed the list
   * @throws {CtError} `ERR_SIGNATURE_INVALID`
   */
  readonly revoke: (list: Sealed<RevocationList>, successions?: readonly SignedSuccession[]) => void
  /** Ends all sessions with the reason and frees the port. */
  readonly close: (reason: CtError) => Promise<void>
}

/** @throws {CtError} `ERR_ADDRESS_IN_USE`, `ERR_ADDRESS_UNAVAILABLE` */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { self, maxSessions, broker } = options
  const where = await Promise.all(options.listen.map(listeningAddress))
  const node = await createNode({
    holder: self.holder,
    noise: self.noise,
    listen: where,
    maxSessions,
    brokered: broker && { webSocket: webSocketTo(broker) },
  })
  const acceptor = new Acceptor(options, node)
  try {
    await node.libp2p.handle(SESSION_PROTOCOL, (stream, connection) => acceptor.accept(stream, connection), {
      maxInboundStreams: 1,
      runOnLimitedConnection: true,
    })
    node.libp2p.addEventListener('connection:open', ({ detail }) => {
      if (detail.direction === 'inbound') acceptor.newcomers.expect(detail)
    })
    await node.libp2p.start()
  } catch (error) {
    await stopNode(node.libp2p, options.clock)
    throw listenError(error, options.listen.map(formatAddress).join(', '))
  }
  const addresses = node.addresses()
  if (broker !== undefined) await acceptor.takeSeat(broker, addresses)
  return {
    addresses,
    get sessions() {
      return acceptor.sessions.size
    },
    refused: acceptor.refused,
    stopAccepting: (reason) => acceptor.stop(reason),
    expel: (holder, reason) => expel(acceptor.sessions, holder, reason),
    revoke: (list, successions = []) => {
      acceptor.revocations?.follow(successions)
      acceptor.revocations?.learn(list)
      acceptor.revocations?.confirmForGood()
    },
    close: (reason) => acceptor.close(reason),
  }
}

class Acceptor {
  readonly sessions = new Set<Session>()
  readonly revocations: KnownRevocations | undefined
  readonly #options: ListenOptions
  readonly #node: ChannelNode
  readonly newcomers: Newcomers
  readonly #refused = Promise.withResolvers<CtError>()
  readonly #places: Places
  /** Whom this side has admitted on which connection. */
  readonly #admitted = new WeakMap<Connection, HolderId>()
  #stopped: CtError | undefined
  #seat: BrokerSeat | undefined

  readonly #forgetRevocations: (() => void) | undefined
  readonly #successions: KnownSuccessions

  constructor(options: ListenOptions, node: ChannelNode) {
    this.#options = options
    this.#node = node
    this.newcomers = new Newcomers(options.clock)
    this.#places = new Places(
      this.sessions,
      { maxSessions: options.maxSessions, peerShare: shareOf(options) },
      options.clock,
    )
    const { trust, broker, clock } = options
    const scope = broker ?? trust.channel
    this.revocations = broker?.revocations ?? (scope && new KnownRevocations({ ...scope, clock }))
    const { revocations, sessions } = this
    this.#successions = revocations?.successions ?? new KnownSuccessions()
    const { successions = [] } = options.self
    const now = unixSeconds(clock)
    if (scope !== undefined) this.#successions.learn(scope.operator, 'operator', successions, now)
    for (const holder of trust.holders ?? []) this.#successions.learn(holder, 'holder', successions, now)
    this.#forgetRevocations = revocations?.onNewer(() => expelRemoved(sessions, revocations.isRevoked))
  }

  get refused(): Promise<CtError> {
    return this.#refused.promise
  }

  async takeSeat(broker: BrokerOptions, addresses: readonly Address[]): Promise<void> {
    const { self, clock } = this.#options
    const { revocations } = this
    if (revocations === undefined) return
    const { takeSeat } = await import('./broker-seat.ts')
    const onRefused = this.#refused.resolve
    this.#seat = takeSeat({
      node: this.#node,
      self,
      clock,
      broker,
      revocations,
      addresses,
      onRefused,
      admittedOn: (connection) => this.#admitted.get(connection),
      onDialled: (connection) => this.newcomers.expect(connection),
    })
    await this.#seat.begun
    this.#tellLoad()
  }

  accept(stream: Stream, connection: Connection): void {
    const wire = streamWire(stream, connection, this.#node.punched.has(connection))
    const holder = holderOf(connection.remotePeer)
    if (holder === undefined) {
      wire.destroy(new CtError('ERR_PEER_REFUSED', 'expected a peer with an Ed25519 key'))
      return
    }
    const proven: ProvenKeys = { holder, noiseKeys: this.#node.noiseKeys.keysOf(connection) }
    const session: Session = new Session(wire, {
      peer: holder,
      local: describe(this.#options.self, undefined, this.revocations?.shown),
      greetsFirst: false,
      admit: (hello) => this.#admit(proven, hello),
      clock: this.#options.clock,
    })
    session.ready.then(
      (hello) => {
        this.newcomers.settle(connection)
        this.#admitted.set(connection, holder)
        this.#places.take(session, hello)
        this.#tellLoad()
        this.#handOver(session)
      },
      (error: unknown) => {
        const reason = toCtError(error)
        this.#logRefusal(holder, reason)
        this.#options.onNotAdmitted?.(holder, reason, wire.way)
      },
    )
    this.#track(session)
  }

  // A defect of whoever takes the session over ends this session and no other.
  #handOver(session: Session): void {
    try {
      this.#options.onSession(session)
    } catch (error) {
      this.#options.log.error('channel.not_taken_over', { reason: toCtError(error).message })
      session.end(new CtError('ERR_INTERNAL', 'the session could not be taken over', { cause: error }))
    }
  }

  stop(reason: CtError): void {
    this.#stopped = reason
    void this.#seat?.leave()
  }

  async close(reason: CtError): Promise<void> {
    this.stop(reason)
    this.#forgetRevocations?.()
    const live = [...this.sessions]
    for (const session of live) session.end(reason, { final: false })
    await Promise.all(live.map((session) => session.finished))
    await stopNode(this.#node.libp2p, this.#options.clock)
  }

  #admit(proven: ProvenKeys, hello: Hello): CtError | Membership | undefined {
    const { trust, self, clock } = this.#options
    const at = {
      side: 'initiate',
      now: unixSeconds(clock),
      revocations: this.revocations,
      successions: this.#successions,
    } as const
    const verdict = checkAdmission(trust, proven, self.holder.id, hello, at)
    return verdict instanceof CtError ? verdict : (this.#noRoom(proven, hello) ?? verdict)
  }

  #noRoom({ holder }: ProvenKeys, hello: Hello): CtError | undefined {
    if (this.#stopped !== undefined) return notNow(this.#stopped.code, this.#stopped.message)
    return this.#places.refusal(holder, hello)
  }

  #tellLoad(): void {
    this.#seat?.tell(this.#places.taken, this.#options.maxSessions)
  }

  #track(session: Session): void {
    this.sessions.add(session)
    session.closed.then(
      () => {
        this.sessions.delete(session)
        this.#tellLoad()
      },
      () => {},
    )
  }

  #logRefusal(holder: HolderId, error: CtError): void {
    const { code, message, detail } = error
    const category = typeof detail['category'] === 'string' ? { category: detail['category'] } : {}
    const facts = { peer: shortId(holder), code, reason: message, ...category }
    if (isCtError(error, ...REFUSALS)) this.#options.log.warn('channel.refused', facts)
    else this.#options.log.info('channel.not_opened', facts)
  }
}

const REFUSALS = [
  'ERR_PEER_REFUSED',
  'ERR_PEER_BUSY',
  'ERR_GRANT_INVALID',
  'ERR_GRANT_EXPIRED',
  'ERR_RIGHTS_MISSING',
  'ERR_MEMBER_REMOVED',
  'ERR_INVITATION_EXPIRED',
  'ERR_INVITATION_REVOKED',
  'ERR_INVITATION_USED',
] as const

/** Three quarters, or all where one peer alone is trusted. */
function shareOf({ trust, maxSessions, maxPeerSessions }: ListenOptions): number {
  const share = trust.holders?.size === 1 ? maxSessions : maxSessions - Math.floor(maxSessions / 4)
  return maxPeerSessions ?? share
}
