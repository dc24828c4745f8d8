/**
 * A handler that is a number of workers.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'
import { type Random } from '../../core/time.ts'
import { type ProcessHost } from '../programs/process-group.ts'
import { type Handler, type HandlerBounds } from './handler.ts'
import { concluded, ENVELOPE_BYTES } from './json-handler.ts'
import { WorkerPool } from './worker-pool.ts'
import { WorkerProcess } from './worker-process.ts'

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
