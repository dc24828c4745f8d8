/**
 * Errors that a call ends with when it gets no answer.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'

export function cancelled(): CtError {
  return new CtError('ERR_CALL_CANCELLED', 'the call was cancelled')
}

/** @param mayRun the request was sent, and asks for something that must not happen twice */
export function timedOut(timeoutMs: number, mayRun: boolean): CtError {
  const message = `no answer within ${timeoutMs} ms`
  return mayRun
    ? new CtError('ERR_CALL_TIMEOUT', `${message}; the call may have run`)
    : new CtError('ERR_TIMEOUT', message)
}

/** @param cause why there is no answer */
export function outcomeUnknown(cause: CtError): CtError {
  return new CtError('ERR_CALL_OUTCOME_UNKNOWN', `the call was sent and may have run, then: ${cause.message}`, {
    cause,
  })
}
