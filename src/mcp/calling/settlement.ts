/**
 * How a request on one link ends.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Answer } from '../wire/answer.ts'
import { type Response } from '../wire/envelope.ts'
import { readRpcError } from '../wire/rpc-error.ts'

export type Settlement =
  | { readonly answer: Answer }
  | { readonly failure: CtError }
  /** The link ended before. */
  | { readonly linkEnd: CtError }

/** The answer, or what kept it from coming, thrown. */
export function answerOf(settlement: Settlement): Answer {
  if ('answer' in settlement) return settlement.answer
  throw 'failure' in settlement ? settlement.failure : settlement.linkEnd
}

/** @param text of the whole response */
export function settlementOf(outcome: Response['outcome'], text: string): Settlement {
  if ('problem' in outcome) return { failure: protocolError(`a malformed response (${outcome.problem})`) }
  return 'error' in outcome
    ? { answer: { text, error: readRpcError(outcome.error) } }
    : { answer: { text, result: outcome.result } }
}

/** What requests in flight end with when one of them, and nobody knows which, will never get its answer. */
export function unmatched(error: CtError, inFlight: number): CtError {
  if (inFlight <= 1) return error
  const message = `${error.message}; ${inFlight} requests were in flight, and it cannot be told which one this is about`
  return new CtError('ERR_CALL_OUTCOME_UNKNOWN', message, { cause: error })
}

export function protocolError(what: string): CtError {
  return new CtError('ERR_PROTOCOL', `the peer answered with ${what}`)
}
