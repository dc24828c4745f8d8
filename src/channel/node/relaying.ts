/**
 * A place at a relay, so that others can reach this member through it.
 *
 * The package renews a reservation shortly before it expires and forgets it when its connection closes or a renewal
 * fails; that it is made again is seen to here.
 *
 * Holds: while {@link holdReservation} runs there is a reservation, or the next attempt is at most `capMs` away.
 *
 * @module
 */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { type Connection, type PeerId, serviceDependencies, type Transport } from '@libp2p/interface'
import { CtError } from '../../core/errors.ts'
import { Backoff, type BackoffPolicy, type Clock, pause, type Random } from '../../core/time.ts'
import { type RelayState } from './relay-state.ts'

/** The part of the relay transport that makes reservations. */
export interface Reservations {
  readonly addRelay: (
    relay: PeerId,
    type: 'configured',
  ) => Promise<{ readonly details: { readonly reservation: { readonly expire: bigint } } }>
}

type Components = Parameters<ReturnType<typeof circuitRelayTransport>>[0]

/** @param maxRelayed sessions through relays at once */
export function relayTransport(maxRelayed: number): {
  readonly transport: (components: Components) => Transport
  readonly reservations: Reservations
} {
  let made: Reservations | undefined
  const relays = new Set<string>()
  return {
    transport: (components) => {
      const transport = circuitRelayTransport({
        maxInboundStopStreams: maxRelayed,
        maxOutboundStopStreams: maxRelayed,
      })(relaysOnly(components, relays))
      made = storeOf(transport)
      // Identify serves the search for relays alone, and here relays are named, not searched.
      return Object.defineProperty(transport, serviceDependencies, { value: [] })
    },
    reservations: {
      addRelay: (relay, type) => {
        if (made === undefined) throw new TypeError('expected a node that was made with this transport')
        relays.add(relay.toString())
        return made.addRelay(relay, type)
      },
    },
  }
}

// Left to itself, the transport takes relayed connections from whoever is connected, and first makes a reservation there.
function relaysOnly(components: Components, relays: ReadonlySet<string>): Components {
  const { registrar } = components
  const handle: typeof registrar.handle = (protocol, handler, options) => {
    const guarded: typeof handler = (stream, connection) => {
      if (relays.has(connection.remotePeer.toString())) return handler(stream, connection)
      stream.abort(new Error('expected a relay of this member'))
      return undefined
    }
    return registrar.handle(protocol, guarded, options)
  }
  const guarding = new Proxy(registrar, {
    get: (target, key) => {
      const value: unknown = key === 'handle' ? handle : Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return Object.create(components, { registrar: { value: guarding } })
}

// The transport's type does not name its store, which is public.
function storeOf(transport: Transport): Reservations {
  if ('reservationStore' in transport) return transport.reservationStore as Reservations
  throw new TypeError('expected a relay transport with a reservation store')
}

const RESERVE: BackoffPolicy = { baseMs: 200, capMs: 10_000, stableMs: 5_000 }
/** Bounds of the wait for the middle of what is left of a reservation. */
const MIN_RENEW_MS = 10_000
const MAX_RENEW_MS = 3_600_000

export interface HoldOptions {
  readonly reservations: Reservations
  /** The connection to the relay; made when there is none. */
  readonly connect: (signal: AbortSignal) => Promise<Connection>
  /** Ends the hold. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly onState: (state: RelayState) => void
}

/** Makes the reservation and keeps it until the signal aborts. */
export async function holdReservation(options: HoldOptions): Promise<void> {
  const { reservations, connect, signal, clock, random, onState } = options
  const backoff = new Backoff(RESERVE, random)
  let heldSince: number | undefined
  while (!signal.aborted) {
    try {
      const connection = await connect(signal)
      const { details } = await reservations.addRelay(connection.remotePeer, 'configured')
      if (signal.aborted) return
      if (heldSince === undefined) onState({ kind: 'reserved' })
      heldSince ??= clock.monotonic()
      const leftMs = Number(details.reservation.expire) * 1_000 - clock.now()
      await pause(clock, Math.min(MAX_RENEW_MS, Math.max(MIN_RENEW_MS, leftMs / 2)), orClosed(connection, signal))
    } catch (error) {
      if (signal.aborted) return
      onState({ kind: 'not-reserved', reason: reserveFailure(error) })
      const lastedMs = heldSince === undefined ? 0 : clock.monotonic() - heldSince
      heldSince = undefined
      await pause(clock, backoff.next(lastedMs), signal)
    }
  }
}

/** Aborts with the signal, and when the connection is over. */
function orClosed(connection: Connection, signal: AbortSignal): AbortSignal {
  const closed = new AbortController()
  if (connection.status !== 'open') closed.abort()
  connection.addEventListener('close', () => closed.abort(), { once: true })
  return AbortSignal.any([signal, closed.signal])
}

function reserveFailure(error: unknown): CtError {
  if (error instanceof CtError) return error
  const text = error instanceof Error ? error.message : String(error)
  return new CtError('ERR_PEER_UNREACHABLE', `expected a place at the relay, found ${text}`, { cause: error })
}
