/**
 * Commands that ask a peer something, print what came of it, and go.
 *
 * @module
 */
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { withProgress } from '../progress.ts'
import { onAbort, watchShutdown } from '../shutdown.ts'
import { type Caller, type CallerOptions, openCaller } from './caller.ts'
import { timeLimit } from './link-source.ts'

export interface OneCallOptions extends CallerOptions {
  /** The first link may take as long as it likes: this side does not dial. */
  readonly patient?: boolean
  /** What is waited for once the call is sent, for a terminal. */
  readonly waiting?: (() => string) | undefined
}

/** Connects, asks, and says goodbye whatever came of it. SIGINT and SIGTERM abort the signal, and end it in a code. */
export async function withCaller<Result>(
  context: Context,
  options: OneCallOptions,
  ask: (caller: Caller, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { io, clock } = context
  const shutdown = watchShutdown(io)
  const { signal } = shutdown
  let caller: Caller | undefined
  try {
    // A caller that dials waits no longer for its session than for an answer.
    const first = options.patient === true ? signal : AbortSignal.any([signal, timeLimit(options.timeoutMs)])
    caller = await withProgress(io, clock, 'connecting', openCaller(context, options, first))
    onAbort(signal, caller.close)
    return await withProgress(
      io,
      clock,
      options.waiting ?? 'waiting for the answer',
      ask(stoppable(caller, signal), signal),
    )
  } catch (error) {
    throw signal.aborted ? stopped(toCtError(signal.reason), error) : error
  } finally {
    await caller?.finish()
    shutdown.dispose()
  }
}

/** Every call says that it was the signal: whoever asks may have more to do after a call that failed. */
function stoppable(caller: Caller, signal: AbortSignal): Caller {
  return {
    ...caller,
    call: async (method, params, options) => {
      try {
        return await caller.call(method, params, options)
      } catch (error) {
        throw signal.aborted ? stopped(toCtError(signal.reason), error) : error
      }
    },
  }
}

/** Nobody's fault but the signal's; what was sent may have run all the same. */
function stopped(reason: CtError, error: unknown): CtError {
  if (!isCtError(error, 'ERR_CALL_OUTCOME_UNKNOWN')) return reason
  return new CtError('ERR_CALL_OUTCOME_UNKNOWN', `${reason.message} after the call was sent; it may have run`)
}
