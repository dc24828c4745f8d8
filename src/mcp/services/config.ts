/**
 * Settings of the service handler.
 *
 * Holds: a list of services without a handler is refused, and so is a schema without its service; a handler without
 * services is pointed out. Nothing of it passes in silence.
 *
 * @module
 */
import {
  type Env,
  type EnvProblem,
  type EnvRow,
  type EnvValues,
  invalid,
  missing,
  parseChoice,
  parseInteger,
  parseList,
  parseSwitch,
  parseText,
  quote,
  readEnv,
} from '../../core/env.ts'
import { didYouMean } from '../../core/nearest.ts'
import { isLoopback, parseHandlerUrl } from './handler-url.ts'
import { askedLimits, type HandlerLimits } from './limits.ts'
import { type SchemaFile } from './schema-shape.ts'
import { schemaVariable, schemaVariablesIn } from './schema-variables.ts'
import { readServices, type Service } from './slug.ts'

export { isSchemaVariable } from './schema-variables.ts'

export const SERVICE_ENV = {
  command: {
    name: 'CT_AGENT_SERVICE_HANDLER_CMD',
    about:
      'Command that is run with sh -c for every service call, input on stdin and output on stdout; or once for each worker',
    expects: 'a shell command',
    parse: parseText,
    flag: 'handler',
  },
  services: {
    name: 'CT_AGENT_SERVICES',
    about: 'Services that the handler offers, each as the tool service/<slug>',
    expects: 'a comma list of names',
    parse: parseList,
    flag: 'services',
    keepBlank: true,
  },
  timeoutSeconds: {
    name: 'CT_AGENT_SERVICE_TIMEOUT_SECS',
    about: 'Seconds after which a call of a handler is ended',
    expects: 'whole seconds',
    parse: parseInteger(1, 86_400),
    fallback: '120',
    flag: 'service-timeout',
  },
  concurrency: {
    name: 'CT_AGENT_SERVICE_CONCURRENCY',
    about: 'Handlers that run at the same time, in modes spawn and http',
    expects: 'a whole number',
    parse: parseInteger(1, 1_024),
    fallback: '8',
  },
  queue: {
    name: 'CT_AGENT_SERVICE_QUEUE',
    about: 'Service calls that wait for a free handler, shared fairly between peers',
    expects: 'a whole number',
    parse: parseInteger(0, 65_536),
    fallback: '64',
  },
  maxOutputBytes: {
    name: 'CT_AGENT_SERVICE_MAX_OUTPUT_BYTES',
    about: 'Largest output of a handler; one that writes more is ended',
    expects: 'a number of bytes',
    parse: parseInteger(1, 268_435_456),
    fallback: '4194304',
  },
  mode: {
    name: 'CT_AGENT_SERVICE_HANDLER_MODE',
    about:
      'How the handler is run: a process for each call, long-lived workers that are spoken to in lines of JSON, or a local HTTP server',
    expects: 'spawn|worker|http',
    parse: parseChoice({ spawn: 'spawn', worker: 'worker', http: 'http' }),
    fallback: 'spawn',
    flag: 'handler-mode',
  },
  schema: {
    name: schemaVariable('<slug>'),
    about: 'File with the JSON Schemas of one service; without it, text in and text out',
    expects: 'a path of a JSON file {"input": …, "output": …}',
    parse: parseText,
  },
  workers: {
    name: 'CT_AGENT_SERVICE_WORKERS',
    about: 'Workers that are kept running',
    expects: 'a whole number',
    parse: parseInteger(1, 256),
    fallback: '2',
  },
  workerCalls: {
    name: 'CT_AGENT_SERVICE_WORKER_CALLS',
    about: 'Calls that one worker has at the same time',
    expects: 'a whole number',
    parse: parseInteger(1, 1_024),
    fallback: '1',
  },
  url: {
    name: 'CT_AGENT_SERVICE_HANDLER_URL',
    about: 'Address that calls are posted to in mode http',
    expects: 'an http or https URL of this machine',
    parse: parseHandlerUrl,
    flag: 'handler-url',
  },
  elsewhere: {
    name: 'CT_AGENT_SERVICE_HANDLER_ELSEWHERE',
    about: 'Allow that address to be another machine’s, which then sees every call',
    expects: '0|1',
    parse: parseSwitch,
    fallback: '0',
  },
  memoryBytes: {
    name: 'CT_AGENT_SERVICE_HANDLER_MAX_MEMORY',
    about: 'Memory that each process of a handler may write to',
    expects: 'a number of bytes',
    parse: parseInteger(1_048_576, 1_099_511_627_776),
  },
  cpuSeconds: {
    name: 'CT_AGENT_SERVICE_HANDLER_MAX_CPU_SECS',
    about: 'Processor time of each process of a handler, after which the system ends it',
    expects: 'whole seconds',
    parse: parseInteger(1, 31_536_000),
  },
  openFiles: {
    name: 'CT_AGENT_SERVICE_HANDLER_MAX_FILES',
    about: 'Files and sockets that each process of a handler may have open',
    expects: 'a whole number',
    parse: parseInteger(8, 1_048_576),
  },
  noNetwork: {
    name: 'CT_AGENT_SERVICE_HANDLER_NO_NETWORK',
    about: 'Run handlers without any network, loopback included; Linux only',
    expects: '0|1',
    parse: parseSwitch,
    fallback: '0',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** How the handler is run. */
export type HandlerWay =
  | { readonly mode: 'spawn'; readonly command: string }
  | { readonly mode: 'worker'; readonly command: string; readonly workers: number; readonly workerCalls: number }
  | { readonly mode: 'http'; readonly url: URL }

export interface ServiceConfig {
  readonly way: HandlerWay
  /** What the operator listed. */
  readonly services: readonly Service[]
  /** Of the services that have one, by slug. */
  readonly schemas: ReadonlyMap<string, SchemaFile>
  readonly limits: HandlerLimits
  readonly timeoutSeconds: number
  /** Calls that run at the same time. */
  readonly concurrency: number
  readonly queue: number
  readonly maxOutputBytes: number
  /** Sentences for the operator at start-up. */
  readonly notices: readonly string[]
}

type Values = EnvValues<typeof SERVICE_ENV>

/**
 * `undefined` when no handler is configured, or when there is a problem with it.
 *
 * @param declared services of the signed offer: they are served when no others are listed
 */
export function readServiceConfig(
  env: Env,
  problems: EnvProblem[],
  declared?: readonly string[],
): ServiceConfig | undefined {
  const before = problems.length
  const values = readEnv(SERVICE_ENV, env, problems)
  const { services, collisions } = readServices(values.services ?? declared ?? [])
  for (const { slug, names } of collisions) {
    problems.push(
      invalid(SERVICE_ENV.services, `${quote(names[0])} and ${quote(names[1])} are both service/${slug}; rename one`),
    )
  }
  const way = readWay(values, problems)
  const schemas = readSchemas(env, services, way === undefined ? undefined : problems)
  const limits = readLimits(values, problems)
  if (way === undefined || problems.length > before) return undefined
  const notices =
    services.length > 0
      ? []
      : [
          `${handlerName(way)} is set but ${SERVICE_ENV.services.name} is ${values.services === undefined ? 'not set' : 'empty'}: it adds no service tools`,
        ]
  const { timeoutSeconds, queue, maxOutputBytes } = values
  const concurrency = way.mode === 'worker' ? way.workers * way.workerCalls : values.concurrency
  return { way, services, schemas, limits, timeoutSeconds, concurrency, queue, maxOutputBytes, notices }
}

function handlerName({ mode }: HandlerWay): string {
  return (mode === 'http' ? SERVICE_ENV.url : SERVICE_ENV.command).name
}

function readWay(values: Values, problems: EnvProblem[]): HandlerWay | undefined {
  const { mode, command, url, workers, workerCalls, services = [] } = values
  const { command: commandRow, url: urlRow, mode: modeRow } = SERVICE_ENV
  if (mode === 'http') return readAddress(values, problems)
  // What follows from a bad mode is not said.
  if (isBad(modeRow, problems)) return undefined
  if (url !== undefined) problems.push(invalid(urlRow, `${modeRow.name} is ${mode}; it takes http`))
  if (command !== undefined) return mode === 'spawn' ? { mode, command } : { mode, command, workers, workerCalls }
  if (services.length > 0) {
    problems.push(missing({ ...commandRow, expects: `${commandRow.expects} to run the listed services` }))
  }
  return undefined
}

function readAddress({ command, url, elsewhere }: Values, problems: EnvProblem[]): HandlerWay | undefined {
  const { command: commandRow, url: urlRow, mode: modeRow, elsewhere: elsewhereRow } = SERVICE_ENV
  if (command !== undefined) problems.push(invalid(commandRow, `${modeRow.name} is http, which runs no command`))
  if (url === undefined) {
    if (!isBad(urlRow, problems)) problems.push(missing({ ...urlRow, expects: `${urlRow.expects}, in mode http` }))
    return undefined
  }
  if (elsewhere || isLoopback(url)) return { mode: 'http', url }
  const found = quote(url.hostname)
  problems.push(invalid(urlRow, `${found} is not this machine’s loopback; ${elsewhereRow.name}=1 allows it`))
  return undefined
}

function isBad({ name }: EnvRow<unknown>, problems: readonly EnvProblem[]): boolean {
  return problems.some((problem) => problem.name === name)
}

/** One that names no service is a typing error: that service would take anything. */
function readSchemas(
  env: Env,
  services: readonly Service[],
  problems: EnvProblem[] | undefined,
): ReadonlyMap<string, SchemaFile> {
  const schemas = new Map<string, SchemaFile>()
  const variables = services.map(({ slug }) => schemaVariable(slug))
  for (const { slug } of services) {
    const variable = schemaVariable(slug)
    const path = env[variable]
    if (path !== undefined && path.trim() !== '') schemas.set(slug, { variable, path })
  }
  // Of a handler without services something else is said.
  if (services.length === 0) return schemas
  for (const name of schemaVariablesIn(env).filter((set) => !variables.includes(set))) {
    const message = `${name} invalid (${SERVICE_ENV.schema.expects}): no service has this name${didYouMean(name, variables)}`
    problems?.push({ name, message })
  }
  return schemas
}

function readLimits(values: Values, problems: EnvProblem[]): HandlerLimits {
  const { memoryBytes, cpuSeconds, openFiles, noNetwork } = values
  const limits = { memoryBytes, cpuSeconds, openFiles, noNetwork }
  if (values.mode !== 'http') return limits
  for (const limit of askedLimits(limits)) {
    problems.push(invalid(SERVICE_ENV[limit], 'it cannot be kept in mode http, where the agent runs no handler'))
  }
  return limits
}
