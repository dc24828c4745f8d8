/**
 * Sessions to a member that the broker names.
 *
 * Holds: the broker is believed in nothing but whom to try: the peer proves its keys in the handshake and its membership
 * in its hello. A peer that was reached before is tried where it was, and one that said itself where it is there, beside
 * the question to the broker, so that two members find each other while the broker is down.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { CtError, isCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { pause } from '../../core/time.ts'
import { type Address, formatAddress } from '../address.ts'
import { type BrokerOptions, canPunch } from '../broker-options.ts'
import { type Credentials } from '../membership/credentials.ts'
import { KnownRevocations } from '../membership/known-revocations.ts'
import { type ChannelNode, peerIdOf } from '../node/node.ts'
import { addressOf } from '../node/transport-address.ts'
import { askForPeer, type Introduction } from '../rendezvous/client.ts'
import { type Join } from '../rendezvous/messages.ts'
import { RevocationWatch } from '../rendezvous/watch.ts'
import { type Session } from '../session/session.ts'
import { BetterWay, type Found, type Taken } from './better-way.ts'
import { BrokerLink, throughRelay } from './broker-link.ts'
import { climb } from './climb.ts'
import { type Moves } from './going-direct.ts'
import { planRungs, reachableBeside, rungName, STAGGER_MS } from './ladder.ts'
import { type Expectation, type Opener, type Target } from './opening.ts'
import { putAway } from './put-away.ts'
import { race } from './race.ts'
import { RelayAhead } from './relay-ahead.ts'
import { Turn } from './turn.ts'

/** How long the peer of the last session is waited for before any other will do: calls that are under way are its own. */
const PREFER_MS = 3_000
/** The peer may be named before its place at the relay is there. */
const RELAY_TRIES = 10
const RELAY_RETRY_MS = 200

/** Where a peer may be reached without the broker. */
interface Known {
  readonly holder: HolderId
  readonly addresses: readonly Address[]
  /** Where it was reached last. */
  readonly lastGood?: string
  /** The way there broke. */
  readonly broke?: boolean
}

export class BrokeredDialling {
  readonly #opener: Opener
  readonly #options: BrokerOptions
  readonly #broker: BrokerLink
  readonly #relay: BrokerLink
  readonly #credentials: () => Credentials
  readonly #revocations: KnownRevocations
  readonly #watch: RevocationWatch
  readonly #better: BetterWay
  #known: Known | undefined
  /** Where the broker saw this side last. */
  #seen: Address | undefined

  constructor(node: ChannelNode, opener: Opener, options: BrokerOptions) {
    const { credentials } = opener.self
    if (credentials === undefined) throw new TypeError('expected the credentials of a member, found none')
    this.#credentials = credentials
    this.#opener = opener
    this.#options = options
    this.#broker = new BrokerLink(node, options.broker, opener.clock, canPunch(options) ? options.random : undefined)
    const { clock, revocations } = opener
    this.#revocations = revocations ?? new KnownRevocations({ ...options, clock })
    this.#watch = new RevocationWatch({
      link: this.#broker,
      join: () => this.#join(),
      revocations: this.#revocations,
      clock,
      random: options.random,
    })
    this.#relay = options.relay.length === 0 ? this.#broker : new BrokerLink(node, options.relay, opener.clock)
    this.#better = new BetterWay({
      node,
      opener,
      broker: this.#broker,
      random: options.random,
      canPunch: canPunch(options),
      seen: () => this.#seen,
      relay: (holder, signal) => this.#throughRelay(holder, signal),
      introduced: (holder, target, turn) => this.#introduced(undefined, target, turn, holder),
      onTaken: (taken) => this.#take(taken),
    })
  }

  /** @param moves for a caller that can go on over another session; without it, a session stays on its way */
  async open(target: Target, signal: AbortSignal, moves?: Moves): Promise<Session> {
    const found = await this.#find(target, signal)
    const { session, rung, holder } = found
    session.ready.then(
      () => {
        this.#take({ ...found, way: rung.kind, lastGood: rungName(rung) })
        if (moves !== undefined) this.#better.lookFor(found, expecting(target, holder), moves)
      },
      () => {
        this.#known = undefined
      },
    )
    return session
  }

  #take({ session, connection, holder, addresses, way, lastGood }: Taken): void {
    this.#watch.during(session)
    const known: Known = { holder, addresses, lastGood }
    this.#known = known
    void session.closed.then(({ reason }) => {
      if (this.#known === known && isCtError(reason, ...BREAKS)) this.#known = { ...known, broke: true }
    })
    const where = connection.remoteAddr.toString().replace(/\/p2p\/[^/]+$/, '')
    this.#options.onState({ kind: 'way', peer: holder, way, where })
  }

  async #find(target: Target, signal: AbortSignal): Promise<Found> {
    const known = this.#known
    const unaided = unaidedWays(known, target)
    const turn = new Turn(this.#opener.clock)
    const ways = [
      ...(unaided === undefined ? [] : [{ afterMs: 0, run: this.#again(unaided, target, turn) }]),
      // Nobody is asked for the way to a peer that answers at once where it said it is.
      {
        afterMs: unaided !== undefined && known === undefined ? STAGGER_MS : 0,
        run: this.#introduced(known, target, turn),
      },
    ]
    const outcome = await race(ways, {
      clock: this.#opener.clock,
      signal,
      discard: ({ connection }) => putAway(connection),
    })
    if ('value' in outcome) return outcome.value
    // What the broker says is the reason, be there an address to fall back on or not.
    throw outcome.failures.at(-1) ?? new CtError('ERR_PEER_UNREACHABLE', 'expected a way to the peer, found none')
  }

  /** Where the peer was, or said it is, without anybody's help. */
  #again(
    { holder, addresses, lastGood }: Known,
    target: Expectation,
    turn: Turn,
  ): (signal: AbortSignal) => Promise<Found> {
    return async (signal) => {
      const rungs = planRungs({ addresses, relay: false, lastGood })
      const climbed = await climb({ opener: this.#opener, target: expecting(target, holder), rungs }, turn, signal)
      return { ...climbed, holder, addresses }
    }
  }

  /** @param relayedTo this peer alone, through the relay alone */
  #introduced(known: Known | undefined, target: Expectation, turn: Turn, relayedTo?: HolderId) {
    return async (signal: AbortSignal): Promise<Found> => {
      const isRelayed = relayedTo !== undefined
      const ahead = new RelayAhead()
      const goAhead = (): void => {
        const holder = this.#behindRelay(target)
        if (holder !== undefined) ahead.start((stop) => this.#dialRelay(holder, stop))
      }
      let leave = (): void => {}
      try {
        const asked = isRelayed ? this.#ask(relayedTo, signal) : this.#meet(known?.holder, signal, goAhead)
        const { peer, broker, ...introduction } = await asked
        leave = introduction.leave
        if (target.trust.holders?.has(peer.holder) === false) {
          throw new CtError('ERR_PEER_KEY_MISMATCH', 'the broker named another member than the trusted ones')
        }
        const via = addressOf(broker.remoteAddr)?.host ?? 'broker'
        const addresses = reachableBeside(peer.addresses, via)
        const last = known?.holder === peer.holder ? known : undefined
        const climbed = await climb(
          {
            opener: this.#opener,
            target: expecting(target, peer.holder),
            rungs: planRungs({
              addresses: isRelayed ? [] : addresses,
              relay: true,
              lastGood: last?.lastGood,
              broke: last?.broke,
            }),
            relay: async (stop) => (await ahead.take(stop)) ?? this.#throughRelay(peer.holder, stop),
          },
          turn,
          signal,
        )
        return { ...climbed, holder: peer.holder, addresses, broker }
      } finally {
        ahead.end()
        leave()
      }
    }
  }

  /** Whom to connect to before the broker has named it: whoever alone is wanted, and nobody said where it is. */
  #behindRelay({ trust: { holders }, ...target }: Expectation & Partial<Target>): HolderId | undefined {
    const [only] = holders ?? []
    const isBehind = (target.addresses ?? []).length === 0 && this.#relay === this.#broker
    return isBehind && this.#known === undefined && holders?.size === 1 ? only : undefined
  }

  async #meet(last: HolderId | undefined, signal: AbortSignal, onAsked: () => void): Promise<Introduction> {
    const { wants } = this.#options
    if (wants !== undefined || last === undefined) return this.#ask(wants, signal, onAsked)
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PREFER_MS)])
    try {
      return await this.#ask(last, patience)
    } catch (error) {
      if (signal.aborted || !patience.aborted) throw error
      return this.#ask(undefined, signal)
    }
  }

  #ask(wants: HolderId | undefined, signal: AbortSignal, onAsked = (): void => {}): Promise<Introduction> {
    return askForPeer(
      {
        link: this.#broker,
        join: () => ({ ...this.#join(), ...(wants === undefined ? {} : { wants }) }),
        revocations: this.#revocations,
        clock: this.#opener.clock,
        onAsked,
        onState: (state) => {
          if (state.kind === 'joined') this.#seen = state.observed
          this.#options.onState(state)
        },
      },
      signal,
    )
  }

  #join(): Join {
    const { operator, channel } = this.#options
    return { kind: 'join', operator, channel, side: 'initiate', credentials: this.#credentials(), addresses: [] }
  }

  async #throughRelay(holder: HolderId, signal: AbortSignal): Promise<Connection> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#dialRelay(holder, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (attempt === RELAY_TRIES || !lacksReservation(error)) throw error
      }
      await pause(this.#opener.clock, RELAY_RETRY_MS, signal)
    }
  }

  async #dialRelay(holder: HolderId, signal: AbortSignal): Promise<Connection> {
    const relay = await this.#relay.connect(signal)
    return this.#opener.node.dial(throughRelay(relay, peerIdOf(holder).toString()), signal)
  }
}

/** Ends that say nothing of the peer, but that the way to it is no good. */
const BREAKS = ['ERR_LINK_LOST', 'ERR_PEER_UNRESPONSIVE', 'ERR_PEER_SLOW'] as const

/** Where the peer was, then what was said of it by whoever is trusted to name it. */
function unaidedWays(known: Known | undefined, { addresses, trust: { holders } }: Target): Known | undefined {
  const [only] = holders ?? []
  const holder = known?.holder ?? (holders?.size === 1 ? only : undefined)
  const all = new Map([...(known?.addresses ?? []), ...addresses].map((address) => [formatAddress(address), address]))
  return holder === undefined || all.size === 0 ? undefined : { ...known, holder, addresses: [...all.values()] }
}

function expecting({ trust, ...rest }: Expectation, holder: HolderId): Expectation {
  return { ...rest, trust: { ...trust, holders: new Set([holder]) } }
}

function lacksReservation(error: unknown): boolean {
  return error instanceof Error && /NO_RESERVATION/.test(error.message)
}
