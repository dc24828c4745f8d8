/**
 * Services of one handler command with a log that can be read, and calls to them.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { type Env, type EnvProblem } from '../../../src/core/env.ts'
import { type HolderId, parseHolderId } from '../../../src/core/ids.ts'
import { type JsonValue } from '../../../src/core/json.ts'
import { type Log, type LogFacts } from '../../../src/core/log.ts'
import { type Clock, systemClock } from '../../../src/core/time.ts'
import { InputRequired, type Progress } from '../../../src/mcp/index.ts'
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
  /** As the peer wrote them, when it is not as `JSON.stringify` does. */
  readonly argumentsText?: string
  readonly progress?: (progress: Progress) => void
}

export interface Served {
  readonly services: Pick<Services, 'drain' | 'close'>
  /** Resolves when it is served; rejects when it cannot be. */
  readonly ready: Promise<Services>
  readonly lines: readonly LogLine[]
  readonly call: (input: string, options?: CallOptions) => Promise<JsonValue>
  readonly callWith: (args: unknown, options?: CallOptions) => Promise<JsonValue>
}

export interface ServeOptions {
  readonly env?: Env
  readonly clock?: Clock
  readonly host?: ProcessHost
  readonly platform?: NodeJS.Platform
}

export function holder(digits: string): HolderId {
  const parsed = parseHolderId(digits.repeat(32))
  if ('problem' in parsed) throw new TypeError(parsed.problem)
  return parsed.value
}

const someone = holder('ab')

/** Offers the service `echo`, whose handler is the command; nothing of it is left after the test. */
export function serveHandler(command: string | undefined, options: ServeOptions = {}): Served {
  const { env = {}, clock = systemClock, host = systemProcesses, platform = process.platform } = options
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
  const problems: EnvProblem[] = []
  const config = readServiceConfig(whole, problems)
  if (config === undefined) throw new TypeError(`expected a good configuration: ${JSON.stringify(problems)}`)
  const readText = (path: string): string => readFileSync(path, 'utf8')
  const ready = createServices(config, whole, {
    ...{ clock, log, host, platform, readText },
    reference: () => 'ref-1',
    random: () => 0,
  })
  ready.catch(() => {})
  onTestFinished(async () => (await ready.catch(() => undefined))?.close())
  const signal = new AbortController().signal
  const callWith = async (args: unknown, given: CallOptions = {}): Promise<JsonValue> => {
    const [tool] = (await ready).tools
    if (tool === undefined) throw new TypeError('expected a tool')
    const value = await tool.call(args, {
      peer: someone,
      callId: 'call-1',
      signal,
      argumentsText: JSON.stringify(args),
      progress: () => {},
      ...given,
    })
    if (value instanceof InputRequired) throw new TypeError('expected a result')
    return value
  }
  return {
    services: {
      drain: async (deadlineMs) => (await ready).drain(deadlineMs),
      close: async () => (await ready).close(),
    },
    ready,
    lines,
    call: async (input, given = {}) => callWith({ input }, given),
    callWith,
  }
}
