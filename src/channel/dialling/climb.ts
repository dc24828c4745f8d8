/**
 * Tries the ways to a peer that were planned, side by side; the first on which the right peer answers wins.
 *
 * Holds: a way on which the handshake succeeds and nothing comes after it does not win against one that answers.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type Multiaddr } from '@multiformats/multiaddr'
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Address, formatAddress } from '../address.ts'
import { peerIdOf } from '../node/node.ts'
import { resolveAddress } from '../node/transport-address.ts'
import { type Session } from '../session/session.ts'
import { dialFailure } from './dial-failure.ts'
import { type PlannedRung, type Rung, STAGGER_MS } from './ladder.ts'
import { answered, type Expectation, type Opener, openSession, provenKeys } from './opening.ts'
import { putAway } from './put-away.ts'
import { race } from './race.ts'
import { type Turn } from './turn.ts'

export interface Climb {
  readonly opener: Opener
  readonly target: Expectation
  readonly rungs: readonly PlannedRung[]
  /** The way through the relay, where one is planned. */
  readonly relay?: (signal: AbortSignal) => Promise<Connection>
}

export interface Reached {
  readonly connection: Connection
  readonly rung: Rung
}

export interface Climbed extends Reached {
  /** The peer has answered on it, be it with a refusal. */
  readonly session: Session
}

/**
 * The first connection to the right keys.
 *
 * @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_PEER_KEY_MISMATCH` when nobody else answered
 */
export function reach(climb: Climb, signal: AbortSignal): Promise<Reached> {
  return first(climb, (reached) => Promise.resolve(reached), signal)
}

/**
 * The first session that is answered. All ways lead to one proven peer, who may have the hello more than once.
 *
 * @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_PEER_KEY_MISMATCH` when nobody else answered
 */
export function climb(plan: Climb, turn: Turn, signal: AbortSignal): Promise<Climbed> {
  const greet = (reached: Reached, stop: AbortSignal): Promise<Climbed> =>
    turn.take(async () => {
      const session = await openSession(plan.opener, reached.connection, plan.target, stop)
      await answered(session, stop)
      return { ...reached, session }
    }, stop)
  return first(plan, greet, signal)
}

async function first<Value extends Reached>(
  { opener, target, rungs, relay }: Climb,
  finish: (reached: Reached, stop: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const attempts = rungs.map(({ rung, afterMs }) => ({
    afterMs,
    run: async (stop: AbortSignal): Promise<Value> => {
      const connection =
        rung.kind === 'direct' ? await dialDirect(opener, target, rung.address, stop) : await dialRelay(relay, stop)
      await provenKeys(opener.node, connection, target.trust)
      try {
        return await finish({ connection, rung }, stop)
      } catch (error) {
        putAway(connection)
        throw error
      }
    },
  }))
  const outcome = await race(attempts, {
    clock: opener.clock,
    signal,
    discard: ({ connection }) => putAway(connection),
  })
  if ('failures' in outcome) throw summary(outcome.failures)
  return outcome.value
}

/** A name's addresses are raced as well. */
async function dialDirect(
  { node, clock }: Opener,
  { trust }: Expectation,
  address: Address,
  signal: AbortSignal,
): Promise<Connection> {
  const transports = await resolveAddress(address, signal)
  const attempts = transports.map((transport, index) => ({
    afterMs: index * STAGGER_MS,
    run: async (stop: AbortSignal): Promise<Connection> => {
      try {
        return await node.dial(withPeer(transport, trust.holders), stop)
      } catch (error) {
        stop.throwIfAborted()
        throw dialFailure(formatAddress(address), error)
      }
    },
  }))
  const outcome = await race(attempts, { clock, signal, discard: putAway })
  if ('value' in outcome) return outcome.value
  const [first, ...more] = outcome.failures
  throw first !== undefined && more.length === 0 ? first : summary(outcome.failures)
}

async function dialRelay(relay: Climb['relay'], signal: AbortSignal): Promise<Connection> {
  if (relay === undefined) throw new TypeError('expected a way through the relay, found none')
  try {
    return await relay(signal)
  } catch (error) {
    signal.throwIfAborted()
    throw dialFailure('the relay', error)
  }
}

// With one holder pinned, the handshake itself refuses any other key.
function withPeer(transport: Multiaddr, holders: ReadonlySet<HolderId> | undefined): Multiaddr {
  const [only] = holders ?? []
  return holders?.size === 1 && only !== undefined
    ? transport.encapsulate(`/p2p/${peerIdOf(only).toString()}`)
    : transport
}

// Wherever an address did not answer, the right peer may still be; else what the others said is the reason.
function summary(failures: readonly CtError[]): CtError {
  const [first] = failures
  const definite = failures.every((failure) => !failure.facts.retryable)
  if (first !== undefined && definite) return first
  return new CtError(
    'ERR_PEER_UNREACHABLE',
    `no address answered (${failures.map(({ message }) => message).join('; ')})`,
  )
}
