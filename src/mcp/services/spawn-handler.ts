/**
 * A handler that is a command: each call is one run of it.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'
import { type ProcessHost } from '../programs/process-group.ts'
import { type Handler, type HandlerBounds, type HandlerTask, type Outcome } from './handler.ts'
import { handlerEnvironment } from './handler-environment.ts'
import { logOutcome, outcomeOf } from './handler-outcome.ts'
import { HandlerRun } from './handler-process.ts'
import { createProgressReader } from './handler-progress.ts'

export interface SpawnDeps extends HandlerBounds {
  readonly host: ProcessHost
  /** What handlers see of the agent's environment. */
  readonly environment: Env
}

export function createSpawnHandler(command: string, deps: SpawnDeps): Handler {
  const { clock, host, log, maxOutputBytes, timeoutSeconds } = deps
  const runs = new Set<HandlerRun>()

  const run = async (task: HandlerTask): Promise<Outcome> => {
    const environment = handlerEnvironment(deps.environment, task)
    const timeoutMs = timeoutSeconds * 1_000
    const progress = createProgressReader(task.progress)
    const input = task.input.bytes
    const request = { command, environment, input, timeoutMs, maxOutputBytes, progress }
    const process = new HandlerRun(request, { clock, host })
    const stop = (): void => process.stop()
    runs.add(process)
    task.signal.addEventListener('abort', stop, { once: true })
    const end = await process.ended
    task.signal.removeEventListener('abort', stop)
    runs.delete(process)
    const outcome = outcomeOf(end, task, deps)
    if (!task.signal.aborted) logOutcome(log, end, outcome, task)
    return outcome
  }

  return {
    run,
    stop: () => {
      for (const process of runs) process.stop()
    },
    close: async () => {
      for (const process of runs) process.kill()
      await Promise.all([...runs].map(({ ended }) => ended))
    },
  }
}
