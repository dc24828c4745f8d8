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

/**
 * The trimmed output.
 *
 * @throws {CtError} `ERR_TOOL_FAILED`; `ERR_CALL_INTERRUPTED` when the agent stopped the run
 */
export function outputOf(end: HandlerEnd, context: OutcomeContext, log: Log): string {
  const { service, callId, peer, reference } = context
  const text = end.outcome.kind === 'exited' ? decodeUtf8(end.stdout)?.trim() : undefined
  const problem = problemOf(end.outcome, text, context)
  const facts: LogFacts = { reference, service, peer, call: callId }
  if (end.stderrBytes > 0) {
    const level = problem === undefined ? 'debug' : 'warn'
    const stderr = Buffer.from(end.stderr).toString('utf8')
    log[level]('service.stderr', { ...facts, bytes: end.stderrBytes, stderr })
  }
  if (problem === undefined && text !== undefined) return text
  const message = `service handler ${problem ?? 'failed'}`
  log.warn('service.failed', { ...facts, reason: message, durationMs: Math.round(end.durationMs) })
  const code = end.outcome.kind === 'stopped' ? 'ERR_CALL_INTERRUPTED' : 'ERR_TOOL_FAILED'
  throw new CtError(code, `${message} (reference ${reference})`, {
    detail: { service, reference, outcome: end.outcome.kind },
  })
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
