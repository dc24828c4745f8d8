/**
 * The error a cancelled call ends with.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'

/** The reason of the signal when it is one of ours (a lost link, a time limit), else a plain cancellation. */
export function cancellation(signal: AbortSignal): CtError {
  const reason: unknown = signal.reason
  if (reason instanceof CtError) return reason
  return new CtError('ERR_CALL_CANCELLED', 'the call was cancelled', { cause: reason })
}
