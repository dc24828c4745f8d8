/**
 * Where sessions come from, for code that does not care which side dials.
 *
 * @module
 */
import {
  type Address,
  type BrokerOptions,
  createDialler,
  type ListenOptions,
  listen,
  type Moves,
  type SelfDescription,
  type Session,
  type Target,
} from '../../channel/index.ts'
import { CtError, toCtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'

export interface LinkSource {
  /**
   * A new session; rejects when there is none to be had, or with the signal's reason.
   *
   * @param moves for whoever can go on over another session; sources that do not dial know of none
   */
  readonly open: (signal: AbortSignal, moves?: Moves) => Promise<Session>
  readonly close: (reason: CtError) => Promise<void>
}

/** Sessions that this side dials. */
export async function diallingSource(
  self: SelfDescription,
  target: Target,
  clock: Clock,
  broker?: BrokerOptions,
): Promise<LinkSource> {
  const dialler = await createDialler(self, clock, broker)
  return {
    open: (signal, moves) => dialler.open(target, signal, moves),
    close: () => dialler.close(),
  }
}

export interface AcceptingSource extends LinkSource {
  readonly addresses: readonly Address[]
}

/** Sessions that the peer dials; one at a time. */
export async function acceptingSource(
  options: Omit<ListenOptions, 'maxSessions' | 'onSession'>,
): Promise<AcceptingSource> {
  const arrived: Session[] = []
  let wake: (session: Session) => void = (session) => arrived.push(session)
  const listener = await listen({ ...options, maxSessions: 1, onSession: (session) => wake(session) })
  let fail: (reason: CtError) => void = () => {}
  let refusal: CtError | undefined
  void listener.refused.then((reason) => {
    refusal = reason
    fail(reason)
  })
  return {
    addresses: listener.addresses,
    open: (signal) => {
      const ready = arrived.shift()
      if (ready !== undefined) return Promise.resolve(ready)
      if (refusal !== undefined) return Promise.reject(refusal)
      return new Promise((resolve, reject) => {
        fail = reject
        const stop = (): void => {
          wake = (session) => arrived.push(session)
          reject(toCtError(signal.reason, 'ERR_CALL_CANCELLED'))
        }
        signal.addEventListener('abort', stop, { once: true })
        wake = (session) => {
          signal.removeEventListener('abort', stop)
          wake = (next) => arrived.push(next)
          resolve(session)
        }
        if (signal.aborted) stop()
      })
    },
    close: (reason) => listener.close(reason),
  }
}

/** Aborts with `ERR_TIMEOUT` when there is no session by then; keeps no process alive. */
export function timeLimit(timeoutMs: number): AbortSignal {
  const controller = new AbortController()
  const reason = new CtError('ERR_TIMEOUT', `no session within ${timeoutMs / 1_000} s`)
  setTimeout(() => controller.abort(reason), timeoutMs).unref()
  return controller.signal
}

/** The reason why a session ends that another one has taken over from. */
export function moved(): CtError {
  return new CtError('ERR_LINK_CLOSED', 'the caller goes on over a better way')
}

/** The reason of an orderly end from this side. */
export function done(): CtError {
  return new CtError('ERR_LINK_CLOSED', 'the peer is done')
}
