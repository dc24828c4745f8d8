/**
 * Settings of the service handler.
 *
 * Holds: a list of services without a program to run them is refused, and a program without services is pointed out;
 * neither passes in silence.
 *
 * @module
 */
import {
  type Env,
  type EnvProblem,
  type EnvRow,
  missing,
  parseInteger,
  parseList,
  parseText,
  quote,
  readEnv,
} from '../../core/env.ts'
import { readServices, type Service } from './slug.ts'

export const SERVICE_ENV = {
  command: {
    name: 'CT_AGENT_SERVICE_HANDLER_CMD',
    about: 'Command that is run with sh -c for every service call: input on stdin, output on stdout',
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
    about: 'Seconds after which a running handler is ended',
    expects: 'whole seconds',
    parse: parseInteger(1, 86_400),
    fallback: '120',
    flag: 'service-timeout',
  },
  concurrency: {
    name: 'CT_AGENT_SERVICE_CONCURRENCY',
    about: 'Handlers that run at the same time',
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
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

export interface ServiceConfig {
  readonly command: string
  /** What the operator listed. */
  readonly services: readonly Service[]
  readonly timeoutSeconds: number
  readonly concurrency: number
  readonly queue: number
  readonly maxOutputBytes: number
  /** Sentences for the operator at start-up. */
  readonly notices: readonly string[]
}

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
    problems.push({
      name: SERVICE_ENV.services.name,
      message: `${SERVICE_ENV.services.name} invalid (${SERVICE_ENV.services.expects}): ${quote(names[0])} and ${quote(names[1])} are both service/${slug}; rename one`,
    })
  }
  const { command } = values
  if (command === undefined) {
    if ((values.services ?? []).length > 0) {
      const expects = `${SERVICE_ENV.command.expects} to run the listed services`
      problems.push(missing({ ...SERVICE_ENV.command, expects }))
    }
    return undefined
  }
  if (problems.length > before) return undefined
  const notices =
    services.length > 0
      ? []
      : [
          `${SERVICE_ENV.command.name} is set but ${SERVICE_ENV.services.name} is ${values.services === undefined ? 'not set' : 'empty'}: it adds no service tools`,
        ]
  return { ...values, command, services, notices }
}
