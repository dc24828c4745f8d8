/**
 * Serves until it is time to go, and goes in good order: no new sessions, calls in progress finish, everybody is told.
 *
 * Holds: whatever fails, no handler and no listener is left.
 *
 * @module
 */
import {
  type Address,
  type BrokerOptions,
  formatAddress,
  listen,
  type SelfDescription,
  type TrustPolicy,
} from '../../channel/index.ts'
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { type Reception } from '../members/reception.ts'
import { type Observation } from '../observing/observe.ts'
import { aborted, watchShutdown } from '../shutdown.ts'
import { type Serving } from './serving.ts'

export interface ServeLoopOptions {
  readonly self: SelfDescription
  readonly listen: readonly Address[]
  readonly broker?: BrokerOptions
  readonly trust: TrustPolicy
  readonly serving: Serving
  readonly reception?: Reception | undefined
  readonly observation?: Observation | undefined
  /** Ends with the first session. */
  readonly once: boolean
  readonly concurrency: number
  readonly peerSessions: number | undefined
  /** Says where this side listens. */
  readonly announce: (addresses: readonly Address[]) => void | Promise<void>
}

/** Serves the sessions that peers open, until a signal comes. */
export async function serveLoop({ io, clock, log, drainSeconds }: Context, options: ServeLoopOptions): Promise<number> {
  const { self, listen: addresses, broker, trust, serving, once, concurrency, peerSessions, announce } = options
  const { reception, observation } = options
  const observing = observation?.observing
  const shutdown = watchShutdown(io)
  const firstEnded = Promise.withResolvers<void>()
  let live = 0
  try {
    const listener = await listen({
      self,
      listen: addresses,
      broker: broker && (observing?.watching(broker) ?? broker),
      trust,
      maxSessions: once ? 1 : concurrency,
      maxPeerSessions: peerSessions,
      onSession: (session) => {
        serving.attach(session)
        live += 1
        // A caller that goes on over a better way ends its first session and not its visit.
        void session.closed.then(() => {
          live -= 1
          if (live === 0) firstEnded.resolve()
        })
      },
      onNotAdmitted: (peer, reason, way) => observing?.notAdmitted(peer, reason, way),
      clock,
      log,
    })
    const tell = (): void => {
      const shown = reception?.revocations()
      if (shown !== undefined) listener.revoke(shown.list, shown.successions)
    }
    const stopWatching = reception?.watch(() => {
      serving.review()
      tell()
    })
    try {
      tell()
      await observation?.begin(listener.addresses.map(formatAddress))
      await announce(listener.addresses)
      const refused = await Promise.race([
        aborted(shutdown.signal).then(() => undefined),
        listener.refused,
        ...(once ? [firstEnded.promise] : []),
      ])
      listener.stopAccepting(leaving())
      await serving.drain(drainSeconds * 1_000)
      if (refused !== undefined) {
        observing?.brokerRefused(refused)
        throw refused
      }
      return 0
    } finally {
      stopWatching?.()
      await listener.close(leaving())
    }
  } finally {
    await serving.close()
    await observation?.end()
    shutdown.dispose()
  }
}

/** What a serving side says when it goes. */
export function leaving(): CtError {
  return new CtError('ERR_PEER_SHUTDOWN', 'the serving agent is shutting down')
}
