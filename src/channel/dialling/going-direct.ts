/**
 * What a session that goes through a relay does to go directly.
 *
 * Holds: it is tried as long as the session lives, at growing intervals; one direct session comes of it at most, and is
 * handed over only when the peer has admitted this side on it.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { Backoff, type BackoffPolicy, type Clock, pause, type Random } from '../../core/time.ts'
import { type Session } from '../session/session.ts'

/** Calls that are answered at once are over by then. */
const FIRST_MS = 100
const AGAIN: BackoffPolicy = { baseMs: 1_000, capMs: 300_000, stableMs: Number.POSITIVE_INFINITY }
/** One attempt, all rounds and the hello included. */
const ATTEMPT_MS = 15_000

/** Why there is no direct way yet. */
export interface NotDirect {
  readonly reason: CtError
  /** The attempt took so long. */
  readonly ms: number
  /** And is made again after this. */
  readonly nextMs: number
}

/** For callers that can go on over another session of the same run. */
export interface Moves {
  /** A session to the same peer without a relay; whoever is told ends the old one, or this one. */
  readonly onBetter: (session: Session) => void
  readonly onNotDirect: (tried: NotDirect) => void
}

export interface GoingDirect extends Moves {
  /** The one that goes through the relay. */
  readonly session: Session
  /** @throws why there is no direct session */
  readonly attempt: (signal: AbortSignal) => Promise<Session>
  readonly clock: Clock
  readonly random: Random
}

export async function goDirect(options: GoingDirect): Promise<void> {
  const { session, attempt, clock, random, onBetter, onNotDirect } = options
  const over = new AbortController()
  void session.closed.then(({ reason }) => over.abort(reason))
  const { signal } = over
  const backoff = new Backoff(AGAIN, random)
  await pause(clock, FIRST_MS, signal)
  while (!signal.aborted) {
    const since = clock.monotonic()
    try {
      const better = await attempt(AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]))
      // Also when the old one is over by now: whoever lost it may be glad of it.
      onBetter(better)
      return
    } catch (error) {
      if (signal.aborted) return
      const nextMs = backoff.next(0)
      onNotDirect({ reason: reasonOf(error), ms: Math.round(clock.monotonic() - since), nextMs })
      await pause(clock, nextMs, signal)
    }
  }
}

function reasonOf(error: unknown): CtError {
  if (error instanceof DOMException) return new CtError('ERR_TIMEOUT', 'no direct way in time')
  return toCtError(error, 'ERR_PEER_UNREACHABLE')
}
