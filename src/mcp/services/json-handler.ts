/**
 * What handlers have in common that are spoken to in JSON, in lines or over HTTP.
 *
 * @module
 */
import { type Clock } from '../../core/time.ts'
import { type Failure, factsOf, failed, type HandlerBounds, type HandlerTask, type Outcome } from './handler.ts'
import { type HandlerAnswer } from './worker-message.ts'

/** What stands around an output: its names and the id. */
export const ENVELOPE_BYTES = 1_024

/** An answer, or why there is none. */
export type JsonOutcome = HandlerAnswer | { readonly kind: 'failed'; readonly failure: Failure }

/** The call as JSON on one line. @param id where one handler has several at the same time */
export function requestText({ service, callId, peer, input }: HandlerTask, id?: number): string {
  const head = JSON.stringify({ id, service, call: callId, peer })
  return `${head.slice(0, -1)},"input":${input.json()}}`
}

/** What an answer, or its absence, means; a failure goes to the log. */
export function concluded(
  answer: JsonOutcome,
  task: HandlerTask,
  startedAt: number,
  { clock, log }: { readonly clock: Clock; readonly log: HandlerBounds['log'] },
): Outcome {
  if (answer.kind === 'output') return { output: { kind: 'json', text: answer.json } }
  const failure = answer.kind === 'error' ? { kind: 'reported', what: `reported: ${answer.message}` } : answer.failure
  const outcome = failed(task, failure)
  if (!task.signal.aborted) {
    const durationMs = Math.round(clock.monotonic() - startedAt)
    log.warn('service.failed', { ...factsOf(task), reason: outcome.reason, durationMs })
  }
  return outcome
}
