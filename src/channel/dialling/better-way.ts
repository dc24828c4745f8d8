/**
 * A better way for a session that lives: out of the relay when the peer can be met directly, back to it when the direct
 * way falls silent.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Random } from '../../core/time.ts'
import { type Address, formatAddress } from '../address.ts'
import { type ChannelNode } from '../node/node.ts'
import { addressOf } from '../node/transport-address.ts'
import { type Session } from '../session/session.ts'
import { type BrokerLink } from './broker-link.ts'
import { type Climbed, climb } from './climb.ts'
import { goDirect, type Moves } from './going-direct.ts'
import { planRungs, rungName, STAGGER_MS } from './ladder.ts'
import { type Expectation, type Opener } from './opening.ts'
import { putAway } from './put-away.ts'
import { race } from './race.ts'
import { standBy } from './standby.ts'
import { Turn } from './turn.ts'

/** A session, and whom it leads to. */
export interface Found extends Climbed {
  readonly holder: HolderId
  readonly addresses: readonly Address[]
  /** The broker, where it named the peer. */
  readonly broker?: Connection
}

/** A session that is gone on over from now on. */
export interface Taken extends Pick<Found, 'session' | 'connection' | 'holder' | 'addresses'> {
  readonly way: 'direct' | 'punched' | 'relay'
  /** To try first the next time. */
  readonly lastGood: string
}

export interface BetterWayOptions {
  readonly node: ChannelNode
  readonly opener: Opener
  readonly broker: BrokerLink
  readonly random: Random
  readonly canPunch: boolean
  /** Where the broker sees this side. */
  readonly seen: () => Address | undefined
  /** The way through the relay to this peer. */
  readonly relay: (holder: HolderId, signal: AbortSignal) => Promise<Connection>
  /** Through the relay, after the broker was asked. */
  readonly introduced: (holder: HolderId, target: Expectation, turn: Turn) => (signal: AbortSignal) => Promise<Found>
  readonly onTaken: (taken: Taken) => void
}

export class BetterWay {
  readonly #options: BetterWayOptions

  constructor(options: BetterWayOptions) {
    this.#options = options
  }

  /** Looks for one as long as the session lives. */
  lookFor(found: Found, target: Expectation, moves: Moves): void {
    if (found.rung.kind === 'relay') this.#goDirect(found, target, moves)
    else this.#standBy(found, target, moves)
  }

  #goDirect({ session, connection, holder, addresses, broker }: Found, target: Expectation, moves: Moves): void {
    const { node, opener, random, canPunch, seen, broker: link, onTaken } = this.#options
    if (broker === undefined || !canPunch) return
    const attempt = async (signal: AbortSignal): Promise<Session> => {
      const { attemptDirect } = await import('./direct-attempt.ts')
      const direct = await attemptDirect(
        {
          opener,
          node,
          random,
          target,
          holder,
          relayed: connection,
          peerHosts: new Set(addresses.map(({ host }) => host)),
          seen: seen(),
          localPort: broker.status === 'open' ? link.portOf(broker) : undefined,
        },
        signal,
      )
      const taken = { ...direct, holder, addresses: withFirst(direct, addresses) }
      onTaken(taken)
      this.#standBy(taken, target, moves)
      return direct.session
    }
    void goDirect({ ...moves, session, attempt, clock: opener.clock, random })
  }

  #standBy(
    { session, holder, addresses }: Pick<Found, 'session' | 'holder' | 'addresses'>,
    target: Expectation,
    moves: Moves,
  ): void {
    const { opener, onTaken } = this.#options
    standBy({
      session,
      open: async (signal) => {
        const found = await this.#relayedTo(holder, addresses, target, signal)
        await found.session.ready
        return found
      },
      onBetter: (found) => {
        onTaken({ ...found, way: 'relay', lastGood: rungName(found.rung) })
        moves.onBetter(found.session)
        this.#goDirect(found, target, moves)
      },
      clock: opener.clock,
    })
  }

  /** The broker is asked only where the relay does not know this side any more. */
  async #relayedTo(
    holder: HolderId,
    addresses: readonly Address[],
    target: Expectation,
    signal: AbortSignal,
  ): Promise<Found> {
    const { opener, broker: link, relay, introduced } = this.#options
    const turn = new Turn(opener.clock)
    const unasked = async (stop: AbortSignal): Promise<Found> => {
      const rungs = planRungs({ addresses: [], relay: true })
      const climbed = await climb({ opener, target, rungs, relay: (late) => relay(holder, late) }, turn, stop)
      const broker = link.current
      return { ...climbed, holder, addresses, ...(broker === undefined ? {} : { broker }) }
    }
    const outcome = await race(
      [
        { afterMs: 0, run: unasked },
        { afterMs: 2 * STAGGER_MS, run: introduced(holder, target, turn) },
      ],
      {
        clock: opener.clock,
        signal,
        discard: ({ connection }) => putAway(connection),
      },
    )
    if ('value' in outcome) return outcome.value
    throw outcome.failures.at(-1) ?? new CtError('ERR_PEER_UNREACHABLE', 'expected a relay, found none')
  }
}

/** What can be dialled again comes first the next time; a hole cannot. */
function withFirst(
  { way, connection }: Pick<Taken, 'way' | 'connection'>,
  addresses: readonly Address[],
): readonly Address[] {
  const first = way === 'direct' ? addressOf(connection.remoteAddr) : undefined
  if (first === undefined) return addresses
  return [first, ...addresses.filter((address) => formatAddress(address) !== formatAddress(first))]
}
