/**
 * Services of one handler command with a log that can be read, and calls to them.
 *
 * @module
 */
import { type Env } from '../../../src/core/env.ts'
import { type HolderId, parseHolderId } from '../../../src/core/ids.ts'
import { type JsonValue } from '../../../src/core/json.ts'
import { type Log, type LogFacts } from '../../../src/core/log.ts'
import { type Clock, systemClock } from '../../../src/core/time.ts'
import {
  createServices,
  type ProcessHost,
  readServiceConfig,
  type Services,
  systemProcesses,
} from '../../../src/mcp/services/index.ts'

export interface LogLine {
  readonly level: string
  readonly event: string
  readonly facts: LogFacts
}

export interface CallOptions {
  readonly peer?: HolderId
  readonly signal?: AbortSignal
  readonly callId?: string
}

export interface Served {
  readonly services: Services
  readonly lines: readonly LogLine[]
  readonly call: (input: string, options?: CallOptions) => Promise<JsonValue>
  readonly callWith: (args: unknown) => Promise<JsonValue>
}

export interface ServeOptions {
  readonly env?: Env
  readonly clock?: Clock
  readonly host?: ProcessHost
}

export function holder(digits: string): HolderId {
  const parsed = parseHolderId(digits.repeat(32))
  if ('problem' in parsed) throw new TypeError(parsed.problem)
  return parsed.value
}

const someone = holder('ab')

/** Offers the service `echo`, whose handler is the command. */
export function serveHandler(command: string, options: ServeOptions = {}): Served {
  const { env = {}, clock = systemClock, host = systemProcesses } = options
  const lines: LogLine[] = []
  const write =
    (level: string) =>
    (event: string, facts: LogFacts = {}) => {
      lines.push({ level, event, facts })
    }
  const log: Log = {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
  }
  const whole: Env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    CT_AGENT_SERVICE_HANDLER_CMD: command,
    CT_AGENT_SERVICES: 'echo',
    ...env,
  }
  const config = readServiceConfig(whole, [])
  if (config === undefined) throw new TypeError('expected a good configuration')
  const deps = { clock, log, host, reference: () => 'ref-1' }
  const services = createServices(config, whole, deps)
  const [tool] = services.tools
  if (tool === undefined) throw new TypeError('expected a tool')
  const signal = new AbortController().signal
  const callWith = async (args: unknown, given: CallOptions = {}): Promise<JsonValue> =>
    tool.call(args, { peer: someone, callId: 'call-1', signal, argumentsText: JSON.stringify(args), ...given })
  return {
    services,
    lines,
    call: async (input, given = {}) => callWith({ input }, given),
    callWith: async (args) => callWith(args),
  }
}
