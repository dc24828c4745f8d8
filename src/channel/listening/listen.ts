/**
 * Accepts sessions: one listener, many members, each checked before a word is exchanged.
 *
 * Holds: a refused peer is told a code and a reason and costs nothing afterwards; one that says nothing is let go; at
 * most `maxSessions` sessions live at once, and the next one is told when to come again.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { CtError, type ErrorCode, isCtError, toCtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Address, formatAddress } from '../address.ts'
import { checkAdmission, type ProvenKeys, type TrustPolicy } from '../admission.ts'
import { type BrokerOptions, usesWebSocket } from '../broker-options.ts'
import { type Membership } from '../membership/credentials.ts'
import { type ChannelNode, createNode, holderOf, MAX_NEWCOMERS, SESSION_PROTOCOL, stopNode } from '../node/node.ts'
import { listeningAddress } from '../node/transport-address.ts'
import { type Hello } from '../session/hello.ts'
import { describe, type SelfDescription } from '../session/self.ts'
import { HELLO_TIMEOUT_MS, Session } from '../session/session.ts'
import { expel } from '../session/session-end.ts'
import { streamWire } from '../session/stream-wire.ts'
import { type BrokerSeat } from './broker-seat.ts'

/** What a caller that met a full house waits at least. */
const BUSY_RETRY_MS = 1_000

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
    brokered: broker && { webSocket: usesWebSocket(broker) },
  })
  const acceptor = new Acceptor(options, node)
  try {
    await node.libp2p.handle(SESSION_PROTOCOL, (stream, connection) => acceptor.accept(stream, connection), {
      maxInboundStreams: 1,
      runOnLimitedConnection: true,
    })
    node.libp2p.addEventListener('connection:open', ({ detail }) => acceptor.expectSession(detail))
    await node.libp2p.start()
  } catch (error) {
    await stopNode(node.libp2p, options.clock)
    throw listenError(error, options.listen)
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
    close: (reason) => acceptor.close(reason),
  }
}

class Acceptor {
  readonly sessions = new Set<Session>()
  readonly #options: ListenOptions
  readonly #node: ChannelNode
  /** Connections that are not admitted yet, oldest first, and what cancels their time limit. */
  readonly #newcomers = new Map<Connection, () => void>()
  readonly #refused = Promise.withResolvers<CtError>()
  #stopped: CtError | undefined
  #seat: BrokerSeat | undefined

  constructor(options: ListenOptions, node: ChannelNode) {
    this.#options = options
    this.#node = node
  }

  get refused(): Promise<CtError> {
    return this.#refused.promise
  }

  async takeSeat(broker: BrokerOptions, addresses: readonly Address[]): Promise<void> {
    const { self, clock } = this.#options
    const { takeSeat } = await import('./broker-seat.ts')
    this.#seat = takeSeat({ node: this.#node, self, clock, broker, addresses, onRefused: this.#refused.resolve })
    this.#tellLoad()
  }

  /** A connection that is not admitted in time is let go, or as soon as too many others came after it. */
  expectSession(connection: Connection): void {
    if (connection.direction !== 'inbound') return
    const cancel = this.#options.clock.after(HELLO_TIMEOUT_MS, () =>
      this.#turnAway(connection, 'no session was opened'),
    )
    this.#newcomers.set(connection, cancel)
    connection.addEventListener('close', () => this.#settled(connection))
    const [oldest] = this.#newcomers.keys()
    if (this.#newcomers.size > MAX_NEWCOMERS && oldest !== undefined) this.#turnAway(oldest, 'too many newcomers')
  }

  accept(stream: Stream, connection: Connection): void {
    const wire = streamWire(stream, connection)
    const holder = holderOf(connection.remotePeer)
    if (holder === undefined) {
      wire.destroy(new CtError('ERR_PEER_REFUSED', 'expected a peer with an Ed25519 key'))
      return
    }
    const proven: ProvenKeys = { holder, noiseKeys: this.#node.noiseKeys.keysOf(connection) }
    const session: Session = new Session(wire, {
      peer: holder,
      local: describe(this.#options.self),
      greetsFirst: false,
      admit: (hello) => this.#admit(proven, hello),
      clock: this.#options.clock,
    })
    session.ready.then(
      () => {
        this.#settled(connection)
        this.#tellLoad()
        this.#handOver(session)
      },
      (error: unknown) => this.#logRefusal(holder, toCtError(error)),
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
    const live = [...this.sessions]
    for (const session of live) session.end(reason, { final: false })
    await Promise.all(live.map((session) => session.finished))
    await stopNode(this.#node.libp2p, this.#options.clock)
  }

  #admit(proven: ProvenKeys, hello: Hello): CtError | Membership | undefined {
    const { trust, self, clock } = this.#options
    const at = { side: 'initiate', now: unixSeconds(clock) } as const
    const verdict = checkAdmission(trust, proven, self.holder.id, hello, at)
    return verdict instanceof CtError ? verdict : (this.#noRoom(proven) ?? verdict)
  }

  #noRoom({ holder }: ProvenKeys): CtError | undefined {
    const { maxSessions } = this.#options
    if (this.#stopped !== undefined) return notNow(this.#stopped.code, this.#stopped.message)
    const admitted = [...this.sessions].filter((session) => session.isReady)
    if (admitted.length >= maxSessions) return notNow('ERR_PEER_BUSY', `all ${maxSessions} sessions are taken`)
    const own = admitted.filter(({ peer }) => peer.holder === holder).length
    if (own < this.#peerShare()) return undefined
    return notNow('ERR_PEER_BUSY', `this peer has the ${own} sessions that one peer may have`)
  }

  #peerShare(): number {
    const { trust, maxSessions, maxPeerSessions } = this.#options
    const share = trust.holders?.size === 1 ? maxSessions : maxSessions - Math.floor(maxSessions / 4)
    return maxPeerSessions ?? share
  }

  #tellLoad(): void {
    const taken = [...this.sessions].filter((session) => session.isReady).length
    this.#seat?.tell(taken, this.#options.maxSessions)
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

  #turnAway(connection: Connection, why: string): void {
    this.#settled(connection)
    connection.abort(new Error(why))
  }

  #settled(connection: Connection): void {
    this.#newcomers.get(connection)?.()
    this.#newcomers.delete(connection)
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
] as const

/** A refusal that says when to come again. */
function notNow(code: ErrorCode, reason: string): CtError {
  return new CtError(code, reason, { detail: { retryAfterMs: BUSY_RETRY_MS } })
}

function listenError(error: unknown, addresses: readonly Address[]): CtError {
  const where = addresses.map(formatAddress).join(', ')
  const text = error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error)
  if (text.includes('EADDRINUSE')) {
    return new CtError('ERR_ADDRESS_IN_USE', `expected a free port at ${where}, found it in use`, { cause: error })
  }
  return new CtError(
    'ERR_ADDRESS_UNAVAILABLE',
    `cannot listen at ${where}: ${error instanceof Error ? error.message : text}`,
    { cause: error },
  )
}
