/**
 * What the end of a handler run means for its caller, and what the operator finds in the log.
 *
 * Holds: the caller gets the output or one error; what the handler wrote to stderr goes to the log alone, and the
 * error carries the reference under which it is there.
 *
 * @module
 */
import { decodeUtf8 } from '../../core/bytes.ts'
import { CtError } from '../../core/errors.ts'
import { type Log, type LogFacts } from '../../core/log.ts'
import { type HandlerEnd, type HandlerOutcome, MAX_STDERR_BYTES } from './handler-process.ts'

export interface OutcomeContext {
  readonly service: string
  readonly callId: string
  /** Short form of the caller's key. */
  readonly peer: string
  /** Names this run in the log and towards the caller. */
  readonly reference: string
  readonly timeoutSeconds: number
  readonly maxOutputBytes: number
}

export type Outcome =
  /** Trimmed, never empty. */
  | { readonly output: string }
  /** `error` is for the caller, `reason` for the log. */
  | { readonly error: CtError; readonly reason: string }

/** `ERR_TOOL_FAILED`, or `ERR_CALL_INTERRUPTED` when the agent stopped the run, for a run without output. */
export function outcomeOf(end: HandlerEnd, context: OutcomeContext): Outcome {
  const { service, reference } = context
  const output = end.outcome.kind === 'exited' ? decodeUtf8(end.stdout)?.trim() : undefined
  const problem = problemOf(end.outcome, output, context)
  if (problem === undefined && output !== undefined) return { output }
  const reason = `service handler ${problem ?? 'failed'}`
  const code = end.outcome.kind === 'stopped' ? 'ERR_CALL_INTERRUPTED' : 'ERR_TOOL_FAILED'
  const detail = { service, reference, outcome: end.outcome.kind }
  return { reason, error: new CtError(code, `${reason} (reference ${reference})`, { detail }) }
}

/** The output, or the error thrown. */
export function outputOf(outcome: Outcome): string {
  if ('error' in outcome) throw outcome.error
  return outcome.output
}

export function logOutcome(log: Log, end: HandlerEnd, outcome: Outcome, context: OutcomeContext): void {
  const { service, callId, peer, reference } = context
  const facts: LogFacts = { reference, service, peer, call: callId }
  const failed = 'error' in outcome
  if (end.stderrBytes > 0) {
    const stderr = Buffer.from(end.stderr).toString('utf8')
    log[failed ? 'warn' : 'debug']('service.stderr', { ...facts, bytes: end.stderrBytes, stderr })
  }
  if (failed) log.warn('service.failed', { ...facts, reason: outcome.reason, durationMs: Math.round(end.durationMs) })
}

function problemOf(
  outcome: HandlerOutcome,
  text: string | undefined,
  { timeoutSeconds, maxOutputBytes }: OutcomeContext,
): string | undefined {
  switch (outcome.kind) {
    case 'exited':
      if (typeof outcome.status === 'string') return `exited signal: ${outcome.status}`
      if (outcome.status !== 0) return `exited exit status: ${outcome.status}`
      if (text === undefined) return 'wrote output that is not UTF-8'
      if (text === '') return 'exited exit status: 0 but produced no output (killed mid-run?)'
      return undefined
    case 'timeout':
      return `timed out after ${timeoutSeconds}s`
    case 'stdout-flood':
      return `wrote more than ${maxOutputBytes} bytes of output`
    case 'stderr-flood':
      return `wrote more than ${MAX_STDERR_BYTES} bytes to stderr`
    case 'stopped':
      return 'was stopped before it finished'
    case 'spawn-failed':
      return `spawn failed: ${outcome.reason}`
  }
}
