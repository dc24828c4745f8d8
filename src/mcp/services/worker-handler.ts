/**
 * A handler that is a number of workers, or a local HTTP server: what answers in JSON.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'
import { type Clock, type Random } from '../../core/time.ts'
import { factsOf, failed, type Handler, type HandlerBounds, type HandlerTask, type Outcome } from './handler.ts'
import { type ProcessHost } from './process-group.ts'
import { type WorkerOutcome } from './worker.ts'
import { WorkerPool } from './worker-pool.ts'
import { WorkerProcess } from './worker-process.ts'

/** What stands around an output in a line: its names and the id. */
export const ENVELOPE_BYTES = 1_024

export interface WorkerHandlerDeps extends HandlerBounds {
  readonly host: ProcessHost
  /** What workers see of the agent's environment. */
  readonly environment: Env
  readonly random: Random
}

export interface WorkerPlan {
  readonly command: string
  readonly workers: number
  readonly workerCalls: number
}

export function createWorkerHandler(plan: WorkerPlan, deps: WorkerHandlerDeps): Handler {
  const { clock, host, environment, maxOutputBytes } = deps
  const maxLineBytes = maxOutputBytes + ENVELOPE_BYTES
  const pool = new WorkerPool({
    ...deps,
    workers: plan.workers,
    places: plan.workerCalls,
    maxLineBytes,
    start: (events) => new WorkerProcess(plan.command, environment, events, { clock, host, maxLineBytes }),
  })
  return {
    run: async (task) => {
      const startedAt = clock.monotonic()
      return concluded(await pool.run(task), task, startedAt, deps)
    },
    stop: () => pool.stop(),
    close: () => pool.close(),
  }
}

/** What an answer, or its absence, means; a failure goes to the log. */
export function concluded(
  answer: WorkerOutcome,
  task: HandlerTask,
  startedAt: number,
  { clock, log }: { readonly clock: Clock; readonly log: HandlerBounds['log'] },
): Outcome {
  if (answer.kind === 'output') return { output: { kind: 'json', text: answer.json } }
  const failure = answer.kind === 'error' ? { kind: 'reported', what: `reported: ${answer.message}` } : answer.failure
  const outcome = failed(task, failure)
  if (!task.signal.aborted) {
    const durationMs = Math.round(clock.monotonic() - startedAt)
    log.warn('service.failed', { ...factsOf(task), reason: `service handler ${failure.what}`, durationMs })
  }
  return outcome
}
