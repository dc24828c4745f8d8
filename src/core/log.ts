/**
 * What the program needs of a logger. Events are dotted and stable; facts never hold keys, tokens or payloads.
 *
 * @module
 */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

export type LogFacts = Readonly<Record<string, string | number | boolean | undefined>>

export interface Log {
  readonly error: (event: string, facts?: LogFacts) => void
  readonly warn: (event: string, facts?: LogFacts) => void
  readonly info: (event: string, facts?: LogFacts) => void
  readonly debug: (event: string, facts?: LogFacts) => void
}
