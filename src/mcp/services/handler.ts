/**
 * The handler as services see it, whichever way it is run.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Log, type LogFacts } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type Progress } from '../wire/progress.ts'
import { type HandlerInput, type HandlerOutput } from './handler-shape.ts'

/** One call of a service. */
export interface HandlerTask {
  /** Slug. */
  readonly service: string
  readonly callId: string
  readonly peer: HolderId
  /** Names this run in the log and towards the caller. */
  readonly reference: string
  readonly input: HandlerInput
  /** Nobody wants the answer any more. */
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
}

export type Outcome = { readonly output: HandlerOutput } | FailedOutcome

export interface FailedOutcome {
  /** For the caller. */
  readonly error: CtError
  /** For the log. */
  readonly reason: string
}

export interface Handler {
  /** Resolves when the handler is done with it, or was made to be; never rejects. */
  readonly run: (task: HandlerTask) => Promise<Outcome>
  /** Asks everything that runs to end, and makes it end soon. */
  readonly stop: () => void
  /** Ends everything at once; resolves when nothing is left. */
  readonly close: () => Promise<void>
}

/** What every way to run a handler needs. */
export interface HandlerBounds {
  readonly clock: Clock
  readonly log: Log
  readonly timeoutSeconds: number
  readonly maxOutputBytes: number
}

/** How a call ended that has no output: in a word for programs, and as what the handler did. */
export interface Failure {
  readonly kind: string
  readonly what: string
}

/** `ERR_TOOL_FAILED`, or `ERR_CALL_INTERRUPTED` when the agent stopped the run. */
export function failed({ service, reference }: HandlerTask, { kind, what }: Failure): FailedOutcome {
  const reason = `service handler ${what}`
  const code = kind === STOPPED.kind ? 'ERR_CALL_INTERRUPTED' : 'ERR_TOOL_FAILED'
  const detail = { service, reference, outcome: kind }
  return { reason, error: new CtError(code, `${reason} (reference ${reference})`, { detail }) }
}

export const STOPPED: Failure = { kind: 'stopped', what: 'was stopped before it finished' }

export function timedOut(timeoutSeconds: number): Failure {
  return { kind: 'timeout', what: `timed out after ${timeoutSeconds}s` }
}

/** What the log says of every task. */
export function factsOf({ reference, service, peer, callId }: HandlerTask): LogFacts {
  return { reference, service, peer: shortId(peer), call: callId }
}
