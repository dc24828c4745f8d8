/**
 * The program's log: one JSON object a line on stderr, by pino.
 *
 * Holds: whatever a peer's words in an event, no character of theirs can steer the terminal that shows it.
 *
 * pino loads with the first event that is due, because most runs have none; events until then are kept in order.
 *
 * @module
 */
import { type Log, type LogFacts, type LogLevel } from '../core/log.ts'
import { escapeUnprintable } from '../core/printable.ts'

const SEVERITY: Readonly<Record<LogLevel | 'silent', number>> = {
  silent: 0,
  error: 1,
  warn: 2,
  info: 3,
  debug: 4,
}

type Emit = (level: LogLevel, event: string, facts: LogFacts) => void

export interface Logger extends Log {
  /** Resolves when everything logged so far is written. */
  readonly flush: () => Promise<void>
}

export function createLogger(level: LogLevel | 'silent', stderr: NodeJS.WritableStream): Logger {
  let ready: Promise<Emit> | undefined
  let emit: Emit | undefined
  const log =
    (at: LogLevel) =>
    (event: string, facts: LogFacts = {}) => {
      if (SEVERITY[at] > SEVERITY[level]) return
      if (emit !== undefined) {
        emit(at, event, facts)
        return
      }
      ready ??= loadPino(level, stderr).then((loaded) => {
        emit = loaded
        return loaded
      })
      ready = ready.then((loaded) => {
        loaded(at, event, facts)
        return loaded
      })
    }
  return {
    error: log('error'),
    warn: log('warn'),
    info: log('info'),
    debug: log('debug'),
    flush: async () => {
      await ready
    },
  }
}

async function loadPino(level: LogLevel | 'silent', stderr: NodeJS.WritableStream): Promise<Emit> {
  const { default: pino } = await import('pino')
  const logger = pino(
    { level, base: null, formatters: { level: (label) => ({ level: label }) }, messageKey: 'event' },
    { write: (line) => stderr.write(`${escapeUnprintable(line.trimEnd())}\n`) },
  )
  return (at, event, facts) => logger[at](facts, event)
}
