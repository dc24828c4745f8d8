/**
 * The operator's services as tools: each call is one of the handler.
 *
 * Holds: at most so many calls run and at most `queue` wait; a call whose signal aborts is ended in the handler too; after
 * `close` there is no handler left. No call reaches the handler that does not fit its service, and no output the caller.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { toHex } from '../../core/bytes.ts'
import { type Env } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type JsonValue } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { type Clock, type Random } from '../../core/time.ts'
import { withoutAgentVariables } from '../programs/own-variables.ts'
import { type ProcessHost } from '../programs/process-group.ts'
import { type CallContext, type Tool } from '../tool.ts'
import { cancellation } from './cancellation.ts'
import { SERVICE_ENV, type ServiceConfig } from './config.ts'
import { factsOf, failed, type Handler, type HandlerTask } from './handler.ts'
import { fixedShape, type HandlerInput, type HandlerShape } from './handler-shape.ts'
import { tryLimits } from './limit-probe.ts'
import { confine } from './limits.ts'
import { FairPool } from './pool.ts'
import { createServiceTool } from './service-tool.ts'

export interface ServiceDeps {
  readonly clock: Clock
  readonly log: Log
  readonly host: ProcessHost
  readonly platform: NodeJS.Platform
  readonly random: Random
  /** A short name for one run that the operator can look up in the log. */
  readonly reference: () => string
  /** Reads a small file that a setting names. */
  readonly readText: (path: string) => string
}

export interface Services {
  readonly tools: readonly Tool[]
  /** Turns away what waits and what comes, lets what runs finish, and stops it after `deadlineMs`. */
  readonly drain: (deadlineMs: number) => Promise<void>
  /** Turns away everything and kills what runs. */
  readonly close: () => Promise<void>
}

/**
 * @param env the agent's own environment
 * @throws {CtError} `ERR_CONFIG_INVALID` for a bad schema, or a limit that this system does not keep
 */
export async function createServices(config: ServiceConfig, env: Env, deps: ServiceDeps): Promise<Services> {
  const shapes = await readShapes(config, deps)
  const handler = await createHandler(config, env, deps)
  const pool = new FairPool({ running: config.concurrency, waiting: config.queue })

  const run = async (service: string, shape: HandlerShape, input: HandlerInput, context: CallContext) => {
    const { callId, peer, signal, progress } = context
    const task = { service, callId, peer, signal, input, progress, reference: deps.reference() }
    const outcome = await handler.run(task)
    if (signal.aborted) throw cancellation(signal)
    if ('error' in outcome) throw outcome.error
    return resultOf(shape.result(outcome.output), task, deps.log)
  }
  const stopAccepting = (): void =>
    pool.close(new CtError('ERR_PEER_SHUTDOWN', 'the agent is shutting down; the call did not start'))

  return {
    tools: shapes.map(({ service, shape }) =>
      createServiceTool(service, shape, (input, context) =>
        pool.run(context.peer, context.signal, () => run(service.slug, shape, input, context)),
      ),
    ),
    drain: async (deadlineMs) => {
      stopAccepting()
      const cancel = deps.clock.after(deadlineMs, handler.stop)
      await pool.idle()
      cancel()
    },
    close: async () => {
      stopAccepting()
      await handler.close()
      await pool.idle()
    },
  }
}

/** Schemas and what checks them are loaded only where a service has one. */
async function readShapes({ services, schemas }: ServiceConfig, { readText }: ServiceDeps) {
  if (schemas.size === 0) return services.map((service) => ({ service, shape: fixedShape(service.slug) }))
  const [{ readSchemaShape }, { createCompiler }] = await Promise.all([
    import('./schema-shape.ts'),
    import('../../core/schema-compiler.ts'),
  ])
  const compile = createCompiler()
  return services.map((service) => {
    const file = schemas.get(service.slug)
    const shape = file === undefined ? undefined : readSchemaShape(service.slug, file, readText, compile)
    return { service, shape: shape ?? fixedShape(service.slug) }
  })
}

async function createHandler(config: ServiceConfig, env: Env, deps: ServiceDeps): Promise<Handler> {
  const { way, limits, timeoutSeconds, maxOutputBytes } = config
  const bounds = { ...deps, timeoutSeconds, maxOutputBytes }
  if (way.mode === 'http') return (await import('./http-handler.ts')).createHttpHandler(way.url, bounds)
  const leaver = await tryLimits(limits, (limit) => SERVICE_ENV[limit].name, deps)
  const command = confine(way.command, limits, leaver)
  const environment = withoutAgentVariables(env)
  if (way.mode === 'spawn') {
    return (await import('./spawn-handler.ts')).createSpawnHandler(command, { ...bounds, environment })
  }
  return (await import('./worker-handler.ts')).createWorkerHandler({ ...way, command }, { ...bounds, environment })
}

/** @throws {CtError} `ERR_TOOL_FAILED` for an output that is not what the service promises; the log has it too */
function resultOf(result: ReturnType<HandlerShape['result']>, task: HandlerTask, log: Log): JsonValue {
  if ('value' in result) return result.value
  const kind = 'output-misfit'
  const { error, reason } = failed(task, {
    kind,
    what: `gave an output that does not fit the service: ${result.problem}`,
  })
  log.warn('service.failed', { ...factsOf(task), reason })
  throw error
}

/** Long enough not to repeat within a log that is kept. */
const REFERENCE_BYTES = 5

export function randomReference(): string {
  return toHex(randomBytes(REFERENCE_BYTES))
}
