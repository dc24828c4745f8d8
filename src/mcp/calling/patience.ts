/**
 * How long whoever calls waits for the answer.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { cancelled, timedOut } from '../wire/call-end.ts'

export interface Patience {
  /**
   * Gives up after so long, with `ERR_CALL_TIMEOUT` when a tool may have run, else with `ERR_TIMEOUT`; without it, a
   * request waits as long as the link lives.
   */
  readonly timeoutMs?: number
  /** Gives up with `ERR_CALL_CANCELLED`. */
  readonly signal?: AbortSignal
  /** As `signal`, for many calls at once: to join two signals into one takes longer than a call. */
  readonly shared?: AbortSignal
}

/** Nobody waits for the answer, and so nothing need be asked. */
export function isGivenUp({ signal, shared }: Patience): boolean {
  return signal?.aborted === true || shared?.aborted === true
}

/** @returns ends the waiting, for when the call is over */
export function wait(
  { timeoutMs, signal, shared }: Patience,
  clock: Clock,
  { mayRun, giveUp }: { readonly mayRun: () => boolean; readonly giveUp: (reason: CtError) => void },
): () => void {
  const stop = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => giveUp(timedOut(timeoutMs, mayRun())))
  const abort = (): void => giveUp(cancelled())
  signal?.addEventListener('abort', abort, { once: true })
  shared?.addEventListener('abort', abort, { once: true })
  return () => {
    stop?.()
    signal?.removeEventListener('abort', abort)
    shared?.removeEventListener('abort', abort)
  }
}
