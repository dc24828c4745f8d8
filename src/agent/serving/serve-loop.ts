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
  listen,
  type SelfDescription,
  type TrustPolicy,
} from '../../channel/index.ts'
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { aborted, watchShutdown } from '../shutdown.ts'
import { type Serving } from './serving.ts'

export interface ServeLoopOptions {
  readonly self: SelfDescription
  readonly listen: readonly Address[]
  readonly broker?: BrokerOptions
  readonly trust: TrustPolicy
  readonly serving: Serving
  /** Ends with the first session. */
  readonly once: boolean
  readonly concurrency: number
  readonly peerSessions: number | undefined
  /** Says where this side listens. */
  readonly announce: (addresses: readonly Address[]) => void | Promise<void>
}

/** Serves the sessions that peers open, until a signal comes. */
export async function serveLoop(
  { io, clock, log, drainSeconds }: Context,
  { self, listen: addresses, broker, trust, serving, once, concurrency, peerSessions, announce }: ServeLoopOptions,
): Promise<number> {
  const shutdown = watchShutdown(io)
  const firstEnded = Promise.withResolvers<void>()
  try {
    const listener = await listen({
      self,
      listen: addresses,
      broker,
      trust,
      maxSessions: once ? 1 : concurrency,
      maxPeerSessions: peerSessions,
      onSession: (session) => {
        serving.attach(session)
        void session.closed.then(() => firstEnded.resolve())
      },
      clock,
      log,
    })
    try {
      await announce(listener.addresses)
      const refused = await Promise.race([
        aborted(shutdown.signal).then(() => undefined),
        listener.refused,
        ...(once ? [firstEnded.promise] : []),
      ])
      listener.stopAccepting(leaving())
      await serving.drain(drainSeconds * 1_000)
      if (refused !== undefined) throw refused
      return 0
    } finally {
      await listener.close(leaving())
    }
  } finally {
    await serving.close()
    shutdown.dispose()
  }
}

/** What a serving side says when it goes. */
export function leaving(): CtError {
  return new CtError('ERR_PEER_SHUTDOWN', 'the serving agent is shutting down')
}
