/**
 * What the end of a handler run means for its caller, and what the operator finds in the log.
 *
 * Holds: the caller gets the output or one error; what the handler wrote to stderr goes to the log alone, and the
 * error carries the reference under which it is there.
 *
 * @module
 */
import { decodeUtf8 } from '../../core/bytes.ts'
import { type Log } from '../../core/log.ts'
import {
  type Failure,
  factsOf,
  failed,
  type HandlerBounds,
  type HandlerTask,
  type Outcome,
  STOPPED,
  timedOut,
} from './handler.ts'
import { type HandlerEnd, type HandlerOutcome, MAX_STDERR_BYTES } from './handler-process.ts'

type Bounds = Pick<HandlerBounds, 'timeoutSeconds' | 'maxOutputBytes'>

/** The trimmed output, never empty, or the error in its place. */
export function outcomeOf(end: HandlerEnd, task: HandlerTask, bounds: Bounds): Outcome {
  const text = end.outcome.kind === 'exited' ? decodeUtf8(end.stdout)?.trim() : undefined
  const failure = failureOf(end.outcome, text, bounds)
  if (failure !== undefined || text === undefined) return failed(task, failure ?? STOPPED)
  return { output: { kind: 'text', text } }
}

export function logOutcome(log: Log, end: HandlerEnd, outcome: Outcome, task: HandlerTask): void {
  const facts = factsOf(task)
  const hasFailed = 'error' in outcome
  if (end.stderrBytes > 0) {
    const stderr = Buffer.from(end.stderr).toString('utf8')
    log[hasFailed ? 'warn' : 'debug']('service.stderr', { ...facts, bytes: end.stderrBytes, stderr })
  }
  if (hasFailed) {
    log.warn('service.failed', { ...facts, reason: outcome.reason, durationMs: Math.round(end.durationMs) })
  }
}

function failureOf(
  outcome: HandlerOutcome,
  text: string | undefined,
  { timeoutSeconds, maxOutputBytes }: Bounds,
): Failure | undefined {
  const { kind } = outcome
  switch (kind) {
    case 'exited': {
      const what = problemOfExit(outcome.status, text)
      return what === undefined ? undefined : { kind, what }
    }
    case 'timeout':
      return timedOut(timeoutSeconds)
    case 'stdout-flood':
      return { kind, what: `wrote more than ${maxOutputBytes} bytes of output` }
    case 'stderr-flood':
      return { kind, what: `wrote more than ${MAX_STDERR_BYTES} bytes to stderr` }
    case 'stopped':
      return STOPPED
    case 'spawn-failed':
      return { kind, what: `spawn failed: ${outcome.reason}` }
  }
}

function problemOfExit(status: number | NodeJS.Signals, text: string | undefined): string | undefined {
  if (typeof status === 'string') return `exited signal: ${status}`
  if (status !== 0) return `exited exit status: ${status}`
  if (text === undefined) return 'wrote output that is not UTF-8'
  if (text === '') return 'exited exit status: 0 but produced no output (killed mid-run?)'
  return undefined
}
