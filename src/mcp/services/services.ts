/**
 * The operator's services as tools: each call is one run of the handler command.
 *
 * Holds: at most `concurrency` handlers run and at most `queue` calls wait; a call whose signal aborts has its handler
 * ended; after `close` there is no handler left.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { toHex } from '../../core/bytes.ts'
import { type Env } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type CallContext, type Tool } from '../tool.ts'
import { cancellation } from './cancellation.ts'
import { type ServiceConfig } from './config.ts'
import { handlerEnvironment, withoutAgentVariables } from './handler-environment.ts'
import { logOutcome, type Outcome, outcomeOf, outputOf } from './handler-outcome.ts'
import { HandlerRun, type ProcessHost } from './handler-process.ts'
import { FairPool } from './pool.ts'
import { createServiceTool } from './service-tool.ts'

export interface ServiceDeps {
  readonly clock: Clock
  readonly log: Log
  readonly host: ProcessHost
  /** A short name for one run that the operator can look up in the log. */
  readonly reference: () => string
}

export interface Services {
  readonly tools: readonly Tool[]
  /** Turns away what waits and what comes, lets what runs finish, and stops it after `deadlineMs`. */
  readonly drain: (deadlineMs: number) => Promise<void>
  /** Turns away everything and kills what runs. */
  readonly close: () => Promise<void>
}

/** @param env the agent's own environment */
export function createServices(config: ServiceConfig, env: Env, deps: ServiceDeps): Services {
  const { command, services, timeoutSeconds, maxOutputBytes } = config
  const base = withoutAgentVariables(env)
  const pool = new FairPool({ running: config.concurrency, waiting: config.queue })
  const runs = new Set<HandlerRun>()

  const runHandler = async (service: string, input: Uint8Array, context: CallContext): Promise<Outcome> => {
    const { callId, peer, signal } = context
    const environment = handlerEnvironment(base, { service, callId, peer })
    const timeoutMs = timeoutSeconds * 1_000
    const run = new HandlerRun({ command, environment, input, timeoutMs, maxOutputBytes }, deps)
    const stop = (): void => run.stop()
    runs.add(run)
    signal.addEventListener('abort', stop, { once: true })
    const end = await run.ended
    signal.removeEventListener('abort', stop)
    runs.delete(run)
    if (signal.aborted) throw cancellation(signal)
    const reference = deps.reference()
    const facts = { service, callId, peer: shortId(peer), reference, timeoutSeconds, maxOutputBytes }
    const outcome = outcomeOf(end, facts)
    logOutcome(deps.log, end, outcome, facts)
    return outcome
  }

  const stopAccepting = (): void =>
    pool.close(new CtError('ERR_PEER_SHUTDOWN', 'the agent is shutting down; the call did not start'))

  return {
    tools: services.map((service) =>
      createServiceTool(service, async (input, context) =>
        outputOf(await pool.run(context.peer, context.signal, () => runHandler(service.slug, input, context))),
      ),
    ),
    drain: async (deadlineMs) => {
      stopAccepting()
      const cancel = deps.clock.after(deadlineMs, () => {
        for (const run of runs) run.stop()
      })
      await pool.idle()
      cancel()
    },
    close: async () => {
      stopAccepting()
      for (const run of runs) run.kill()
      await pool.idle()
    },
  }
}

/** Long enough not to repeat within a log that is kept. */
const REFERENCE_BYTES = 5

export function randomReference(): string {
  return toHex(randomBytes(REFERENCE_BYTES))
}
